"""A with or try is gone, and its body stays."""


def remove_wrapper(source, scope, random):
    for node in inside(scope, ast.With, ast.AsyncWith, ast.Try):
        outer, inner = source.indent(node), source.indent(node.body[0])
        if outer is None or inner is None:
            continue
        body = source.slice(source.line_start(source.first_line(node.body[0])), source.end(node.body[-1])).split("\n")
        if all(line.startswith(inner) or not line.strip() for line in body):
            kept = "\n".join(outer + line[len(inner) :] if line.strip() else line for line in body)
            yield [(source.line_start(node.lineno), source.end(node), kept)]
