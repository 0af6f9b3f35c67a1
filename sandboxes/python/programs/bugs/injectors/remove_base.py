"""A class loses one of its base classes."""


def remove_base(source, scope, random):
    if not scope.bases:
        return
    arguments = sorted(scope.bases + scope.keywords, key=source.start)
    for base in scope.bases:
        left = ", ".join(source.segment(found) for found in arguments if found is not base)
        yield [(source.start(arguments[0]), source.end(arguments[-1]), left)]
