"""A function does nothing and returns a constant."""


CONSTANTS = {"int": "0", "float": "0.0", "str": "''", "bool": "False", "bytes": "b''", "list": "[]", "dict": "{}", "tuple": "()"}


def constant_body(source, scope, random):
    body = [node for node in scope.body if not is_docstring(node)]
    if not body or not any(inside(scope, ast.Return, ast.Yield, ast.YieldFrom)) or source.indent(body[0]) is None:
        return
    told = CONSTANTS.get(scope.returns.id) if isinstance(scope.returns, ast.Name) else None
    value = told or random.choice(["None", "0", "[]", "''", "True"])
    yield [(source.start(body[0]), source.end(body[-1]), "return " + value)]
