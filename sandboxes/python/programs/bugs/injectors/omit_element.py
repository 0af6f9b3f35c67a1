"""A list, tuple, set or dict loses an element."""


def omit_element(source, scope, random):
    for node in inside(scope, ast.List, ast.Tuple, ast.Set, ast.Dict):
        elements = list(zip(node.keys, node.values)) if isinstance(node, ast.Dict) else [(found, found) for found in node.elts]
        for (_, before), (first, last) in zip(elements, elements[1:]):
            if first is not None and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                yield [(source.end(before), source.end(last), "")]
