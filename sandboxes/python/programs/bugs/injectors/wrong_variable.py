"""Another variable of the function is read."""


def wrong_variable(source, scope, random):
    names = {found.arg for found in ast.walk(scope.args) if isinstance(found, ast.arg)}
    names |= {found.id for found in inside(scope, ast.Name) if isinstance(found.ctx, ast.Store)}
    for node in inside(scope, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id in names and len(names) > 1:
            yield [source.replace(node, random.choice(sorted(names - {node.id})))]
