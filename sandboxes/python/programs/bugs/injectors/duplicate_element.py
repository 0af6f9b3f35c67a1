"""A list or tuple has an element twice."""


def duplicate_element(source, scope, random):
    for node in inside(scope, ast.List, ast.Tuple):
        for found in node.elts if isinstance(node.ctx, ast.Load) else []:
            yield [(source.end(found), source.end(found), ", " + source.segment(found))]
