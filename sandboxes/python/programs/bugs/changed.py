"""What a change of a source text is a change of: the bodies of some functions alone, or more."""

import inspect
import types
import warnings


def changed_functions(before, after):
    """Qualified names of the outermost functions whose bodies differ, where nothing else does. None where anything else
    does: a name, a signature, a decorator, a docstring, a statement of a module or a class, or what these see of a function
    that they make. An error where the text after does not compile, or not without a warning: who imports it notices that,
    whichever function it is in."""
    now = compiled(after, "error")
    (one, ours), (other, theirs) = outline(before), outline(after)
    if one != other or list(seen_in(compiled(before, "ignore"))) != list(seen_in(now)):
        return None
    return [name for (name, body), (_, now) in zip(ours, theirs) if body != now]


def compiled(text, warned):
    # Not all that is wrong with a text is wrong with its syntax tree: `break` outside a loop, `nonlocal` of no name.
    with warnings.catch_warnings():
        warnings.simplefilter(warned)
        return compile(text.encode(), "<text>", "exec", dont_inherit=True)


def seen_in(code):
    """What a module and its classes see of the functions that they make: their kind, and whether one asks for its class, which
    `__prepare__` and a metaclass are then given."""
    for found in code.co_consts:
        if isinstance(found, types.CodeType):
            yield found.co_qualname, found.co_flags, found.co_freevars
            if not found.co_flags & inspect.CO_OPTIMIZED:
                yield from seen_in(found)


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
                node.body = [ast.Expr(ast.Constant(ast.get_docstring(node, clean=False)))]

    visit(tree.body, "")
    return ast.dump(tree), found
