"""Which tests of a file nobody runs, whatever the program is. A module of the image, used by the test runner.

A test that is skipped counts as one that did not pass, because the program may be what made it skip. One that is skipped for
every program would refuse every program; it is left out of the verdict. The source decides, never what happened alone: a mark
leaves a test out where all that makes the marks of this test is *closed*, made of nothing that a program has a part in. What is
closed is a list of what is allowed, see `is_closed`; whatever it does not know counts as the program's.
"""

import ast
import inspect

from _veriplay_objects import COMPILES, is_library

# Modules whose functions make plain values of plain values, and facts of the machine that no program changes for the tests.
VALUES = {"collections", "datetime", "decimal", "fractions", "itertools", "math", "numpy", "pathlib", "platform", "re", "string", "uuid"}
FACTS = ("sys.version_info", "sys.platform", "sys.maxsize", "sys.byteorder", "sys.implementation", "os.name")
MARKS = ("pytest.mark", "pytest.param", "unittest.skip", "unittest.skipIf", "unittest.skipUnless", "unittest.expectedFailure")
SKIPS = ("pytest.mark.skip", "unittest.skip")
# Built-in functions that make plain values, and those that decorate methods.
PLAIN = {
    "abs", "bool", "bytes", "chr", "complex", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "ord", "range", "repr",
    "reversed", "set", "str", "tuple", "zip", "staticmethod", "classmethod", "property",
}
COMPOUND = (
    ast.BinOp, ast.BoolOp, ast.Compare, ast.Dict, ast.FormattedValue, ast.IfExp, ast.JoinedStr, ast.List, ast.Set, ast.Slice,
    ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.keyword,
)
NO_PART = (ast.operator, ast.boolop, ast.cmpop, ast.unaryop, ast.expr_context)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Skips:
    """What the source of test code says of its skips."""

    def __init__(self, sources, taken):
        """`taken` are names that the tests' module has or the program may have: a builtin of that name is not what it seems."""
        self.taken = taken
        statements = [node for source in sources for node in ast.parse(source).body]
        self.order = {}  # of each node: how far into the file its statement begins
        for place, statement in enumerate(statements):
            for node in ast.walk(statement):
                self.order[id(node)] = place
        self.nodes = [node for statement in statements for node in ast.walk(statement)]
        self.names_are_known = not any(map(reaches_names, self.nodes))
        self.bound = {}  # how often each name is bound, in any scope
        for name in filter(None, map(bound_by, self.nodes)):
            self.bound[name] = self.bound.get(name, 0) + 1
        self.imports, self.values = {}, {}  # names of the module that mean one thing only
        self.note_imports(statements)
        self.note_values(statements)
        self.loads = {}  # where each name is read
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.loads.setdefault(node.id, []).append(node)
        self.in_marks = self.nodes_of_marks()
        self.functions, self.classes = {}, {}  # by qualified name: all definitions
        self.note_definitions(statements, "")
        self.is_module_closed = self.are_marks_in_place() and self.are_marks_closed(statements)

    # What a file says.

    def note_imports(self, statements):
        paths = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found = [(alias.asname or alias.name.partition(".")[0], alias.name if alias.asname else alias.name.partition(".")[0]) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found = [(alias.asname or alias.name, "." * node.level + str(node.module) + "." + alias.name) for alias in node.names]
            else:
                continue
            for name, path in found:
                paths.setdefault(name, []).append((path, node))
        at_module = set(map(id, statements))
        for name, found in paths.items():
            places = [self.order[id(node)] for _, node in found if id(node) in at_module]
            if places and len({path for path, _ in found}) == 1 and self.bound.get(name) == len(found):
                self.imports[name] = found[0][0], min(places)

    def note_values(self, statements):
        for place, node in enumerate(statements):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if self.bound.get(name) == 1:
                    self.values[name] = node.value, place

    def nodes_of_marks(self):
        """All nodes of decorators and of what `pytestmark` is."""
        roots = [decorator for node in self.nodes for decorator in getattr(node, "decorator_list", ())]
        roots += [node.value for node in self.nodes if is_assignment_of_marks(node)]
        return {id(node) for root in roots for node in ast.walk(root)}

    def note_definitions(self, statements, prefix):
        for node in statements:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault(prefix + node.name, []).append(node)
            elif isinstance(node, ast.ClassDef):
                self.classes.setdefault(prefix + node.name, []).append(node)
                self.note_definitions(node.body, prefix + node.name + ".")
            else:
                # What stands under a condition.
                for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                    self.note_definitions(getattr(node, field, ()), prefix)

    # What is closed.

    def is_closed(self, node, local=frozenset()):
        """Whether no program has a part in the value of an expression that is evaluated as the file is read."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in local or self.is_name_closed(node)
        if isinstance(node, ast.Attribute):
            path = self.path_of(node)
            if path is not None and self.is_allowed(path):
                return True
            return path is None and not node.attr.startswith("_") and self.is_closed(node.value, local)
        if isinstance(node, ast.Call):
            return all(self.is_closed(part, local) for part in (node.func, *node.args, *node.keywords))
        if isinstance(node, COMPREHENSIONS):
            local |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            parts = [part for each in node.generators for part in (each.iter, *each.ifs)]
            return all(self.is_closed(part, local) for part in [*elements, *parts])
        if isinstance(node, COMPOUND):
            parts = (part for part in ast.iter_child_nodes(node) if not isinstance(part, NO_PART))
            return all(self.is_closed(part, local) for part in parts)
        return False

    def is_name_closed(self, node):
        name, place = node.id, self.order[id(node)]
        if name in self.imports:
            path, bound_at = self.imports[name]
            return bound_at < place and self.is_allowed(path)
        if name in self.values:
            value, bound_at = self.values[name]
            # What can be changed must be in nobody's hands.
            is_fixed = isinstance(value, ast.Constant) or self.mark_of(value) is not None
            return bound_at < place and (is_fixed or self.is_quiet(name)) and self.is_closed(value)
        return name in PLAIN and name not in self.bound and name not in self.taken

    def is_quiet(self, name):
        """Whether all that reads a name are marks, and values that only marks read."""
        return all(id(node) in self.in_marks or self.is_in_quiet_value(node) for node in self.loads.get(name, ()))

    def is_in_quiet_value(self, node):
        return any(place == self.order[id(node)] and self.is_quiet(name) for name, (_, place) in self.values.items())

    def are_marks_in_place(self):
        """Whether the file names what skips only in decorators, in `pytestmark`, and in closed values for these: nothing marks a test
        that is there already."""
        asked = {id(node.value) for node in self.nodes if isinstance(node, ast.Attribute)}
        return all(self.is_mark_in_place(node, id(node) in asked) for node in self.nodes if isinstance(node, (ast.Name, ast.Attribute)))

    def is_mark_in_place(self, node, is_asked):
        if isinstance(node, ast.Attribute) and node.attr in ("pytestmark", "__unittest_skip__"):
            return False
        path = self.path_of(node, anywhere=True)
        if path is None or not isinstance(node.ctx, ast.Load):
            return path is None
        if path in ("pytest", "unittest"):
            return is_asked
        if not path.startswith(("pytest.mark", "unittest.skip", "unittest.case")) or id(node) in self.in_marks:
            return True
        values = [value for value, place in self.values.values() if place == self.order[id(node)]]
        return self.is_in_quiet_value(node) and all(map(self.is_closed, values))

    def is_allowed(self, path):
        if not self.names_are_known:
            return False
        if path.partition(".")[0] in VALUES:
            return "._" not in path
        return any(path == known or path.startswith(known + ".") for known in (*FACTS, *MARKS))

    def path_of(self, node, anywhere=False):
        """The place in a module that an expression names, where the name is bound by then; or `anywhere`."""
        if isinstance(node, ast.Name) and node.id in self.imports:
            path, bound_at = self.imports[node.id]
            return path if anywhere or bound_at < self.order[id(node)] else None
        if isinstance(node, ast.Attribute):
            path = self.path_of(node.value, anywhere)
            return None if path is None else path + "." + node.attr
        return None

    def mark_of(self, node):
        """The mark that an expression is, as its place: `pytest.mark.skip`."""
        if isinstance(node, ast.Call):
            return self.mark_of(node.func)
        if isinstance(node, ast.Name) and node.id in self.values:
            value, bound_at = self.values[node.id]
            return self.mark_of(value) if bound_at < self.order[id(node)] else None
        path = self.path_of(node)
        return path if path is not None and self.names_are_known and path.startswith(MARKS) else None

    # What that says of a test.

    def is_skip(self, node):
        """Whether an expression is a mark, or a list with a mark, that skips without a condition; or a list of no cases."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(map(self.is_skip, node.elts))
        mark = self.mark_of(node)
        if mark == "pytest.mark.parametrize" and isinstance(node, ast.Call):
            given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "argvalues")]
            return any(isinstance(values, (ast.List, ast.Tuple)) and not values.elts for values in given)
        return mark in SKIPS

    def marks_in(self, statements):
        """What a class or module is marked with by name."""
        return [node.value for node in statements if is_assignment_of_marks(node)]

    def are_marks_closed(self, statements):
        """Whether all that a class or module is marked with stands in its body once and is closed."""
        below = [node for statement in statements for node in walk_scope(statement) if isinstance(node, ast.Name) and node.id == "pytestmark"]
        marks = self.marks_in(statements)
        return len(below) == len(marks) <= 1 and all(map(self.is_closed, marks))

    def is_left_out(self, function, owner, by_mark):
        """Whether a test that was skipped is skipped for every program; `by_mark` says that a mark has done it, before it ran. `owner` is
        its class."""
        qualname, definitions = getattr(function, "__qualname__", None), []
        if type(qualname) is str:
            definitions = self.functions.get(qualname, [])
        if definitions and all(map(self.begins_with_skip, definitions)):
            return True
        if not by_mark:
            return False
        # The classes that a class is made of hand their marks on to it.
        owners = [] if owner is None else [base for base in inspect.getmro(owner) if not is_library(base.__module__)]
        classes = [self.classes.get(base.__qualname__, []) for base in owners]
        if definitions and all(any(map(self.is_skip, node.decorator_list)) for node in definitions):
            return True
        if any(found and all(map(self.is_class_skipped, found)) for found in classes):
            return True
        # Of two definitions, the program may have chosen.
        found = (definitions, *classes)
        return self.is_module_closed and all(len(nodes) == 1 and self.is_definition_closed(*nodes) for nodes in found)

    def is_definition_closed(self, node):
        """Whether no program has a part in the marks of a function or class."""
        are_closed = not isinstance(node, ast.ClassDef) or self.are_marks_closed(node.body)
        return are_closed and all(map(self.is_closed, node.decorator_list))

    def is_class_skipped(self, node):
        if any(map(self.is_skip, node.decorator_list)):
            return True
        # Said once, with nothing that could take it back.
        marks = self.marks_in(node.body)
        return len(marks) == 1 and self.are_marks_closed(node.body) and any(map(self.is_skip, marks))

    def begins_with_skip(self, node):
        """Whether the first thing that a test does is to skip itself."""
        body = node.body[1:] if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else node.body
        first = body[0] if body else None
        if isinstance(first, ast.Raise) and first.exc is not None:
            raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
            return self.path_of(raised) in ("unittest.SkipTest", "unittest.case.SkipTest", "pytest.skip.Exception")
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Call)):
            return False
        called = first.value.func
        if isinstance(called, ast.Attribute) and called.attr == "skipTest":
            return bool(node.args.args) and isinstance(called.value, ast.Name) and called.value.id == node.args.args[0].arg
        return self.path_of(called) == "pytest.skip"


def is_assignment_of_marks(node):
    return isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def walk_scope(node):
    """The nodes of a statement that belong to the scope in which it stands."""
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        for part in ast.iter_child_nodes(node):
            yield from walk_scope(part)


def reaches_names(node):
    """Whether code that compiles texts, or sets names by their texts, may bind any name."""
    if isinstance(node, ast.Name):
        return node.id in COMPILES or node.id in ("globals", "locals", "vars", "setattr", "delattr", "__import__")
    return isinstance(node, ast.Attribute) and node.attr in ("__dict__", "__globals__")


def bound_by(node):
    """The name that a node binds in whatever scope it stands in, if any."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.MatchMapping):
        return node.rest
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    return node.name if isinstance(node, named) else None
