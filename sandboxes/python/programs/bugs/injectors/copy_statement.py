"""A statement is done twice."""


def copy_statement(source, scope, random):
    for block in blocks(scope):
        for node in block:
            copied = isinstance(node, (ast.Expr, ast.AugAssign)) and not is_docstring(node)
            if copied and source.owns_lines(node):
                yield [(source.end(node), source.end(node), "\n" + source.indent(node) + source.segment(node))]
