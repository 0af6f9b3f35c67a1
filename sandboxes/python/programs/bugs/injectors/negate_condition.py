"""A condition is negated."""


def negate_condition(source, scope, random):
    for node in inside(scope, ast.If, ast.While, ast.IfExp):
        yield [source.replace(node.test, "not (" + source.segment(node.test) + ")")]
    for node in inside(scope, ast.comprehension):
        for test in node.ifs:
            yield [source.replace(test, "not (" + source.segment(test) + ")")]
