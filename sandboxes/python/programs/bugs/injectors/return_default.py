"""A function returns None, or an empty value of the same kind."""


EMPTY = [(ast.List, "[]"), (ast.ListComp, "[]"), (ast.Dict, "{}"), (ast.DictComp, "{}"), (ast.Tuple, "()"), (ast.JoinedStr, "''")]


def return_default(source, scope, random):
    for node in inside(scope, ast.Return):
        if node.value is not None:
            empty = [text for kind, text in EMPTY if isinstance(node.value, kind)]
            yield [source.replace(node.value, random.choice(["None", *empty]))]
