"""An if is gone, its branches with it."""


def remove_if(source, scope, random):
    for block in blocks(scope):
        yield from without(source, block, (ast.If,))
