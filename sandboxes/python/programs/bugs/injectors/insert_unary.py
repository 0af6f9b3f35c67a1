"""A name in an operation gets a sign, a condition that is a name a not."""


def insert_unary(source, scope, random):
    for node in inside(scope, ast.BinOp):
        for found in (node.left, node.right):
            if isinstance(found, ast.Name):
                yield [source.replace(found, "(-" + found.id + ")")]
    for node in inside(scope, ast.If, ast.While, ast.IfExp):
        if isinstance(node.test, ast.Name):
            yield [source.replace(node.test, "not " + node.test.id)]
