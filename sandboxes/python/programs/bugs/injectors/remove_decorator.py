"""A function loses a decorator."""


def remove_decorator(source, scope, random):
    for found in scope.decorator_list:
        line = found.lineno
        if source.slice(source.line_start(line), source.start(found)).strip() == "@":
            yield [(source.line_start(line), source.next_line(found.end_lineno), "")]
