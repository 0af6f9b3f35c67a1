"""An augmented assignment becomes a plain one: += becomes =."""


def plain_assignment(source, scope, random):
    for node in inside(scope, ast.AugAssign):
        edit = between(source, node.target, node.value, SYMBOLS[type(node.op)] + "=", "=")
        if edit:
            yield [edit]
