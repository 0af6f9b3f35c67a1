"""A break becomes a continue, or the other way round."""


def break_continue(source, scope, random):
    for node in inside(scope, ast.Break, ast.Continue):
        yield [source.replace(node, "continue" if isinstance(node, ast.Break) else "break")]
