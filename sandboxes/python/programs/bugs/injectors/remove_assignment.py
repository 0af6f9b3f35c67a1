"""An assignment is gone."""


def remove_assignment(source, scope, random):
    for block in blocks(scope):
        yield from without(source, block, (ast.Assign, ast.AugAssign))
