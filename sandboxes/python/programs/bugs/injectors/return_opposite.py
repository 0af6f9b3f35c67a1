"""A function returns True for False, or the other way round."""


def return_opposite(source, scope, random):
    for node in inside(scope, ast.Return):
        if isinstance(node.value, ast.Constant) and type(node.value.value) is bool:
            yield [source.replace(node.value, str(not node.value.value))]
        elif isinstance(node.value, (ast.Compare, ast.BoolOp)):
            yield [source.replace(node.value, "not (" + source.segment(node.value) + ")")]
