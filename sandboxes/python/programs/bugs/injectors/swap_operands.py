"""The operands of an operation change places."""


def swap_operands(source, scope, random):
    for _, left, right in operators(source, scope, ast.BinOp, ast.BoolOp, ast.Compare):
        yield swap(source, left, right)
