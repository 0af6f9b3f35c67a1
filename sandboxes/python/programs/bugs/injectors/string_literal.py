"""A text is another one."""


def string_literal(source, scope, random):
    for node in inside(scope, ast.Constant):
        parent = source.parents[node]
        if type(node.value) is str and node.value and not is_docstring(parent) and not isinstance(parent, ast.JoinedStr):
            yield [source.replace(node, repr(random.choice([node.value[1:], node.value.swapcase(), node.value + node.value[-1]])))]
