"""An int in an operation is one more or one less."""


def change_constant(source, scope, random):
    for node in inside(scope, ast.BinOp, ast.Compare):
        for found in [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]:
            if isinstance(found, ast.Constant) and type(found.value) is int:
                yield [source.replace(found, str(found.value + random.choice((-1, 1))))]
