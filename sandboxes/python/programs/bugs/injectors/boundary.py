"""A bound includes what it excluded, or the other way round."""


BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def boundary(source, scope, random):
    return replaced(source, scope, (ast.Compare,), BOUNDS.get)
