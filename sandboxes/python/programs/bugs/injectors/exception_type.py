"""Another exception is raised or caught."""


EXCEPTIONS = ["ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "RuntimeError", "StopIteration"]


def exception_type(source, scope, random):
    for node in inside(scope, ast.Raise, ast.ExceptHandler):
        found = node.exc if isinstance(node, ast.Raise) else node.type
        found = found.func if isinstance(found, ast.Call) else found
        if isinstance(found, ast.Name):
            yield [source.replace(found, random.choice([name for name in EXCEPTIONS if name != found.id]))]
