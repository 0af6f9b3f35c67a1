"""A call loses its last argument, or one it names."""


def drop_argument(source, scope, random):
    for node in inside(scope, ast.Call):
        arguments = node.args + node.keywords
        droppable = node.keywords or node.args[-1:]
        for found in droppable:
            at = arguments.index(found)
            if len(arguments) > 1 and at > 0:
                yield [(source.end(arguments[at - 1]), source.end(found), "")]
