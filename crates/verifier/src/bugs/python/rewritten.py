"""Whether a function whose body was taken out has one again, and nothing is left of what stood there instead."""

import collections

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_rewritten(before, after, error, name):
    """Whether `after` defines and binds the function of the qualified name `name` as often as the original `before`, empty no more
    often, and no part of it names the exception `error` more often: an emptied body raises that. Without a name only the last is
    asked."""
    was, now = Outline(before, error), Outline(after, error)
    if now.named - was.named:
        return False
    if not name:
        return True
    ours, theirs = was.functions[name], now.functions[name]
    is_bound = all(was.bound[part] == now.bound[part] for part in name.split(".")) and now.bound["*"] <= was.bound["*"]
    return is_bound and len(theirs) == len(ours) and sum(map(is_empty, theirs)) <= sum(map(is_empty, ours))


def is_empty(function):
    """Whether a body does nothing, or nothing but raise."""
    for node in function.body:
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, ast.Pass) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return False
    return True


class Outline:
    """A source: its functions by qualified name, how often each part of it names an exception, and how often its module and its
    classes bind each name. The parts are outermost functions, and what else is in a module or class."""

    def __init__(self, text, error):
        self.error, self.named, self.bound = error, collections.Counter(), collections.Counter()
        self.functions = collections.defaultdict(list)
        # As an import reads it: a comment may name an encoding.
        self.visit(ast.parse(text.encode()).body, "")

    def visit(self, body, prefix):
        for node in body:
            part, inner = prefix, [node]
            if isinstance(node, ast.ClassDef):
                self.bound[node.name] += 1
                inner = [*node.decorator_list, *node.bases, *node.keywords]
                self.visit(node.body, prefix + node.name + ".")
            elif isinstance(node, FUNCTIONS):
                part = prefix + node.name
                self.functions[part].append(node)
            self.named[part] += sum(self.error in names_of(found) for top in inner for found in ast.walk(top))
            for top in inner:
                self.bound.update(bound_by(top))


def names_of(node):
    """What a node names, whether it reads or binds that."""
    if isinstance(node, ast.alias):
        return {node.name.rpartition(".")[2], node.asname}
    return {getattr(node, field, None) for field in ("id", "attr")}


def bound_by(node):
    """The names that a statement of a module or class binds there: not those of the functions in it, but for global ones."""
    left = [node]
    while left:
        node = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            yield from names_of(node) - {None}
        if isinstance(node, FUNCTIONS):
            yield from (name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
            left.extend([*node.decorator_list, node.args])
        else:
            left.extend(ast.iter_child_nodes(node))
