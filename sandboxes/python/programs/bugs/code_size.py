"""Whether source texts have less code than others: comments, docstrings, annotations and layout are none."""


def has_less_code(before, after):
    return sum(map(code_size, after)) < sum(map(code_size, before))


def code_size(text):
    """The number of nodes that do anything."""
    # As an import reads it: a comment may name an encoding.
    left, size = [ast.parse(text.encode())], 0
    while left:
        node = left.pop()
        if isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        size += 1
        told = {id(getattr(node, field, None)) for field in ("annotation", "returns")}
        left.extend(child for child in ast.iter_child_nodes(node) if id(child) not in told)
    return size
