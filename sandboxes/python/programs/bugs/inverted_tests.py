"""Where the test functions of a file end, and what they compare with, so that the host can make some of them fail.

Each is (name, offset, indent, group, operands): a line put at the offset with that indent is the function's last statement; the
operands are (start, end) of what its first and its last comparison for equality compares with. Tests that call one another,
directly or through helpers, are a group: made to fail alone, one would take the others with it.
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
                    found.append((node.name, source.line_end(last.end_lineno), indent, _operands(source, node.body)))
    group = _groups(source.tree)
    return [(name, at, indent, group[name], operands) for name, at, indent, operands in found]


def _operands(source, body):
    """Of comparisons that are made whenever the function is run to its end."""
    found = [(source.start(node), source.end(node)) for node in _compared(body)]
    return found[:1] + found[-1:]


def _compared(body):
    for node in body:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _compared(node.body)
        elif isinstance(node, ast.Assert):
            test = node.test
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
                yield test.comparators[0]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            plain = len(call.args) > 1 and not any(isinstance(found, ast.Starred) for found in call.args[:2])
            if isinstance(call.func, ast.Attribute) and call.func.attr == "assertEqual" and plain:
                yield call.args[1]


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
