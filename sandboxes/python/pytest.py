"""The part of pytest that tests in public sets use, for an image without pytest: raises, approx, fixture, fail, skip, param,
mark.parametrize, mark.skip and mark.skipif. What is here behaves as in pytest 9; `tests/tests/verifier/pytest_cases.py` compares
the two. A test that asks for anything else of pytest's cannot be judged.
"""

import builtins
import collections.abc
import contextlib
import datetime
import decimal
import enum
import inspect
import itertools
import math
import numbers
import re
import sys
import types
import typing


class Unsupported(BaseException):
    """Tests ask for what this pytest does not have. No fault of the program: such tests cannot be judged, whatever they do
    about it."""

    def __init__(self, why):
        super().__init__(why)
        unsupported.append(why)


unsupported = []  # why, for each time since the test under way began
in_tests = False  # whether tests run here: to a program it is a module like any other
HERE = "it knows raises, approx, fixture, fail, skip, param, and the marks parametrize, skip and skipif"


def __getattr__(name):
    if name.startswith("__") or not in_tests:
        raise AttributeError("this image's pytest has no `" + name + "`")
    raise Unsupported("this image's pytest has no `" + name + "`: " + HERE)


# Outcomes.


class Outcome(BaseException):
    """Ends a test. An `except Exception` of the test's own does not catch it."""

    def __init__(self, msg=None, pytrace=True):
        if not (msg is None or isinstance(msg, str)):
            raise TypeError(type(self).__name__ + " expected a string, got " + type(msg).__name__)
        super().__init__(msg)
        self.msg, self.pytrace = msg, pytrace

    def __str__(self):
        return "" if self.msg is None else self.msg


class Failed(Outcome):
    pass


class Skipped(Outcome):
    def __init__(self, msg=None, pytrace=True, allow_module_level=False):
        super().__init__(msg, pytrace)
        self.allow_module_level = allow_module_level


def fail(reason="", pytrace=True):
    raise Failed(reason, pytrace)


def skip(reason="", allow_module_level=False):
    raise Skipped(reason, allow_module_level=allow_module_level)


fail.Exception, skip.Exception = Failed, Skipped


# Exceptions.


def raises(expected_exception=None, func=None, *args, **kwargs):
    """`with raises(ValueError, match="…", check=…)`, or `raises(ValueError, function, …)`."""
    if func is None and not args:
        return RaisesExc(expected_exception, **kwargs)
    if not expected_exception:
        raise ValueError("expected an exception type or a tuple of them, got " + repr(expected_exception))
    if not callable(func):
        raise TypeError(repr(func) + " must be callable")
    with RaisesExc(expected_exception) as info:
        func(*args, **kwargs)
    return info


raises.Exception = Failed


def exception_type(found):
    if isinstance(found, type) and issubclass(found, BaseException):
        return found
    origin = typing.get_origin(found)
    if origin in (ExceptionGroup, BaseExceptionGroup):
        any_inner = Exception if origin is ExceptionGroup else BaseException
        if typing.get_args(found)[0] in (any_inner, typing.Any):
            return origin
        raise ValueError("of generic types only `ExceptionGroup[Exception]` and `BaseExceptionGroup[BaseException]` are accepted")
    if isinstance(found, type):
        raise ValueError("expected a BaseException type, but got " + repr(found.__name__))
    raise TypeError("expected a BaseException type, but got " + repr(type(found).__name__))


def text_with_notes(error, is_group_bare):
    text = error.message if is_group_bare and isinstance(error, BaseExceptionGroup) else str(error)
    return "\n".join([text, *getattr(error, "__notes__", [])])


class RaisesExc:
    """What an exception must be: of a type, with a text that matches, and with what `check` says yes to."""

    def __init__(self, expected_exception=None, /, *, match=None, check=None):
        expected = expected_exception if isinstance(expected_exception, tuple) else (expected_exception,)
        expected = () if expected_exception is None else expected
        if not expected and match is None and check is None:
            raise ValueError("you must specify at least one parameter to match on")
        self.expected_exceptions = tuple(map(exception_type, expected))
        if isinstance(match, str):
            try:
                match = re.compile(match)
            except re.error as error:
                fail("invalid pattern in `match`: " + str(error))
        self.match, self.check, self.fail_reason = match, check, None

    def has_type(self, error):
        return not self.expected_exceptions or isinstance(error, self.expected_exceptions)

    def matches(self, exception):
        self.fail_reason = None
        if exception is None:
            self.fail_reason = "exception is None"
        elif not self.has_type(exception):
            self.fail_reason = "`" + type(exception).__name__ + "` is not what is expected"
        elif self.match is not None and not re.search(self.match, text_with_notes(exception, True)):
            self.fail_reason = "`" + str(self.match) + "` does not match `" + text_with_notes(exception, True) + "`"
        elif self.check is not None and not self.check(exception):
            self.fail_reason = "check did not return True"
        return self.fail_reason is None

    def __enter__(self):
        self.excinfo = ExceptionInfo()
        return self.excinfo

    def __exit__(self, kind, error, traceback):
        if kind is None:
            names = " or ".join(expected.__name__ for expected in self.expected_exceptions)
            fail("DID NOT RAISE " + (names or "any exception"))
        if not self.has_type(error):
            return False
        if not self.matches(error):
            raise AssertionError(self.fail_reason) from None
        self.excinfo._found = kind, error, traceback
        return True


class ExceptionInfo:
    """The exception that `raises` has caught."""

    _found = None

    def _part(self, index, name):
        if self._found is None:
            raise AssertionError("." + name + " can only be used after the context manager exits")
        return self._found[index]

    type = property(lambda self: self._part(0, "type"))
    value = property(lambda self: self._part(1, "value"))
    tb = property(lambda self: self._part(2, "tb"))
    typename = property(lambda self: self._part(0, "typename").__name__)

    def match(self, regexp):
        text = text_with_notes(self.value, False)
        if not re.search(regexp, text):
            raise AssertionError("`" + str(regexp) + "` does not match `" + text + "`")
        return True

    def errisinstance(self, exc):
        return isinstance(self.value, exc)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise Unsupported("this image's pytest has no `ExceptionInfo." + name + "`")

    def __repr__(self):
        if self._found is None:
            return "<ExceptionInfo for raises contextmanager>"
        entries, traceback = 0, self.tb
        while traceback is not None:
            entries, traceback = entries + 1, traceback.tb_next
        return "<ExceptionInfo " + repr(self.value) + " tblen=" + str(entries) + ">"


# Approximate equality.


def approx(expected, rel=None, abs=None, nan_ok=False):
    """Equal within max(rel · |expected|, abs); rel is 1e-6 and abs 1e-12 when left out, as pytest documents."""
    if isinstance(expected, decimal.Decimal):
        kind = ApproxDecimal
    elif isinstance(expected, collections.abc.Mapping):
        kind = ApproxMapping
    elif (array := numpy_array(expected)) is not None:
        kind, expected = ApproxNumpy, array
    elif is_sequence(expected):
        kind = ApproxSequence
    elif isinstance(expected, collections.abc.Collection) and not isinstance(expected, (str, bytes)):
        raise TypeError("pytest.approx() only supports ordered sequences, but got: " + repr(expected))
    else:
        return approx_scalar(expected, rel, abs, nan_ok)
    return kind(expected, rel, abs, nan_ok)


def approx_scalar(expected, rel, abs, nan_ok):
    if isinstance(expected, decimal.Decimal):
        return ApproxDecimal(expected, rel, abs, nan_ok)
    if isinstance(expected, (datetime.datetime, datetime.timedelta)):
        return ApproxTime(expected, rel, abs, nan_ok)
    return ApproxScalar(expected, rel, abs, nan_ok)


def is_sequence(found):
    sized = hasattr(found, "__getitem__") and isinstance(found, collections.abc.Sized)
    return sized and not isinstance(found, (str, bytes))


def is_nested(found):
    return isinstance(found, collections.abc.Collection) and not isinstance(found, (str, bytes, bytearray))


def numpy_array(found):
    """What can be taken for an array, as one; None for all else, and where nobody has imported numpy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or numpy.isscalar(found):
        return None
    if isinstance(found, numpy.ndarray):
        return found
    return numpy.asarray(found) if hasattr(found, "__array__") or hasattr(found, "__array_interface__") else None


def is_bool(found):
    numpy = sys.modules.get("numpy")
    return isinstance(found, bool) or numpy is not None and isinstance(found, numpy.bool_)


def is_nan(found):
    return found.is_nan() if isinstance(found, decimal.Decimal) else math.isnan(found)


def is_infinite(found):
    return found.is_infinite() if isinstance(found, decimal.Decimal) else math.isinf(found)


class Approx:
    __hash__ = None
    # numpy leaves a comparison to this class.
    __array_ufunc__, __array_priority__ = None, 100

    def __init__(self, expected, rel, abs, nan_ok):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def part(self, expected):
        return approx_scalar(expected, self.rel, self.abs, self.nan_ok)

    def __eq__(self, actual):
        return all(found == self.part(expected) for found, expected in self.pairs(actual))

    def __bool__(self):
        raise AssertionError("approx() is not supported in a boolean context. Did you mean: `assert a == approx(b)`?")


class ApproxMapping(Approx):
    def __init__(self, expected, rel, abs, nan_ok):
        for key, value in expected.items():
            if is_nested(value):
                raise TypeError("pytest.approx() does not support nested dictionaries: key=" + repr(key))
        super().__init__(expected, rel, abs, nan_ok)

    def __eq__(self, actual):
        try:
            if set(actual.keys()) != set(self.expected.keys()):
                return False
        except AttributeError:
            return False
        return super().__eq__(actual)

    def pairs(self, actual):
        return ((actual[key], value) for key, value in self.expected.items())

    def __repr__(self):
        return "approx(" + repr({key: self.part(value) for key, value in self.expected.items()}) + ")"


class ApproxSequence(Approx):
    def __init__(self, expected, rel, abs, nan_ok):
        for index, value in enumerate(expected):
            if is_nested(value):
                raise TypeError("pytest.approx() does not support nested data structures: at index " + str(index))
        super().__init__(expected, rel, abs, nan_ok)

    def __eq__(self, actual):
        try:
            if len(actual) != len(self.expected):
                return False
        except TypeError:
            return False
        return super().__eq__(actual)

    def pairs(self, actual):
        return zip(actual, self.expected, strict=True)

    def __repr__(self):
        kind = type(self.expected) if type(self.expected) in (list, tuple) else list
        return "approx(" + repr(kind(map(self.part, self.expected))) + ")"


class ApproxNumpy(Approx):
    """Against a scalar, too, each item is compared."""

    def __eq__(self, actual):
        numpy = sys.modules["numpy"]
        if not numpy.isscalar(actual):
            try:
                actual = numpy.asarray(actual)
            except Exception as error:
                raise TypeError("cannot compare `" + str(actual) + "` to numpy.ndarray") from error
            if actual.shape != self.expected.shape:
                return False
        return super().__eq__(actual)

    def pairs(self, actual):
        numpy = sys.modules["numpy"]
        unboxed = lambda found: found.item() if hasattr(found, "item") else found
        for place in numpy.ndindex(self.expected.shape):
            yield actual if numpy.isscalar(actual) else unboxed(actual[place]), unboxed(self.expected[place])

    def __repr__(self):
        def shown(found):
            return list(map(shown, found)) if isinstance(found, list) else self.part(found)

        return "approx(" + repr(shown(self.expected.tolist())) + ")"


class ApproxScalar(Approx):
    default_rel, default_abs = 1e-6, 1e-12

    def __init__(self, expected, rel, abs, nan_ok):
        for name, tolerance in (("relative", rel), ("absolute", abs)):
            if tolerance is not None and not isinstance(tolerance, (int, float, decimal.Decimal)):
                raise TypeError(name + " tolerance must be an int, float or Decimal, got " + type(tolerance).__name__)
        if rel is not None and not isinstance(expected, typing.SupportsAbs):
            raise TypeError("expected value must support abs(...) when relative tolerance is used")
        super().__init__(expected, rel, abs, nan_ok)

    def __eq__(self, actual):
        array = numpy_array(actual)
        if array is not None:
            return all(map(self.__eq__, array.flat))
        expected = self.expected
        if is_bool(expected) and not is_bool(actual):
            return False
        if actual == expected:
            return True
        number = numbers.Complex, decimal.Decimal
        if is_bool(expected) or not (isinstance(expected, number) and isinstance(actual, number)):
            return False
        if is_nan(builtins.abs(expected)):
            return self.nan_ok and is_nan(builtins.abs(actual))
        if is_infinite(builtins.abs(expected)):
            return False
        return bool(builtins.abs(expected - actual) <= self.tolerance)

    @property
    def tolerance(self):
        absolute = checked_tolerance("absolute", self.default_abs if self.abs is None else self.abs)
        if self.rel is None and self.abs is not None:
            return absolute
        relative = (self.default_rel if self.rel is None else self.rel) * builtins.abs(self.expected)
        return max(checked_tolerance("relative", relative), absolute)

    def __repr__(self):
        expected = self.expected
        is_number = isinstance(expected, (numbers.Complex, decimal.Decimal)) and not is_bool(expected)
        if not is_number or is_infinite(builtins.abs(expected)):
            return str(expected)
        try:
            tolerance = self.tolerance
        except ValueError:
            return str(expected) + " ± ???"
        plain = not isinstance(tolerance, decimal.Decimal) and 1e-3 <= tolerance < 1e3
        around = isinstance(expected, numbers.Complex) and expected.imag and not is_infinite(tolerance)
        return str(expected) + " ± " + format(tolerance, "n" if plain else ".1e") + (" ∠ ±180°" if around else "")


def checked_tolerance(name, tolerance):
    if is_nan(tolerance):
        raise ValueError(name + " tolerance can't be NaN.")
    if tolerance < 0:
        raise ValueError(name + " tolerance can't be negative: " + str(tolerance))
    return tolerance


class ApproxDecimal(ApproxScalar):
    default_rel, default_abs = decimal.Decimal("1e-6"), decimal.Decimal("1e-12")

    def __init__(self, expected, rel, abs, nan_ok):
        exact = lambda found: decimal.Decimal.from_float(found) if isinstance(found, (int, float)) else found
        super().__init__(expected, exact(rel), exact(abs), nan_ok)


class ApproxTime(Approx):
    """A datetime or timedelta, within an `abs` that is a timedelta; a timedelta within a part of itself, too."""

    def __init__(self, expected, rel, abs, nan_ok):
        if isinstance(expected, datetime.datetime) and rel is not None:
            raise TypeError("pytest.approx() does not support relative tolerance for datetime comparisons")
        if nan_ok:
            raise TypeError("pytest.approx() does not support nan_ok for datetime and timedelta comparisons")
        if abs is None and rel is None:
            raise TypeError("pytest.approx() requires an explicit tolerance for datetime and timedelta comparisons")
        if abs is not None and not isinstance(abs, datetime.timedelta):
            raise TypeError("absolute tolerance for datetime and timedelta must be a timedelta, got " + type(abs).__name__)
        if abs is not None and abs < datetime.timedelta(0):
            raise ValueError("absolute tolerance can't be negative: " + str(abs))
        tolerances = [] if abs is None else [abs]
        if rel is not None:
            if not isinstance(rel, (int, float)):
                raise TypeError("relative tolerance for timedelta must be a number, got " + type(rel).__name__)
            if is_infinite(checked_tolerance("relative", rel)):
                raise ValueError("relative tolerance can't be infinite.")
            tolerances.append(rel * builtins.abs(expected))
        super().__init__(expected, rel, max(tolerances), False)

    def __eq__(self, actual):
        try:
            return bool(builtins.abs(self.expected - actual) <= self.abs)
        except (TypeError, OverflowError):
            return False

    def __repr__(self):
        return str(self.expected) + " ± " + str(self.abs)


# Marks.


class MarkDecorator:
    """`mark.name(…)`: marks the function or class it is called with, and else takes more arguments."""

    def __init__(self, name, args=(), kwargs={}):
        self.name, self.args, self.kwargs = name, args, kwargs

    def __call__(self, *args, **kwargs):
        found = args[0] if args else None
        target = found.__func__ if type(found) in (staticmethod, classmethod) else found
        if len(args) != 1 or kwargs or not is_markable(target):
            return self.with_args(*args, **kwargs)
        if type(found) is FixtureDefinition:
            fail("marks cannot be applied to fixtures")
        own = vars(target).get("pytestmark", []) if isinstance(target, type) else getattr(target, "pytestmark", [])
        target.pytestmark = [*as_marks(own), self]
        if self.name == "skip":
            # For cases of unittest.
            target.__unittest_skip__, target.__unittest_skip_why__ = True, skip_reason([self])
        return found

    def with_args(self, *args, **kwargs):
        return MarkDecorator(self.name, (*self.args, *args), {**self.kwargs, **kwargs})


def is_markable(found):
    return isinstance(found, type) or callable(found) and getattr(found, "__name__", "<lambda>") != "<lambda>"


class MarkGenerator:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError("marker name must not start with an underscore")
        if name not in ("parametrize", "skip", "skipif"):
            raise Unsupported("this image's pytest has no mark `" + name + "`: " + HERE)
        return MarkDecorator(name)


mark = MarkGenerator()


def as_marks(found):
    marks = list(found) if isinstance(found, (list, tuple)) else [found]
    if not all(type(each) is MarkDecorator for each in marks):
        raise TypeError("got " + repr(found) + " instead of a mark")
    return marks


def marks_of(found):
    """The marks of a function, of a class and those it is derived from, or of a module."""
    if not isinstance(found, type):
        return as_marks(getattr(found, "pytestmark", []))
    return [each for base in reversed(found.__mro__) for each in as_marks(vars(base).get("pytestmark", []))]


def skip_marked(marks):
    """Ends a test that the marks skip."""
    why = skip_reason(marks)
    if why is not None:
        raise Skipped(why)


def skip_reason(marks):
    """Why the marks skip a test; None where they do not."""
    for each in marks:
        if each.name == "skipif" and (reason := skipif_reason(*each.args, **each.kwargs)) is not None:
            return reason
    for each in marks:
        if each.name == "skip":
            return unconditional_reason(*each.args, **each.kwargs)
    return None


def unconditional_reason(reason="unconditional skip"):
    return reason


def skipif_reason(*conditions, condition=None, reason=None):
    for each in conditions if condition is None else (condition,):
        if isinstance(each, str):
            raise Unsupported("this image's pytest does not evaluate the text of a `skipif`")
        applies = bool(each)
        if reason is None:
            fail("you need to specify reason=STRING when using booleans as conditions")
        if applies:
            return reason
    return None if conditions or condition is not None else reason or ""


class ParameterSet(typing.NamedTuple):
    values: tuple
    marks: list
    id: object


def param(*values, marks=(), id=None):
    if not (id is None or isinstance(id, str)):
        raise TypeError("expected id to be a string, got " + repr(id))
    return ParameterSet(values, as_marks(marks), id)


SCOPES = ("function", "class", "module", "package", "session")
FUNCTION, CLASS, MODULE, _, SESSION = range(5)


def parametrize(argnames, argvalues, indirect=False, ids=None, scope=None):
    """The names, and a `ParameterSet` for each case."""
    is_single = False
    if isinstance(argnames, str):
        is_tuple = argnames.rstrip().endswith(",")
        argnames = [name.strip() for name in argnames.split(",") if name.strip()]
        is_single = len(argnames) == 1 and not is_tuple
    if indirect:
        raise Unsupported("this image's pytest does not know `indirect`")
    if "request" in argnames:
        fail("'request' is a reserved name")
    if not (scope is None or scope in SCOPES):
        fail("an unexpected scope value " + repr(scope))
    if scope not in (None, "function"):
        raise Unsupported("this image's pytest does not order tests by the `scope` of their parameters")
    rows = []
    for values in argvalues:
        row = values if type(values) is ParameterSet else ParameterSet((values,) if is_single else values, [], None)
        try:
            count = len(row.values)
        except TypeError:
            fail("expected a sequence of values, got " + type(row.values).__name__)
        if count != len(argnames):
            fail("the number of names (" + str(len(argnames)) + ") must be the number of values (" + str(count) + ")")
        rows.append(row)
    if not rows:
        why = "got empty parameter set for (" + ", ".join(argnames) + ")"
        rows = [ParameterSet([None] * len(argnames), [MarkDecorator("skip", (why,))], None)]
    if ids is not None and not callable(ids):
        is_sized = isinstance(ids, collections.abc.Sized)
        given = list(ids) if is_sized else list(itertools.islice(ids, len(rows)))
        if is_sized and given and len(given) != len(rows):
            fail(str(len(rows)) + " parameter sets specified, with different number of ids: " + str(len(given)))
        if not all(is_id(each) for row, each in zip(rows, given) if row.id is None):
            fail("ids contains what names nothing")
    if callable(ids):
        for row in rows:
            for value in row.values if row.id is None else ():
                ids(value)
    return list(argnames), rows


def is_id(found):
    """Whether pytest can make a name of it."""
    is_plain = found is None or isinstance(found, (str, bytes, int, float, complex, re.Pattern, enum.Enum))
    return is_plain or isinstance(getattr(found, "__name__", None), str)


def cases_of(wanted, marks, names):
    """(label, arguments, marks) of each run of a test that takes the arguments `wanted`; `names` are what its module defines."""
    cases, seen, known = [({}, [])], [], fixtures_in(names)
    for each in marks:
        if each.name != "parametrize":
            continue
        argnames, rows = parametrize(*each.args, **each.kwargs)
        for name in argnames:
            if name in seen:
                fail("duplicate parametrization of " + repr(name))
            seen.append(name)
        parametrized = [(dict(zip(argnames, row.values)), list(row.marks)) for row in rows]
        cases = [({**case, **row}, own + more) for case, own in cases for row, more in parametrized]
    used = needed_names(wanted, seen, known)
    for name in seen:
        if name not in used:
            fail("the test uses no argument " + repr(name))
    if not seen:
        return [("", {}, list(marks))]
    return [("[" + str(index) + "]", case, own + list(marks)) for index, (case, own) in enumerate(cases)]


# Fixtures.


def fixture(fixture_function=None, *, scope="function", params=None, autouse=False, ids=None, name=None):
    if isinstance(scope, str) and scope not in SCOPES:
        fail("a fixture of an unexpected scope value " + repr(scope))
    if scope not in ("function", "module", "package", "session") or params is not None or autouse or ids is not None:
        raise Unsupported("this image's pytest knows of a fixture `name`, and `scope` for a function, a module or a session")

    def define(function):
        if isinstance(function, type):
            raise ValueError("class fixtures not supported")
        if type(function) is FixtureDefinition:
            raise ValueError("@pytest.fixture is being applied more than once to the same function")
        if hasattr(function, "pytestmark"):
            fail("marks cannot be applied to fixtures")
        if (name or function.__name__) == "request":
            fail("'request' is a reserved word for fixtures")
        return FixtureDefinition(function, name or function.__name__, scope)

    return define(fixture_function) if fixture_function else define


class FixtureDefinition:
    """A function that tests ask for by its name, and that nobody calls by it."""

    in_class = False

    def __init__(self, function, name, scope):
        self.function, self.name, self.__name__ = function, name, name
        self.scope, self.is_shared = SCOPES.index(scope), scope != "function"

    def __set_name__(self, _owner, _name):
        self.in_class = True

    def __call__(self, *_, **__):
        fail("fixture " + repr(self.name) + " called directly")


# Fixtures that all tests share: what each gave, and those that are to be ended.
shared_fixtures, open_shared_fixtures = {}, []


def end_shared_fixtures(scope):
    """Those of `scope` and of narrower ones, the last first."""
    with contextlib.ExitStack() as stack:
        for index, (own, generator) in enumerate(open_shared_fixtures):
            if own <= scope:
                stack.callback(end_fixture, generator)
                open_shared_fixtures[index] = SESSION + 1, None


def end_fixture(generator):
    for _ in generator:
        fail("fixture function has more than one 'yield'")


def fixtures_in(names):
    # By `type()`: asking a function of the program for its class is a question to the program. Of two of one name the last counts, in
    # the order of the names that they are bound to.
    return {names[key].name: names[key] for key in sorted(names) if type(names[key]) is FixtureDefinition}


# Annotations are left as text: they may name what is nowhere, or the program's.
SIGNATURE = {"annotation_format": inspect.Format.STRING} if hasattr(inspect, "Format") else {}


def parameters_of(function):
    return inspect.signature(function, **SIGNATURE).parameters.values()


def argument_names(function):
    """The arguments that a test or fixture must be given."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each.name for each in parameters_of(function) if each.kind in named and each.default is each.empty]


def method_argument_names(owner, name):
    function = getattr(owner, name)
    names = argument_names(function)
    is_bound = type(function) is types.MethodType or isinstance(inspect.getattr_static(owner, name), staticmethod)
    positional = any(each.kind is each.POSITIONAL_ONLY for each in parameters_of(function))
    return names if is_bound or positional else names[1:]


def needed_names(wanted, given, known):
    """The names that a test needs, itself or for its fixtures, in the order in which they are made: those of the widest scope first."""
    needed = dict.fromkeys(wanted)
    todo = list(needed)
    while todo:
        name = todo.pop(0)
        more = argument_names(known[name].function) if name in known and name not in given else []
        todo += [each for each in more if each not in needed]
        needed |= dict.fromkeys(more)
    return sorted(needed, key=lambda name: -known[name].scope if name in known and name not in given else 0)


def call_with_fixtures(function, start, wanted, arguments, names, around):
    """Calls a test with its parameters and fixtures, and ends the fixtures that are generators afterwards.

    `around` are the set-ups of its module and of its class, which run behind the fixtures of a wider scope; `start` is a generator
    function that runs around the test, before its own fixtures and behind their end.
    """
    known, made = fixtures_in(names), dict(arguments)

    def make(name):
        if name in made:
            return made[name]
        if name not in known or known[name].in_class:
            raise Unsupported("this image's pytest has no fixture `" + name + "`, and the tests define none outside a class")
        found = known[name]
        if found in shared_fixtures:
            return shared_fixtures[found]
        needs = argument_names(found.function)
        for need in needs:
            if found.is_shared and need in arguments:
                raise Unsupported("this image's pytest gives a parameter to no fixture that tests share")
            if need in known and known[need].scope < found.scope:
                fail("ScopeMismatch: " + repr(name) + " is for a " + SCOPES[found.scope] + ", and " + repr(need) + " for a " + SCOPES[known[need].scope])
        value = found.function(**{need: make(need) for need in needs})
        if inspect.isgeneratorfunction(found.function):
            if found.is_shared:
                open_shared_fixtures.append((found.scope, value))
            else:
                stack.callback(end_fixture, value)
            value = next(value, stack)
            if value is stack:
                raise ValueError("fixture " + repr(name) + " did not yield a value")
        (shared_fixtures if found.is_shared else made)[found if found.is_shared else name] = value
        return value

    scope_of = lambda name: known[name].scope if name in known and name not in arguments else FUNCTION
    needed = needed_names(wanted, arguments, known)
    with contextlib.ExitStack() as stack:
        for scope in reversed(range(len(SCOPES))):
            if scope == FUNCTION:
                running = start()
                stack.callback(end_fixture, running)
                next(running)
            for set_up in around[MODULE - scope:][:1] if CLASS <= scope <= MODULE else ():
                set_up()
            for name in needed:
                if scope_of(name) == scope:
                    make(name)
        return function(**{name: make(name) for name in wanted})
