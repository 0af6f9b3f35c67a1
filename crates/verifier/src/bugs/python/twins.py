"""Where the test functions of a file end, so that the host can make some of them fail.

Each is (name, offset, indent): a line put at the offset with that indent is the function's last statement.
"""


def twins(text):
    source = Source(text)
    found = []
    for body in [source.tree.body] + [node.body for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
                last = node.body[-1]
                indent = source.indent(node.body[0])
                if node.body[0].lineno > node.lineno and indent is not None and source.owns_end(last):
                    found.append((node.name, source.line_end(last.end_lineno), indent))
    return found


def _owns_end(self, node):
    after = self.slice(self.end(node), self.line_end(node.end_lineno)).strip()
    return not after or after.startswith("#")


Source.owns_end = _owns_end
