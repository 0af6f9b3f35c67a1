"""Where the test functions of a file end, so that the host can make some of them fail.

Each is (name, offset, indent, group): a line put at the offset with that indent is the function's last statement. Tests that
call one another, directly or through helpers, are a group: made to fail alone, one would take the others with it.
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
    group = _groups(source.tree)
    return [(name, at, indent, group[name]) for name, at, indent in found]


def _groups(tree):
    """For each function name of the file, the name of its group: that of one of the tests in it."""
    uses = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            named = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
            named |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}
            uses.setdefault(node.name, set()).update(named)
    group = {name: name for name in uses}
    for name in sorted(uses):
        if name.startswith("test"):
            for other in _tests_reached(name, uses):
                old, new = group[other], group[name]
                group = {key: new if value == old else value for key, value in group.items()}
    return group


def _tests_reached(name, uses):
    """The tests that a function names, itself or through functions that are none."""
    reached, seen, left = set(), set(), [name]
    while left:
        for used in uses[left.pop()] & uses.keys() - seen:
            seen.add(used)
            if used.startswith("test"):
                reached.add(used)
            else:
                left.append(used)
    return reached


def _owns_end(self, node):
    after = self.slice(self.end(node), self.line_end(node.end_lineno)).strip()
    return not after or after.startswith("#")


Source.owns_end = _owns_end
