"""And becomes or, or the other way round."""


def replace_logical(source, scope, random):
    return replaced(source, scope, (ast.BoolOp,), {"and": "or", "or": "and"}.get)
