"""An operator becomes its opposite."""


OPPOSITES = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "%", "**": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "==": "!=",
    "!=": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "in": "not in", "not in": "in", "is": "is not",
    "is not": "is", "and": "or", "or": "and",
}  # fmt: skip


def flip_operator(source, scope, random):
    return replaced(source, scope, (ast.BinOp, ast.BoolOp, ast.Compare), OPPOSITES.get)
