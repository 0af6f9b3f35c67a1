"""The statements of a function with a loop change places."""


def shuffle_statements(source, scope, random):
    if complexity(scope) > 10 or not any(inside(scope, ast.For, ast.AsyncFor, ast.While)):
        return
    body = [node for node in scope.body if not is_docstring(node)]
    if not all(source.owns_lines(node) for node in body):
        return
    places = [(source.line_start(source.first_line(node)), source.end(node)) for node in body]
    shuffled = places[:]
    random.shuffle(shuffled)
    if shuffled != places:
        yield [(*place, source.slice(*other)) for place, other in zip(places, shuffled)]
