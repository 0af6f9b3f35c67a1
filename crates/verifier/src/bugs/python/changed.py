"""What a change of a source text is a change of: the bodies of some functions alone, or more."""


def changed_functions(before, after):
    """Qualified names of the outermost functions whose bodies differ, where nothing else does. None where anything else
    does: a name, a signature, a decorator, a docstring, a statement of a module or a class."""
    (one, ours), (other, theirs) = outline(before), outline(after)
    if one != other:
        return None
    return [name for (name, body), (_, now) in zip(ours, theirs) if body != now]


def outline(text):
    """The tree without the bodies of functions, and these by name."""
    # As an import reads it: a comment may name an encoding in which others are code.
    tree, found = ast.parse(text.encode()), []

    def visit(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, prefix + node.name + ".")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((prefix + node.name, [ast.dump(part) for part in node.body]))
                # A call of a generator makes one without entering it.
                yields = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))
                node.body = [ast.Expr(ast.Constant((ast.get_docstring(node, clean=False), yields)))]

    visit(tree.body, "")
    return ast.dump(tree), found
