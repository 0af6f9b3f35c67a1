"""A call, raise, yield, assertion or deletion is gone."""


def remove_statement(source, scope, random):
    for block in blocks(scope):
        for node in block:
            if isinstance(node, (ast.Expr, ast.Raise, ast.Assert, ast.Delete)) and not is_docstring(node):
                yield [source.replace(node, "pass")]
