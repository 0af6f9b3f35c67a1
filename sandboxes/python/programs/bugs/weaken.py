"""Takes test functions out of a test file: what hides a bug, and, reversed, what a solver is asked for."""


def weaken(text, names):
    """Edits that remove the functions named `function` or `Class::function`."""
    source, wanted, edits = Source(text), set(names), []

    def visit(body, prefix):
        gone = []
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, prefix + node.name + "::")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and prefix + node.name in wanted:
                gone.append(node)
        left = len(body) - len(gone)
        for at, node in enumerate(gone):
            keep = left == 0 and at == 0
            edits.append(source.remove(node, [node] if keep else body))

    visit(source.tree.body, "")
    return sorted(edits)
