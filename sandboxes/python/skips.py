"""Which tests of a file nobody runs, whatever the program is. A module of the image, used by the test runner.

A test that is skipped counts as one that did not pass, because the program may be what made it skip. One that is skipped for
every program would refuse every program. It is left out of the verdict where the source shows it in the plainest way:

- the test begins with `pytest.skip(…)` or `raise unittest.SkipTest(…)`; or
- among the marks of the test, of its class or of its case in `parametrize` is a skip without a condition, written out there.

What was run must also be what the source shows: the object that this `def` or `class` has made, under a name that is bound
nowhere else, with the marks that stand above it and no others, in a file that changes no marks. A test that a mark skips
otherwise, such as by a condition, is neither left out nor counted: it makes the tests unjudgeable.
"""

import ast
import inspect
import types
import unittest

from _veriplay_objects import COMPILES, is_library

FILE_OF_TESTS, UNITTEST = "<test>", unittest.skip.__code__.co_filename
SKIPS = ("pytest.mark.skip", "unittest.skip")
MARKS = ("pytest.mark.", "unittest.skip")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Words by which code may bind or change what the text does not name, or change a mark.
REACHES = COMPILES | {
    "globals", "locals", "vars", "getattr", "setattr", "delattr", "__import__", "__dict__", "__globals__", "f_globals", "__setattr__", "__delattr__",
    "modules", "update_wrapper", "pytestmark", "kwargs", "__unittest_skip__", "with_args",
}


class Skips:
    """What the source of test code says of its skips."""

    def __init__(self, sources):
        """The tests are in the last of `sources`."""
        trees = [ast.parse(source) for source in sources]
        nodes = [node for tree in trees for node in ast.walk(tree) if not isinstance(node, (ast.Constant, ast.expr_context))]
        self.marks_may_change = any(map(changes_marks, nodes))
        self.bound = {}  # how often each name is bound, in any scope
        for name in filter(None, map(bound_by, nodes)):
            self.bound[name] = self.bound.get(name, 0) + 1
        self.globals = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        self.imports = {}  # names of the module that mean one thing only: what, and in which line of the tests, from which on
        self.note_imports(trees, nodes)
        self.functions, self.classes = {}, {}  # by qualified name: the only definition of that name
        self.note_definitions(trees[-1].body, "")

    def note_imports(self, trees, nodes):
        first = {}
        for tree in trees:
            for node in tree.body:
                line = node.lineno if tree is trees[-1] else 0
                first.update((name, line) for name, _ in imported_by(node) if name not in first)
        paths = {}
        for node in nodes:
            for name, path in imported_by(node):
                paths.setdefault(name, []).append(path)
        for name, found in paths.items():
            if name in first and len(set(found)) == 1 and self.bound.get(name) == len(found) and name not in self.globals:
                self.imports[name] = found[0], first[name]

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

    def path_of(self, node):
        """The place in a module that an expression names, where the name is bound by then."""
        if isinstance(node, ast.Name) and node.id in self.imports:
            path, line = self.imports[node.id]
            return path if line < node.lineno else None
        if isinstance(node, ast.Attribute):
            path = self.path_of(node.value)
            return None if path is None else path + "." + node.attr
        return None

    def mark_of(self, node):
        """The mark that an expression is, as its place: `pytest.mark.skip`."""
        path = self.path_of(node.func if isinstance(node, ast.Call) else node)
        return path if path is not None and path.startswith(MARKS) else None

    # What that says of a test.

    def is_left_out(self, label, function, owner, by_mark):
        """Whether a test that was skipped is skipped for every program; `by_mark` says that a mark has done it, before it ran. `owner` is
        its class."""
        path, _, case = label.partition("[")
        path = path.split(".")
        classes = [] if owner is None else [base for base in inspect.getmro(owner) if not is_library(base.__module__)]
        definition, shown = self.definition_of(function, path[-1]), [self.class_shown(base) for base in classes]
        if self.marks_may_change or definition is None or None in shown or owner is not None and path[-2] != owner.__name__:
            return False
        if self.begins_with_skip(definition):
            return True
        own = function.__func__ if type(function) is types.MethodType else function
        if not by_mark or not all(map(self.has_shown_marks, [own, *classes], [definition, *shown])):
            return False
        marks = [decorator for node in (definition, *shown) for decorator in node.decorator_list]
        return any(self.mark_of(mark) in SKIPS for mark in marks) or self.is_case_skipped(definition, case.removesuffix("]"))

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
        if node is None or vars(owner).get("__firstlineno__") != first_line(node) or node.keywords:
            return None
        return node if all(map(self.is_base_shown, node.bases)) else None

    def is_base_shown(self, node):
        if isinstance(node, ast.Name) and (node.id in self.classes or node.id == "object" and node.id not in self.bound):
            return True
        path = self.path_of(node)
        return path is not None and is_library(path.partition(".")[0])

    def has_shown_marks(self, found, node):
        """Whether a function or class has the marks that stand in its definition, and no others, and nothing else decorates it."""
        shown = [self.mark_of(decorator) or self.method_kind(decorator) for decorator in reversed(node.decorator_list)]
        own = vars(found)
        there = own.get("pytestmark", [])
        there = there if type(there) in (list, tuple) else [there]
        return None not in shown and ["pytest.mark." + str(getattr(mark, "name", None)) for mark in there] == [
            mark for mark in shown if mark.startswith("pytest.mark.")
        ]

    def method_kind(self, node):
        return node.id if isinstance(node, ast.Name) and node.id in ("staticmethod", "classmethod") and node.id not in self.bound else None

    def is_case_skipped(self, definition, index):
        """Whether a case of the only `parametrize` of a test, written out there, is one that its `param` skips."""
        lists = [node for node in definition.decorator_list if isinstance(node, ast.Call) and self.mark_of(node) == "pytest.mark.parametrize"]
        if len(lists) != 1 or not index.isdecimal():
            return False
        given = [*lists[0].args[1:2], *(keyword.value for keyword in lists[0].keywords if keyword.arg == "argvalues")]
        if len(given) != 1 or not isinstance(given[0], (ast.List, ast.Tuple)) or any(isinstance(case, ast.Starred) for case in given[0].elts):
            return False
        if not given[0].elts:
            # A list of no cases is one case, which is skipped.
            return True
        case = given[0].elts[int(index)] if int(index) < len(given[0].elts) else None
        if not isinstance(case, ast.Call) or self.path_of(case.func) != "pytest.param":
            return False
        found = [keyword.value for keyword in case.keywords if keyword.arg == "marks"]
        marks = [mark for value in found for mark in (value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])]
        return any(self.mark_of(mark) in SKIPS for mark in marks)

    def begins_with_skip(self, node):
        """Whether the first thing that a test does is to skip itself."""
        body = node.body[1:] if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else node.body
        first = body[0] if body else None
        if isinstance(first, ast.Raise) and first.exc is not None:
            raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
            return self.path_of(raised) in ("unittest.SkipTest", "unittest.case.SkipTest", "pytest.skip.Exception")
        called = first.value.func if isinstance(first, (ast.Expr, ast.Return)) and isinstance(first.value, ast.Call) else None
        return called is not None and self.path_of(called) == "pytest.skip"


def first_line(node):
    """Where a definition begins: with its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def walk_scope(node):
    """The nodes of a statement that belong to the scope in which it stands."""
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
        for part in ast.iter_child_nodes(node):
            yield from walk_scope(part)


def changes_marks(node):
    """Whether code may bind or change what it does not name, or set an attribute of a function, a class, a mark or a module."""
    if isinstance(node, ast.Attribute):
        # What a test keeps in itself is no mark.
        is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return node.attr in REACHES - COMPILES or not isinstance(node.ctx, ast.Load) and not is_own
    return isinstance(node, ast.Name) and node.id in REACHES or isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Attribute)


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
