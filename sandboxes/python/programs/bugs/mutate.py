"""Draws mutants of a source text by one operator.

An operator is a generator `operator(source, scope, random)` over the sites of one function or class: each site is a list of
edits. A mutant changes one scope, each site with the operator's probability and at least one (SWE-smith, arXiv 2504.21798).
It parses, and its tree is another one; whether it means something else, the tests say.
"""

import ast
import random

SCOPES = {"function": (ast.FunctionDef, ast.AsyncFunctionDef), "class": (ast.ClassDef,)}
NO_VALUES = ("annotation", "returns", "type_comment")


def mutate(operator, text, seed, count, percent, kind, least):
    """(number of sites, [(scope, line, edits)]). A text that is no Python has none."""
    try:
        source = read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (0, [])
    dice = random.Random(seed)
    scopes = [node for node in ast.walk(source.tree) if isinstance(node, SCOPES[kind]) and complexity(node) >= least]
    sited = []
    for scope in scopes:
        sites = list(globals()[operator](source, scope, dice))
        if sites:
            sited.append((scope, sites))
    found, seen = [], set()
    for _ in range(count * 4):
        if len(found) == count or not sited:
            break
        scope, sites = sited[dice.randrange(len(sited))]
        edits = drawn(sites, dice, percent)
        key = tuple(edits)
        if key not in seen and changes(source, scope, edits):
            seen.add(key)
            found.append((qualified(source, scope), scope.lineno, edits))
    return (sum(len(sites) for _, sites in sited), found)


_read = {}


def read(text):
    """The source of a text. The operators of one job ask for the same text one after the other."""
    if text not in _read:
        _read.clear()
        _read[text] = Source(text)
    return _read[text]


def dumped(source, top):
    known = source.__dict__.setdefault("dumps", {})
    if top not in known:
        known[top] = ast.dump(ast.Module([top], []))
    return known[top]


def drawn(sites, dice, percent):
    chosen = [site for site in sites if dice.randrange(100) < percent] or [sites[dice.randrange(len(sites))]]
    taken = []
    for site in chosen:
        if all(end <= other[0] or other[1] <= start for start, end, _ in site for other in taken):
            taken += site
    return sorted(taken)


def changes(source, scope, edits):
    """Whether the statement of the module that holds the scope parses with the edits, to another tree."""
    top = scope
    while not isinstance(source.parents[top], ast.Module):
        top = source.parents[top]
    start, end = source.line_start(source.first_line(top)), source.next_line(top.end_lineno)
    if not edits or edits[0][0] < start or edits[-1][1] > end or any(a[1] > b[0] for a, b in zip(edits, edits[1:])):
        return False
    data, at = b"", start
    for first, last, text in edits:
        data += source.data[at:first] + text.encode()
        at = last
    try:
        tree = ast.parse(data + source.data[at:end])
        compile(tree, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return ast.dump(tree) != dumped(source, top)


def qualified(source, node):
    names = []
    while not isinstance(node, ast.Module):
        if hasattr(node, "name") and isinstance(node, SCOPES["function"] + SCOPES["class"]):
            names.append(node.name)
        node = source.parents[node]
    return ".".join(reversed(names))


def complexity(node):
    """1 + branches, loops, operands of and/or, handlers and comparisons, as SWE-smith counts."""
    total = 1
    for found in ast.walk(node):
        if isinstance(found, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler)):
            total += 1
        elif isinstance(found, ast.BoolOp):
            total += len(found.values) - 1
        elif isinstance(found, ast.Compare):
            total += len(found.ops)
    return total


def inside(scope, *kinds):
    """Nodes of these kinds in the scope's own code, in the order of the text: no annotations, nothing of nested scopes."""
    for field, value in ast.iter_fields(scope):
        if field in NO_VALUES or field == "decorator_list" and isinstance(scope, SCOPES["function"] + SCOPES["class"]):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                if isinstance(child, kinds):
                    yield child
                if not isinstance(child, SCOPES["function"] + SCOPES["class"]):
                    yield from inside(child, *kinds)


def blocks(scope):
    """The lists of statements in the scope's own code."""
    for node in [scope, *inside(scope, ast.stmt, ast.ExceptHandler, ast.match_case)]:
        if node is not scope and isinstance(node, SCOPES["function"] + SCOPES["class"]):
            continue
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_elif(source, node):
    return isinstance(node, ast.If) and source.slice(source.start(node), source.start(node) + 4) == "elif"


def without(source, block, kinds):
    """A site for each statement of these kinds: it is gone."""
    for node in block:
        if isinstance(node, kinds) and not is_elif(source, node):
            yield [source.remove(node, block)]


def wrapped(source, node):
    """An expression's text, in parentheses where it needs them elsewhere."""
    plain = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set)
    text = source.segment(node)
    return text if isinstance(node, plain) else "(" + text + ")"


def swap(source, one, other):
    return [source.replace(one, wrapped(source, other)), source.replace(other, wrapped(source, one))]


def between(source, left, right, old, new):
    """The edit that makes another operator of the one between two operands; nothing when comments are in the way."""
    start, end = source.end(left), source.start(right)
    gap = source.slice(start, end)
    at = gap.find(old)
    if at < 0 or "#" in gap:
        return None
    return (start + len(gap[:at].encode()), start + len(gap[: at + len(old)].encode()), new)


SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or",
}  # fmt: skip


def operators(source, scope, *kinds):
    """(operator's symbol, left operand, right operand) of each operation of these kinds."""
    for node in inside(scope, *kinds):
        if isinstance(node, ast.BinOp):
            yield SYMBOLS[type(node.op)], node.left, node.right
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:]):
                yield SYMBOLS[type(node.op)], left, right
        else:
            for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators):
                yield SYMBOLS[type(op)], left, right


def replaced(source, scope, kinds, choose):
    """A site for each operation for whose symbol `choose` has another."""
    for symbol, left, right in operators(source, scope, *kinds):
        new = choose(symbol)
        edit = between(source, left, right, symbol, new) if new else None
        if edit:
            yield [edit]
