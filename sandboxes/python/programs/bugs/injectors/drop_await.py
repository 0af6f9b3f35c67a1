"""An await is gone."""


def drop_await(source, scope, random):
    for node in inside(scope, ast.Await):
        yield [source.replace(node, source.segment(node.value))]
