"""Which tests of a file nobody runs, whatever the program is. A module of the image, used by the test runner.

A test that is skipped counts as one that did not pass, because the program may be what made it skip. One that is skipped for
every program would refuse every program; it is left out of the verdict. The source decides, never what happened alone:

- the test begins with a skip; or
- a decorator of it or of its class, or the class's `pytestmark`, is a skip without a condition; or
- a mark has skipped it, and all its marks, its class's and the module's are spelt out in the source and *closed*: made of nothing
  that a program has a part in, by a list of what is allowed (`is_closed`). Whatever that list does not know counts as the program's.

What was run must also be what the source shows: the object that this `def` or `class` has made, under a name that is bound
nowhere else, with the marks that stand above it and no others.
"""

import ast
import builtins
import inspect
import types
import unittest

from _veriplay_objects import COMPILES, is_library

FILE_OF_TESTS, UNITTEST = "<test>", unittest.skip.__code__.co_filename
# Modules whose functions make plain values of plain values, and facts of the machine that no program changes for the tests.
VALUES = {"collections", "datetime", "decimal", "fractions", "itertools", "math", "numpy", "pathlib", "platform", "re", "string", "uuid"}
FACTS = ("sys.version_info", "sys.platform", "sys.maxsize", "sys.byteorder", "sys.implementation", "os.name")
MARKS = ("pytest.mark", "pytest.param", "unittest.skip", "unittest.skipIf", "unittest.skipUnless", "unittest.expectedFailure")
SKIPS = ("pytest.mark.skip", "unittest.skip")
# Marks that unittest sees too, as `__unittest_skip__`.
UNITTEST_SKIPS = ("pytest.mark.skip", "unittest.skip", "unittest.skipIf", "unittest.skipUnless")
# Built-in functions that make plain values, and those that decorate methods.
PLAIN = {
    "abs", "bool", "bytes", "chr", "complex", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "object", "ord", "range", "repr",
    "reversed", "set", "str", "tuple", "zip", "staticmethod", "classmethod", "property",
}
PLAIN |= {name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, BaseException)}
COMPOUND = (
    ast.BinOp, ast.BoolOp, ast.Compare, ast.Dict, ast.FormattedValue, ast.IfExp, ast.JoinedStr, ast.List, ast.Set, ast.Slice,
    ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.keyword,
)
NO_PART = (ast.operator, ast.boolop, ast.cmpop, ast.unaryop, ast.expr_context)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Words by which code may bind or change what the text does not name.
REACHES = COMPILES | {"globals", "locals", "vars", "setattr", "delattr", "__import__", "__dict__", "__globals__", "pytestmark", "__unittest_skip__"}


class Skips:
    """What the source of test code says of its skips."""

    def __init__(self, sources, taken):
        """The tests are in the last of `sources`. `taken` are names that the tests' module has or the program may have: a builtin of that
        name is not what it seems."""
        self.taken = taken
        trees = [ast.parse(source) for source in sources]
        statements = [node for tree in trees for node in tree.body]
        self.nodes, self.order = [], {}  # of each name that is read: how far into the file its statement begins
        for place, statement in enumerate(statements):
            for node in ast.walk(statement):
                if not isinstance(node, (ast.Constant, ast.expr_context)):
                    self.nodes.append(node)
                    if isinstance(node, ast.Name):
                        self.order[id(node)] = place
        self.names_are_known = not any(map(reaches_names, self.nodes))
        self.bound = {}  # how often each name is bound, in any scope
        for name in filter(None, map(bound_by, self.nodes)):
            self.bound[name] = self.bound.get(name, 0) + 1
        self.globals = {name for node in self.nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        self.imports, self.values = {}, {}  # names of the module that mean one thing only
        self.note_imports(statements)
        self.note_values(statements)
        self.roots = self.roots_of_marks()
        self.loads = self.loads_by_root()
        self.closed = set(self.values)  # as far as nothing speaks against it yet
        while doubtful := {name for name in self.closed if not self.is_value_closed(name)}:
            self.closed -= doubtful
        self.functions, self.classes = {}, {}  # by qualified name: the only definition of that name
        self.note_definitions(trees[-1].body, "")
        self.statements = statements

    # What a file says.

    def note_imports(self, statements):
        at_module = {}
        for place, statement in enumerate(statements):
            # A module that may be missing is imported by `try`.
            for node in [statement, *(statement.body if isinstance(statement, ast.Try) else ())]:
                at_module[id(node)] = place
        paths = {}
        for node in self.nodes:
            for name, path in imported_by(node):
                paths.setdefault(name, []).append((path, node))
        for name, found in paths.items():
            places = [at_module[id(node)] for _, node in found if id(node) in at_module]
            if places and len({path for path, _ in found}) == 1 and self.bound.get(name) == len(found):
                self.imports[name] = found[0][0], min(places)

    def note_values(self, statements):
        for place, node in enumerate(statements):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if self.bound.get(name) == 1 and name not in self.globals:
                    self.values[name] = node.value, place

    def roots_of_marks(self):
        """Decorators, and what `pytestmark` is."""
        decorators = [decorator for node in self.nodes for decorator in getattr(node, "decorator_list", ())]
        return decorators + [node.value for node in self.nodes if is_assignment_of_marks(node)]

    def loads_by_root(self):
        """For each name, the marks and values that read it, the values with their names; None among them where something else does."""
        root_of = {}
        for name, root in [*((None, root) for root in self.roots), *((name, value) for name, (value, _) in self.values.items())]:
            for node in ast.walk(root):
                root_of[id(node)] = name, root
        loads = {}
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loads.setdefault(node.id, []).append(root_of.get(id(node)))
        return loads

    def note_definitions(self, body, prefix):
        """Functions and classes whose names are bound once in their scope, and there."""
        bound = {}
        for statement in body:
            for node in walk_scope(statement):
                for name in filter(None, [bound_by(node)]):
                    bound[name] = bound.get(name, 0) + 1
        for node in body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and bound.get(node.name) == 1 and node.name not in self.globals:
                (self.functions if isinstance(node, FUNCTIONS) else self.classes)[prefix + node.name] = node
            if isinstance(node, ast.ClassDef):
                self.note_definitions(node.body, prefix + node.name + ".")

    # What is closed.

    def is_value_closed(self, name):
        """Whether no program has a part in what a name of the module stands for. What can be changed must be in nobody's hands but those
        of closed marks and values."""
        value, _ = self.values[name]
        is_fixed = isinstance(value, ast.Constant) or self.mark_of(value) is not None
        return self.is_closed(value) and (is_fixed or all(map(self.is_reader_closed, self.loads.get(name, ()))))

    def is_reader_closed(self, reader):
        if reader is None:
            return False
        name, root = reader
        return (name is None or name in self.closed) and self.is_closed(root)

    def is_closed(self, node, local=frozenset()):
        """Whether no program has a part in the value of an expression that is evaluated as the file is read."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in local or self.is_name_closed(node)
        if isinstance(node, ast.Attribute):
            path = self.path_of(node)
            if path is not None:
                return self.is_allowed(path)
            return not node.attr.startswith("_") and self.is_closed(node.value, local)
        if isinstance(node, ast.Call):
            return all(self.is_closed(part, local) for part in (node.func, *node.args, *node.keywords))
        if isinstance(node, ast.Lambda):
            given = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            own = local | {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
            return all(self.is_closed(part, local) for part in given) and self.is_closed(node.body, own)
        if isinstance(node, COMPREHENSIONS):
            return self.is_comprehension_closed(node, local)
        if isinstance(node, COMPOUND):
            parts = (part for part in ast.iter_child_nodes(node) if not isinstance(part, NO_PART))
            return all(self.is_closed(part, local) for part in parts)
        return False

    def is_comprehension_closed(self, node, local):
        for each in node.generators:
            # What is iterated over is evaluated before its names are bound.
            if not self.is_closed(each.iter, local):
                return False
            local |= {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
            if not all(self.is_closed(part, local) for part in each.ifs):
                return False
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return all(self.is_closed(part, local) for part in elements)

    def is_name_closed(self, node):
        name, place = node.id, self.order[id(node)]
        if name in self.imports:
            path, bound_at = self.imports[name]
            return bound_at < place and self.is_allowed(path)
        if name in self.values:
            return self.values[name][1] < place and name in self.closed
        return name in PLAIN and name not in self.bound and name not in self.taken

    def is_allowed(self, path):
        if not self.names_are_known:
            return False
        if path.partition(".")[0] in VALUES:
            return "._" not in path
        return any(path == known or path.startswith(known + ".") for known in (*FACTS, *MARKS))

    def path_of(self, node):
        """The place in a module that an expression names, where the name is bound by then."""
        if isinstance(node, ast.Name) and node.id in self.imports:
            path, bound_at = self.imports[node.id]
            return path if bound_at < self.order[id(node)] else None
        if isinstance(node, ast.Attribute):
            path = self.path_of(node.value)
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
        return path if path is not None and path.startswith(MARKS) else None

    def marks_in(self, node):
        """The marks that a mark or a list of marks is; None where the source does not show them."""
        if isinstance(node, (ast.List, ast.Tuple)):
            marks = list(map(self.mark_of, node.elts))
        else:
            marks = [self.mark_of(node)]
        return None if None in marks else marks

    # What that says of a test.

    def is_left_out(self, label, function, owner, by_mark, module_marks):
        """Whether a test that was skipped is skipped for every program; `by_mark` says that a mark has done it, before it ran. `owner` is
        its class, `module_marks` the module's `pytestmark`."""
        path = label.partition("[")[0].split(".")
        classes = [] if owner is None else [base for base in inspect.getmro(owner) if not is_library(base.__module__)]
        definition, shown = self.definition_of(function, path[-1]), [self.class_shown(base) for base in classes]
        if definition is None or owner is not None and path[-2] != owner.__qualname__.rpartition(".")[2] or None in shown:
            return False
        if self.begins_with_skip(definition):
            return True
        if not by_mark:
            return False
        own = function.__func__ if type(function) is types.MethodType else function
        if self.has_shown_marks(own, definition) and any(map(self.is_skip, definition.decorator_list)):
            return True
        # What a class inherits it may have replaced.
        if not all(map(self.has_shown_marks, classes, shown)):
            return False
        if any(map(self.is_class_skipped, shown)):
            return True
        are_closed = self.is_module_closed(module_marks) and self.has_shown_marks(own, definition)
        return are_closed and all(map(self.is_definition_closed, [definition, *shown]))

    def definition_of(self, function, name):
        """The `def` that has made a function, which the tests have under the name that it has there."""
        found = function.__func__ if type(function) is types.MethodType else function
        # unittest puts a function of its own around one that it skips.
        while type(found) is types.FunctionType and found.__code__.co_filename == UNITTEST and hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        if type(found) is not types.FunctionType or found.__code__.co_filename != FILE_OF_TESTS:
            return None
        node = self.functions.get(found.__qualname__)
        return node if node is not None and node.name == name and first_line(node) == found.__code__.co_firstlineno else None

    def class_shown(self, owner):
        """The `class` that has made a class, whose bases are what they are called there."""
        node = self.classes.get(owner.__qualname__)
        if node is None or vars(owner).get("__firstlineno__", first_line(node)) != first_line(node) or node.keywords:
            return None
        return node if all(map(self.is_base_shown, node.bases)) else None

    def is_base_shown(self, node):
        if isinstance(node, ast.Name) and node.id in self.classes:
            return True
        path = self.path_of(node) or (node.id if isinstance(node, ast.Name) and self.is_name_closed(node) else None)
        return path is not None and is_library(path.partition(".")[0] if "." in path else "builtins")

    def has_shown_marks(self, found, node):
        """Whether a function or class has the marks that stand in its definition, and no others."""
        shown = [mark for mark in map(self.mark_of, reversed(node.decorator_list)) if mark is not None]
        has_skip = any(mark in UNITTEST_SKIPS for mark in shown)
        shown = [mark for mark in shown if mark.startswith("pytest.mark.")]
        if isinstance(node, ast.ClassDef):
            marks = self.assigned_marks(node.body)
            if marks is None:
                return False
            shown = marks + shown
        own = vars(found)
        if "__unittest_skip__" in own and not has_skip:
            return False
        there = own.get("pytestmark", [])
        there = there if type(there) in (list, tuple) else [there]
        return ["pytest.mark." + str(getattr(mark, "name", None)) for mark in there] == shown

    def assigned_marks(self, body):
        """What the `pytestmark` of a class or module is, where it stands in its body once and is shown."""
        own = [node for node in body if is_assignment_of_marks(node)]
        below = [node for statement in body for node in walk_scope(statement) if bound_by(node) in ("pytestmark", "__unittest_skip__")]
        if len(below) != len(own) or len(own) > 1:
            return None
        return self.marks_in(own[0].value) if own else []

    def is_module_closed(self, module_marks):
        marks = self.assigned_marks(self.statements)
        if marks is None or "pytestmark" in self.globals or not all(self.is_closed(node.value) for node in self.statements if is_assignment_of_marks(node)):
            return False
        there = module_marks if type(module_marks) in (list, tuple) else [] if module_marks is None else [module_marks]
        return ["pytest.mark." + str(getattr(mark, "name", None)) for mark in there] == marks

    def is_definition_closed(self, node):
        """Whether no program has a part in the marks of a function or class."""
        body = node.body if isinstance(node, ast.ClassDef) else []
        marks = [statement.value for statement in body if is_assignment_of_marks(statement)]
        return all(map(self.is_closed, [*node.decorator_list, *marks]))

    def is_skip(self, node):
        """Whether an expression is a mark, or a list with a mark, that skips without a condition; or a list of no cases."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(map(self.is_skip, node.elts))
        mark = self.mark_of(node)
        if mark == "pytest.mark.parametrize" and isinstance(node, ast.Call):
            given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "argvalues")]
            return any(isinstance(values, (ast.List, ast.Tuple)) and not values.elts for values in given)
        return mark in SKIPS

    def is_class_skipped(self, node):
        assigned = [statement.value for statement in node.body if is_assignment_of_marks(statement)]
        return any(map(self.is_skip, [*node.decorator_list, *assigned]))

    def begins_with_skip(self, node):
        """Whether the first thing that a test does is to skip itself."""
        body = node.body[1:] if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else node.body
        first = body[0] if body else None
        if isinstance(first, ast.Raise) and first.exc is not None:
            raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
            return self.path_of(raised) in ("unittest.SkipTest", "unittest.case.SkipTest", "pytest.skip.Exception")
        if not (isinstance(first, (ast.Expr, ast.Return)) and isinstance(first.value, ast.Call)):
            return False
        called = first.value.func
        if isinstance(called, ast.Attribute) and called.attr == "skipTest":
            return bool(node.args.args) and isinstance(called.value, ast.Name) and called.value.id == node.args.args[0].arg
        return self.path_of(called) == "pytest.skip"


def first_line(node):
    """Where a definition begins: with its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def is_assignment_of_marks(node):
    return isinstance(node, ast.Assign) and [target.id for target in node.targets if isinstance(target, ast.Name)] == ["pytestmark"] and len(node.targets) == 1


def walk_scope(node):
    """The nodes of a statement that belong to the scope in which it stands."""
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)):
        for part in ast.iter_child_nodes(node):
            yield from walk_scope(part)


def reaches_names(node):
    """Whether code that compiles texts, or names things by their texts, may bind or change what is not named."""
    if isinstance(node, ast.Name):
        return node.id in REACHES - {"pytestmark"}
    return isinstance(node, ast.Attribute) and node.attr in REACHES - COMPILES


def imported_by(node):
    """Names that an import binds, with the places that they stand for."""
    if isinstance(node, ast.Import):
        first = lambda alias: alias.name.partition(".")[0]
        return [(alias.asname or first(alias), alias.name if alias.asname else first(alias)) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, "." * node.level + str(node.module) + "." + alias.name) for alias in node.names]
    return []


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
    named = (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    return node.name if isinstance(node, named) else None
