"""A class loses a method."""


def remove_method(source, scope, random):
    methods = [node for node in scope.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for method in methods:
        yield [source.remove(method, scope.body)]
