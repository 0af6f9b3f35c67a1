"""A not is gone."""


def remove_not(source, scope, random):
    for node in inside(scope, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            yield [source.replace(node, wrapped(source, node.operand))]
