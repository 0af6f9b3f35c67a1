"""A loop is gone."""


def remove_loop(source, scope, random):
    for block in blocks(scope):
        yield from without(source, block, (ast.For, ast.AsyncFor, ast.While))
