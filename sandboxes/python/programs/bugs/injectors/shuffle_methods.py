"""The methods of a class change places."""


def shuffle_methods(source, scope, random):
    methods = [node for node in scope.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    places = [(source.line_start(source.first_line(node)), source.end(node)) for node in methods]
    shuffled = places[:]
    random.shuffle(shuffled)
    if shuffled != places:
        yield [(*place, source.slice(*other)) for place, other in zip(places, shuffled)]
