"""The bound of a range is off by one."""


def range_bound(source, scope, random):
    for node in inside(scope, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            for bound in node.args:
                if not isinstance(bound, ast.Starred):
                    yield [source.replace(bound, wrapped(source, bound) + random.choice((" + 1", " - 1")))]
