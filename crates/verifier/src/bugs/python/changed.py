"""What a change of a source text is a change of: the bodies of some functions alone, or more."""

import warnings


def changed_functions(before, after):
    """Qualified names of the outermost functions whose bodies differ, where nothing else does. None where anything else
    does: a name, a signature, a decorator, a docstring, a statement of a module or a class. An error where a text does not
    compile, or not without a warning: who imports it notices that, whichever function it is in."""
    check_compiles(after)
    (one, ours), (other, theirs) = outline(before), outline(after)
    if one != other:
        return None
    return [name for (name, body), (_, now) in zip(ours, theirs) if body != now]


def check_compiles(text):
    # Not all that is wrong with a text is wrong with its syntax tree: `break` outside a loop, `nonlocal` of no name.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(text.encode(), "<after>", "exec", dont_inherit=True)


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
                node.body = [ast.Expr(ast.Constant((ast.get_docstring(node, clean=False), yields(node.body))))]

    visit(tree.body, "")
    return ast.dump(tree), found


def yields(body):
    """Whether a `yield` of these statements belongs to the function whose body they are, and not to one inside it."""
    left = list(body)
    while left:
        node = left.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            left += [*node.decorator_list, node.args]
        elif isinstance(node, ast.Lambda):
            left.append(node.args)
        else:
            left += ast.iter_child_nodes(node)
    return False
