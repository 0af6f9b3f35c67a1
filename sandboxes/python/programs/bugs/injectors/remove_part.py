"""A function loses what follows one of its statements."""


def remove_part(source, scope, random):
    for block in blocks(scope):
        for at in range(1, len(block)):
            if source.owns_lines(block[at]) and source.owns_lines(block[-1]) and not is_docstring(block[at - 1]):
                yield [(source.line_start(source.first_line(block[at])), source.next_line(block[-1].end_lineno), "")]
