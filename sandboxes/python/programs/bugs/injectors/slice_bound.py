"""An index or the bound of a slice is off by one."""


def slice_bound(source, scope, random):
    for node in inside(scope, ast.Subscript):
        found = [node.slice.lower, node.slice.upper] if isinstance(node.slice, ast.Slice) else [node.slice]
        for bound in found:
            if isinstance(bound, ast.Constant) and type(bound.value) is int:
                yield [source.replace(bound, str(bound.value + random.choice((-1, 1))))]
            elif bound is not None and isinstance(node.slice, ast.Slice):
                yield [source.replace(bound, wrapped(source, bound) + random.choice((" + 1", " - 1")))]
