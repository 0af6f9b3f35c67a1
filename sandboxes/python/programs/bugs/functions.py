"""Where the functions of a source text are, so that one can be shown, taken out or replaced whole."""


def functions(text):
    """(qualified name, start, end, start of what follows the docstring or -1, indentation) of each function that is in no other
    function and shares its lines with nothing. It starts at the beginning of its first line."""
    source, found = Source(text), []

    def visit(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, prefix + node.name + ".")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and source.owns_lines(node):
                start = source.line_start(source.first_line(node))
                found.append((prefix + node.name, start, source.line_end(node.end_lineno), rest(node), source.indent(node)))

    def rest(node):
        documented = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        body = node.body[1:] if documented and isinstance(node.body[0].value.value, str) else node.body
        if not body or source.indent(body[0]) is None:
            return -1
        return source.line_start(source.first_line(body[0])) + len(source.indent(body[0]).encode())

    visit(source.tree.body, "")
    return found
