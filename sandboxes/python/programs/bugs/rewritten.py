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
    parts = name.split(".")
    names = [(".".join(parts[: at + 1]), part) for at, part in enumerate(parts)]
    is_bound = all(was.bound[found] == now.bound[found] for whole, part in names for found in (whole, "." + part))
    is_bound = is_bound and now.bound["*"] <= was.bound["*"]
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
    classes bind each name, by qualified name too, and set an attribute, by its name behind a point. The parts are outermost
    functions, and what else is in a module or class."""

    def __init__(self, text, error):
        self.error, self.named, self.bound = error, collections.Counter(), collections.Counter()
        self.functions = collections.defaultdict(list)
        # As an import reads it: a comment may name an encoding.
        tree = ast.parse(text.encode())
        self.visit(tree.body, "")
        self.bound.update(bound_by(tree))

    def visit(self, body, prefix):
        for node in body:
            part, inner = prefix, [node]
            if isinstance(node, ast.ClassDef):
                inner = [*node.decorator_list, *node.bases, *node.keywords]
                self.visit(node.body, prefix + node.name + ".")
            elif isinstance(node, FUNCTIONS):
                part = prefix + node.name
                self.functions[part].append(node)
            self.named[part] += sum(self.error in names_of(found) for top in inner for found in ast.walk(top))


def names_of(node):
    """What a node names, whether it reads or binds that."""
    if isinstance(node, ast.alias):
        return {node.name.rpartition(".")[2], node.asname}
    return {getattr(node, field, None) for field in ("id", "attr")}


def bound_by(tree):
    """The qualified names that a module and its classes bind, and ".name" of each attribute that they set: not what the functions in
    them do, but for global names."""
    left = [(tree, "")]
    while left:
        node, prefix = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield prefix + node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield prefix + node.rest
        elif isinstance(node, ast.alias):
            yield prefix + (node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Global):
            # From here on, what binds such a name binds the module's.
            yield from node.names
        elif isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) and isinstance(node, (ast.Name, ast.Attribute)):
            yield prefix + node.id if isinstance(node, ast.Name) else "." + node.attr
        inside = list(ast.iter_child_nodes(node))
        if isinstance(node, FUNCTIONS):
            inside = [*node.decorator_list, node.args, *filter(None, [node.returns])]
            inside += [found for found in ast.walk(node) if isinstance(found, ast.Global)]
        elif isinstance(node, ast.ClassDef):
            inside = [found for found in inside if found not in node.body]
            left.extend((found, prefix + node.name + ".") for found in node.body)
        left.extend((found, prefix) for found in inside)
