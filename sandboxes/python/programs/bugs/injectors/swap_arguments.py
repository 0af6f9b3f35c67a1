"""Two arguments of a call change places."""


def swap_arguments(source, scope, random):
    for node in inside(scope, ast.Call):
        plain = [found for found in node.args if not isinstance(found, (ast.Starred, ast.GeneratorExp))]
        for one, other in zip(plain, plain[1:]):
            yield swap(source, one, other)
