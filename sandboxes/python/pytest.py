"""The part of pytest that tests in public sets use, for an image without pytest: raises, approx, fixture, fail, skip,
mark.parametrize and mark.skip. Whatever else is asked for is an AttributeError that says so.
"""

import inspect
import re
import types
import unittest


class Unsupported(BaseException):
    """Tests ask for what this pytest does not have. No fault of the program: such tests cannot be judged."""


in_tests = False  # whether tests run here: to a program it is a module like any other


def __getattr__(name):
    if name.startswith("__") or not in_tests:
        raise AttributeError("this image's pytest has no `" + name + "`")
    raise Unsupported("this image's pytest has no `" + name + "`: it knows raises, approx, fixture, fail, skip and mark")


class raises:
    """`with raises(ValueError, match="…")`, or `raises(ValueError, function, …)`."""

    def __new__(cls, expected, *call, match=None, **keywords):
        self = super().__new__(cls)
        self.expected, self.match, self.value, self.type = expected, match, None, None
        if not call:
            return self
        with self:
            call[0](*call[1:], **keywords)
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _traceback):
        if kind is None:
            raise AssertionError("did not raise " + repr(self.expected))
        if not issubclass(kind, self.expected):
            return False
        self.value, self.type = error, kind
        if self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError("`" + self.match + "` does not match `" + str(error) + "`") from None
        return True


class approx:
    """Equal within max(rel · |expected|, abs); rel is 1e-6 and abs 1e-12 when left out, as pytest documents."""

    __hash__ = None

    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual):
        return self.near(actual, self.expected)

    def near(self, actual, expected):
        if isinstance(expected, dict):
            return isinstance(actual, dict) and actual.keys() == expected.keys() and all(
                self.near(actual[key], value) for key, value in expected.items()
            )
        if isinstance(expected, (list, tuple)):
            same = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
            return same and all(map(self.near, actual, expected))
        if isinstance(expected, bool) or not isinstance(expected, (int, float, complex)):
            return actual == expected
        if isinstance(actual, bool) or not isinstance(actual, (int, float, complex)):
            return False
        if actual == expected:
            return True
        if expected != expected:
            return self.nan_ok and actual != actual
        if expected in (float("inf"), float("-inf")):
            return False
        absolute = 1e-12 if self.abs is None else self.abs
        relative = 1e-6 if self.rel is None and self.abs is None else self.rel or 0.0
        return builtin_abs(actual - expected) <= max(relative * builtin_abs(expected), absolute)

    def __repr__(self):
        return "approx(" + repr(self.expected) + ")"


builtin_abs = abs


def fail(reason=""):
    raise AssertionError(reason)


def skip(reason=""):
    raise unittest.SkipTest(reason)


def fixture(function=None, **options):
    scope = options.get("scope", "function")
    if options.keys() - {"scope", "name"} or scope not in SCOPES:
        raise Unsupported("this image's pytest knows of a fixture `name`, and `scope` for a function, a module or a session")

    def mark_it(found):
        found._fixture, found._is_shared = options.get("name", found.__name__), scope != "function"
        return found

    return mark_it if function is None else mark_it(function)


SCOPES = ("function", "module", "package", "session")
# Fixtures that all tests share: what each gave, and those that are to be ended.
shared_fixtures, open_shared_fixtures = {}, []


def end_shared_fixtures():
    while open_shared_fixtures:
        next(open_shared_fixtures.pop(), None)


class Marks(type):
    def __getattr__(cls, name):
        raise Unsupported("this image's pytest has no mark `" + name + "`: it knows parametrize and skip")


class mark(metaclass=Marks):
    @staticmethod
    def parametrize(names, values, ids=None):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def add(function):
            rows = [dict(zip(names, row if len(names) > 1 else (row,), strict=True)) for row in values]
            function._cases = [{**row, **case} for case in getattr(function, "_cases", [{}]) for row in rows]
            return function

        return add

    @staticmethod
    def skip(function=None, reason=""):
        def add(found):
            found._skip = reason or "skipped"
            return found

        return add if function is None else add(function)


def cases_of(function):
    """(label, arguments) of each run of a test."""
    cases = getattr(function, "_cases", None)
    return [("", {})] if cases is None else [("[" + str(index) + "]", case) for index, case in enumerate(cases)]


def call_with_fixtures(function, wanted, arguments, names):
    """Calls a test with its parameters and fixtures, and ends the fixtures that are generators afterwards."""
    if getattr(function, "_skip", None):
        raise unittest.SkipTest(function._skip)
    # By `type()`: asking a function of the program for its class is a question to the program.
    functions = [found for found in names.values() if type(found) is types.FunctionType]
    known = {found._fixture: found for found in functions if hasattr(found, "_fixture")}
    open_fixtures, made = [], dict(arguments)

    def make(name):
        if name in made:
            return made[name]
        if name not in known:
            raise Unsupported("this image's pytest has no fixture `" + name + "`, and the tests define none")
        function = known[name]
        if function in shared_fixtures:
            return shared_fixtures[function]
        value = function(**{need: make(need) for need in inspect.signature(function).parameters})
        if inspect.isgenerator(value):
            (open_shared_fixtures if function._is_shared else open_fixtures).append(value)
            value = next(value)
        (shared_fixtures if function._is_shared else made)[function if function._is_shared else name] = value
        return value

    try:
        return function(**{name: make(name) for name in wanted})
    finally:
        for generator in reversed(open_fixtures):
            next(generator, None)
