# What the image's pytest says of test code, and what pytest 9.2 says of it. `test_code.rs` runs every case.
#
# A case begins with `# ==`, its name and what becomes of it: `passed` and how many tests do, `failed` where at least one does not,
# `skipped` where none is run. `unjudgeable` are cases that pytest judges, and the image does not: it lacks what they ask for.
# == program
from collections import deque
from decimal import Decimal
from fractions import Fraction

def same(x):
    return x

def third():
    return Fraction(1, 3)

def tenth():
    return Decimal("1.0000000001")

def sort(xs):
    xs.sort()

def taken(xs):
    return xs.pop()

def queue():
    return deque([0.1 + 0.2])

def neg(x=-1):
    if x < 0:
        raise ValueError("neg", x)
    return x

def noted():
    error = KeyError("plain")
    error.add_note("hint: later")
    raise error

def group():
    raise ExceptionGroup("many", [ValueError("one"), TypeError("two")])

# == raises_as_context: passed 1
def test():
    with pytest.raises(ValueError):
        neg()
# == raises_nothing: failed
def test():
    with pytest.raises(ValueError):
        neg(1)
# == raises_another: failed
def test():
    with pytest.raises(KeyError):
        neg()
# == raises_a_subclass: passed 1
def test():
    with pytest.raises(LookupError):
        noted()
# == raises_one_of_a_tuple: passed 1
def test():
    with pytest.raises((TypeError, ValueError)):
        neg()
# == raises_by_keyword: passed 1
def test():
    with pytest.raises(expected_exception=ValueError):
        neg()
# == raises_calls: passed 1
def test():
    info = pytest.raises(ValueError, neg, -2)
    assert info.value.args == ("neg", -2)
# == raises_calls_with_keywords: passed 1
def test():
    pytest.raises(ValueError, neg, x=-2)
# == raises_calls_and_passes_match: failed
def test():
    pytest.raises(ValueError, neg, match="neg")
# == raises_calls_nothing: failed
def test():
    pytest.raises(ValueError, "neg()")
# == raises_match: passed 1
def test():
    with pytest.raises(ValueError, match="n.g"):
        neg()
# == raises_match_is_a_search: passed 1
def test():
    with pytest.raises(ValueError, match="-1"):
        neg()
# == raises_match_of_another: failed
def test():
    with pytest.raises(ValueError, match="positive"):
        neg()
# == raises_match_compiled: passed 1
import re
def test():
    with pytest.raises(ValueError, match=re.compile("NEG", re.IGNORECASE)):
        neg()
# == raises_match_of_a_note: passed 1
def test():
    with pytest.raises(KeyError, match="hint"):
        noted()
# == raises_match_across_notes: passed 1
def test():
    with pytest.raises(KeyError, match=r"^'plain'\nhint: later$"):
        noted()
# == raises_match_of_a_bad_pattern: failed
def test():
    with pytest.raises(ValueError, match="("):
        neg()
# == raises_match_alone: passed 1
def test():
    with pytest.raises(match="neg"):
        neg()
# == raises_check: passed 1
def test():
    with pytest.raises(ValueError, check=lambda error: error.args == ("neg", -1)):
        neg()
# == raises_check_that_refuses: failed
def test():
    with pytest.raises(ValueError, check=lambda error: error.args == ("neg",)):
        neg()
# == raises_check_alone: passed 1
def test():
    with pytest.raises(check=lambda error: type(error) is ValueError):
        neg()
# == raises_check_and_match: failed
def test():
    with pytest.raises(ValueError, match="neg", check=lambda error: False):
        neg()
# == raises_unknown_keyword: failed
def test():
    with pytest.raises(ValueError, message="neg"):
        neg()
# == raises_without_arguments: failed
def test():
    with pytest.raises():
        neg()
# == raises_no_type: failed
def test():
    with pytest.raises("ValueError"):
        neg()
# == raises_an_instance: failed
def test():
    with pytest.raises(ValueError()):
        neg()
# == raises_a_class_that_is_no_exception: failed
def test():
    with pytest.raises(int):
        neg()
# == raises_no_types: failed
def test():
    with pytest.raises(()):
        neg()
# == raises_failure_is_no_assertion: failed
def test():
    with pytest.raises(AssertionError):
        with pytest.raises(ValueError):
            neg(1)
# == raises_mismatch_is_an_assertion: passed 1
def test():
    with pytest.raises(AssertionError):
        with pytest.raises(ValueError, match="positive"):
            neg()
# == raises_failure_passes_handlers: failed
def test():
    try:
        with pytest.raises(ValueError):
            neg(1)
    except Exception:
        pass
# == raises_group: passed 1
def test():
    with pytest.raises(ExceptionGroup, match="^many$") as info:
        group()
    assert len(info.value.exceptions) == 2
# == raises_generic_group: passed 1
def test():
    with pytest.raises(ExceptionGroup[Exception]):
        group()
# == excinfo: passed 1
def test():
    with pytest.raises(ValueError) as info:
        neg()
    assert info.type is ValueError and info.typename == "ValueError"
    assert str(info.value) == "('neg', -1)" and info.tb is not None
    assert info.errisinstance(ValueError) and isinstance(info, pytest.ExceptionInfo)
# == excinfo_match: passed 1
def test():
    with pytest.raises(ValueError) as info:
        neg()
    assert info.match("neg") is True
# == excinfo_match_of_another: failed
def test():
    with pytest.raises(ValueError) as info:
        neg()
    info.match("positive")
# == excinfo_match_of_a_note: passed 1
def test():
    with pytest.raises(KeyError) as info:
        noted()
    info.match("hint")
# == excinfo_inside: failed
def test():
    with pytest.raises(ValueError) as info:
        assert info.value is None
        neg()
# == excinfo_of_another_name: failed
def test():
    with pytest.raises(ValueError) as info:
        neg()
    assert info._message == "neg"
# == excinfo_shown: passed 1
def test():
    with pytest.raises(ValueError) as info:
        neg()
    assert "ValueError('neg', -1)" in str(info)
# == excinfo_traceback: unjudgeable
def test():
    with pytest.raises(ValueError) as info:
        neg()
    assert len(info.traceback) > 0
# == fail: failed
def test():
    pytest.fail("no")
# == fail_passes_handlers: failed
def test():
    try:
        neg(1)
        pytest.fail("no error")
    except Exception:
        pass
# == fail_expected: passed 1
def test():
    with pytest.raises(pytest.fail.Exception, match="no"):
        pytest.fail(reason=same("no"), pytrace=False)
# == fail_by_another_keyword: passed 1
def test():
    with pytest.raises(TypeError):
        pytest.fail(msg=same("no"))
# == skip_now: skipped
def test():
    pytest.skip("not today")
# == skip_passes_handlers: skipped
def test():
    try:
        pytest.skip("not today")
    except Exception:
        pass
# == approx: passed 1
def test():
    assert same(0.1 + 0.2) == pytest.approx(0.3)
    assert pytest.approx(0.3) == same(0.1 + 0.2)
    assert same(0.31) != pytest.approx(0.3)
# == approx_far: failed
def test():
    assert same(0.3001) == pytest.approx(0.3)
# == approx_of_zero: passed 1
def test():
    assert same(1e-13) == pytest.approx(0.0) and same(1e-11) != pytest.approx(0.0)
# == approx_rel: passed 1
def test():
    assert same(1.1) == pytest.approx(1, rel=0.2) and same(1.1) == pytest.approx(1, 0.2)
    assert same(1.1) != pytest.approx(1, 0.05)
# == approx_abs_alone: passed 1
def test():
    assert same(1.1) == pytest.approx(1, abs=0.2)
    assert same(1e9 + 1) != pytest.approx(1e9, abs=0.5)
    assert same(1e9 + 1) == pytest.approx(1e9, rel=1e-6, abs=0.5)
# == approx_without_comparison: failed
def test():
    assert pytest.approx(same(2), 4)
# == approx_is_no_condition: failed
def test():
    assert not pytest.approx(same(2))
# == approx_true_of_one: failed
def test():
    assert same(1) == pytest.approx(True)
# == approx_true_of_true: passed 1
def test():
    assert same(True) == pytest.approx(True) and same(False) != pytest.approx(True)
# == approx_one_of_true: passed 1
def test():
    assert same(True) == pytest.approx(1.0)
# == approx_half_of_true: failed
def test():
    assert same(True) == pytest.approx(0.5)
# == approx_false_in_a_list: failed
def test():
    assert same([0]) == pytest.approx([False])
# == approx_list: passed 1
def test():
    assert same([0.1 + 0.2, 1]) == pytest.approx([0.3, 1])
    assert same([0.3]) != pytest.approx([0.3, 1])
# == approx_list_of_a_tuple: passed 1
def test():
    assert same((0.1 + 0.2,)) == pytest.approx([0.3])
# == approx_list_of_a_deque: passed 1
def test():
    assert queue() == pytest.approx([0.3])
# == approx_list_of_a_set: passed 1
def test():
    assert same({0.1 + 0.2}) == pytest.approx([0.3])
# == approx_list_of_a_number: passed 1
def test():
    assert same(0.3) != pytest.approx([0.3]) and same(None) != pytest.approx([0.3])
# == approx_string: passed 1
def test():
    assert same("a") == pytest.approx("a") and same("b") != pytest.approx("a")
    assert same(["a", None, 1.0000001]) == pytest.approx(["a", None, 1])
# == approx_none_of_zero: failed
def test():
    assert same(0) == pytest.approx(None)
# == approx_dict: passed 1
def test():
    assert same({"a": 0.1 + 0.2}) == pytest.approx({"a": 0.3})
    assert same({"b": 0.3}) != pytest.approx({"a": 0.3}) and same([0.3]) != pytest.approx({"a": 0.3})
# == approx_nested_list: failed
def test():
    assert same([[0.3]]) == pytest.approx([[0.3]])
# == approx_nested_dict: failed
def test():
    assert same({"a": [0.3]}) == pytest.approx({"a": [0.3]})
# == approx_nested_is_a_type_error: passed 1
def test():
    same(1)
    for nested in ([[1]], [(1,)], {"a": {}}, ({1},)):
        with pytest.raises(TypeError, match="nested"):
            pytest.approx(nested)
# == approx_set: failed
def test():
    assert same({0.3}) == pytest.approx({0.3})
# == approx_generator: failed
def test():
    assert same([0, 1]) == pytest.approx(float(n) for n in range(2))
# == approx_range: passed 1
def test():
    assert same([0.0, 1.0000001]) == pytest.approx(range(2))
# == approx_fraction: passed 1
def test():
    assert third() == pytest.approx(0.3333333333)
    assert third() == pytest.approx(third()) and third() != pytest.approx(0.333)
# == approx_decimal: passed 1
from decimal import Decimal
def test():
    assert tenth() == pytest.approx(Decimal(1)) and tenth() != pytest.approx(Decimal(2))
    assert [tenth()] == pytest.approx([Decimal(1)])
    assert tenth() != pytest.approx(Decimal(1), abs=Decimal("1e-15"))
    assert same(Decimal("1.1")) == pytest.approx(Decimal(1), rel=0.25)
# == approx_decimal_of_a_float: failed
from decimal import Decimal
def test():
    assert same(1.0000001) == pytest.approx(Decimal(1))
# == approx_float_of_a_decimal: failed
def test():
    assert tenth() == pytest.approx(1.0)
# == approx_complex: passed 1
def test():
    assert same(1j + 1e-8) == pytest.approx(1j) and same(1j + 1e-3) != pytest.approx(1j)
# == approx_infinity: passed 1
from math import inf
def test():
    assert same(inf) == pytest.approx(inf) and same(1e308) != pytest.approx(inf) and same(inf) != pytest.approx(-inf)
    assert same(inf) != pytest.approx(1.0)
# == approx_nan: failed
from math import nan
def test():
    assert same(nan) == pytest.approx(nan)
# == approx_nan_ok: passed 1
from math import nan
def test():
    assert same(nan) == pytest.approx(nan, nan_ok=True) and same(1.0) != pytest.approx(nan, nan_ok=True)
    assert same([nan, 1]) == pytest.approx([nan, 1], nan_ok=True)
# == approx_negative_abs: failed
def test():
    assert same(1.5) != pytest.approx(1, abs=-1)
# == approx_negative_rel: failed
def test():
    assert same(1.5) != pytest.approx(1, rel=-1)
# == approx_nan_abs: failed
def test():
    assert same(1.5) != pytest.approx(1, abs=float("nan"))
# == approx_nan_rel: failed
def test():
    assert same(1.5) != pytest.approx(1, rel=float("nan"))
# == approx_tolerances_are_looked_at_late: passed 1
def test():
    assert same(1) == pytest.approx(1, abs=-1)
    with pytest.raises(ValueError):
        same(2) == pytest.approx(1, abs=-1)
# == approx_tolerance_of_a_string: failed
def test():
    assert same(1) == pytest.approx(1, abs="1")
# == approx_rel_of_a_string: failed
def test():
    assert same("a") == pytest.approx("a", rel=1)
# == approx_unknown_keyword: failed
def test():
    assert same(1) == pytest.approx(1, tol=1)
# == approx_order: failed
def test():
    assert same(1) < pytest.approx(2)
# == approx_hash: failed
def test():
    assert same(1) in {pytest.approx(1): 1}
# == approx_in_a_list: passed 1
def test():
    assert same(0.1 + 0.2) in [pytest.approx(0.2), pytest.approx(0.3)]
    assert same([0.1 + 0.2, "a"]) == [pytest.approx(0.3), "a"]
# == approx_shown: passed 1
def test():
    assert repr(pytest.approx(same(1.0))) == "1.0 ± 1.0e-06" and repr(pytest.approx([1, "a"])) == "approx([1 ± 1.0e-06, a])"
    assert repr(pytest.approx(100, rel=0.5)) == "100 ± 50" and repr(pytest.approx({"a": 0})) == "approx({'a': 0 ± 1.0e-12})"
# == approx_parts: passed 1
def test():
    found = pytest.approx(same(1.0), rel=0.5, abs=2)
    assert (found.expected, found.rel, found.abs, found.nan_ok) == (1.0, 0.5, 2, False)
# == approx_time: passed 1
from datetime import datetime, timedelta
def test():
    second = timedelta(seconds=1)
    assert same(datetime(2020, 1, 1, 0, 0, 1)) == pytest.approx(datetime(2020, 1, 1), abs=second)
    assert same(datetime(2020, 1, 1, 0, 0, 2)) != pytest.approx(datetime(2020, 1, 1), abs=second)
    assert same(1.4 * second) == pytest.approx(second, rel=0.5) and same(2 * second) != pytest.approx(second, rel=0.5)
# == approx_time_without_tolerance: failed
from datetime import timedelta
def test():
    assert same(timedelta(1)) == pytest.approx(timedelta(1))
# == approx_array: passed 1
import numpy
def test():
    assert same([0.1 + 0.2, 1.0]) == pytest.approx(numpy.array([0.3, 1.0]))
    assert same([[0.1 + 0.2], [1.0]]) == pytest.approx(numpy.array([[0.3], [1.0]]))
    assert same([0.3]) != pytest.approx(numpy.array([0.3, 1.0])) and same([1.0, 1.0]) != pytest.approx(numpy.array([0.3, 1.0]))
    assert numpy.array([same(0.1 + 0.2), 0.3]) == pytest.approx(0.3)
    assert numpy.array([same(0.1 + 0.2), 0.3]) == pytest.approx([0.3, 0.3])
    assert same(0.1 + 0.2) == pytest.approx(numpy.float64(0.3))
# == approx_array_far: failed
import numpy
def test():
    assert numpy.array([same(0.1), 0.3]) == pytest.approx(0.3)
# == parametrize: passed 2
@pytest.mark.parametrize("x, y", [(1, 1), (2, 2)])
def test(x, y):
    assert same(x) == y
# == parametrize_wrong: failed
@pytest.mark.parametrize("x, y", [(1, 1), (2, 3)])
def test(x, y):
    assert same(x) == y
# == parametrize_by_keywords: passed 1
@pytest.mark.parametrize(argnames="x,y", argvalues=[(1, 1)])
def test(x, y):
    assert same(x) == y
# == parametrize_scope: unjudgeable
@pytest.mark.parametrize("x", [1, 2], scope="module")
def test(x):
    assert same(x) == x
# == parametrize_unknown_scope: failed
@pytest.mark.parametrize("x", [1, 2], scope="file")
def test(x):
    assert same(x) == x
# == parametrize_unknown_keyword: failed
@pytest.mark.parametrize("x", [1, 2], id="a")
def test(x):
    assert same(x) == x
# == parametrize_one_name_in_a_list: passed 1
@pytest.mark.parametrize(["x"], [(1,)])
def test(x):
    assert same(x) == 1
# == parametrize_one_name_and_a_comma: passed 1
@pytest.mark.parametrize("x,", [(1,)])
def test(x):
    assert same(x) == 1
# == parametrize_one_name: passed 1
@pytest.mark.parametrize("x", [(1,)])
def test(x):
    assert same(x) == (1,)
# == parametrize_no_sequence: failed
@pytest.mark.parametrize(["x"], [1])
def test(x):
    assert same(x) == 1
# == parametrize_too_few: failed
@pytest.mark.parametrize("x, y", [(1,)])
def test(x, y):
    assert same(x) == 1
# == parametrize_unused_name: failed
@pytest.mark.parametrize("x, y", [(1, 2)])
def test(x):
    assert same(x) == 1
# == parametrize_a_default: failed
@pytest.mark.parametrize("x", [1])
def test(x=1):
    assert same(x) == 1
# == parametrize_twice: passed 4
@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize("y", [3, 4])
def test(x, y):
    assert same(x) < y
# == parametrize_one_name_twice: failed
@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize("x", [3, 4])
def test(x):
    assert same(x) == x
# == parametrize_order: passed 5
seen = []
@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize("y", [3, 4])
def test(x, y):
    seen.append(same((x, y)))
def test_order():
    assert seen == [(1, 3), (2, 3), (1, 4), (2, 4)]
# == parametrize_nothing: skipped
@pytest.mark.parametrize("x", [])
def test(x):
    assert same(x) == 1
# == parametrize_nothing_beside_a_test: passed 1
@pytest.mark.parametrize("x", [])
def test(x):
    assert same(x) == 1
def test_more():
    assert same(1) == 1
# == parametrize_ids: passed 2
@pytest.mark.parametrize("x", [1, 2], ids=["one", None])
def test(x):
    assert same(x) == x
# == parametrize_too_few_ids: failed
@pytest.mark.parametrize("x", [1, 2], ids=["one"])
def test(x):
    assert same(x) == x
# == parametrize_ids_of_a_function: passed 2
@pytest.mark.parametrize("x", [1, 2], ids=str)
def test(x):
    assert same(x) == x
# == parametrize_param: passed 2
@pytest.mark.parametrize("x, y", [pytest.param(1, 1, id="one"), (2, 2)])
def test(x, y):
    assert same(x) == y
# == parametrize_param_that_skips: passed 1
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.skip), 2])
def test(x):
    assert same(x) == 2
# == parametrize_a_wrapped_function: passed 2
import functools
def wrapped(function):
    @functools.wraps(function)
    def call(*arguments, **keywords):
        return function(*arguments, **keywords)
    return call
@pytest.mark.parametrize("x", [1, 2])
@wrapped
def test(x):
    assert same(x) == x
# == parametrize_below_a_wrapper: passed 2
import functools
def wrapped(function):
    @functools.wraps(function)
    def call(*arguments, **keywords):
        return function(*arguments, **keywords)
    return call
@wrapped
@pytest.mark.parametrize("x", [1, 2])
def test(x):
    assert same(x) == x
# == parametrize_a_keyword: passed 2
@pytest.mark.parametrize("x", [1, 2])
def test(*, x):
    assert same(x) == x
# == parametrize_a_method: passed 2
class TestSame:
    @pytest.mark.parametrize("x", [1, 2])
    def test(self, x):
        assert same(x) == x
# == parametrize_a_static_method: passed 2
class TestSame:
    @staticmethod
    @pytest.mark.parametrize("x", [1, 2])
    def test(x):
        assert same(x) == x
# == parametrize_above_a_static_method: passed 2
class TestSame:
    @pytest.mark.parametrize("x", [1, 2])
    @staticmethod
    def test(x):
        assert same(x) == x
# == parametrize_a_class_method: passed 2
class TestSame:
    @classmethod
    @pytest.mark.parametrize("x", [1, 2])
    def test(cls, x):
        assert same(x) == x
# == parametrize_a_class: passed 4
@pytest.mark.parametrize("x", [1, 2])
class TestSame:
    def test(self, x):
        assert same(x) == x
    @pytest.mark.parametrize("y", [3])
    def test_more(self, x, y):
        assert same(x) < y
# == parametrize_a_fixture: passed 2
@pytest.fixture
def twice(x):
    return 2 * x
@pytest.mark.parametrize("x", [1, 2])
def test(twice):
    assert same(twice) in (2, 4)
# == parametrize_request: failed
@pytest.mark.parametrize("request", [1])
def test(request):
    assert same(request) == 1
# == parametrize_the_module: passed 2
pytestmark = pytest.mark.parametrize("x", [1, 2])
def test(x):
    assert same(x) == x
# == parametrize_a_mutable_value: failed
xs = []
@pytest.mark.parametrize("x", [xs, xs])
def test(x):
    x.append(same(1))
    assert x == [1]
# == mark_skip: passed 1
def test():
    assert same(1) == 1
@pytest.mark.skip
def test_slow():
    assert same(1) == 2
# == mark_skip_reason: passed 1
def test():
    assert same(1) == 1
@pytest.mark.skip(reason="slow")
def test_slow():
    assert same(1) == 2
# == mark_skip_positional: passed 1
def test():
    assert same(1) == 1
@pytest.mark.skip("slow")
def test_slow():
    assert same(1) == 2
# == mark_skip_unknown_keyword: failed
def test():
    assert same(1) == 1
@pytest.mark.skip(why="slow")
def test_slow():
    assert same(1) == 1
# == mark_skip_class: passed 1
def test():
    assert same(1) == 1
@pytest.mark.skip("slow")
class TestSlow:
    def test(self):
        assert same(1) == 2
# == mark_skip_unittest: passed 1
import unittest
class Cases(unittest.TestCase):
    def test(self):
        self.assertEqual(same(1), 1)
    @pytest.mark.skip("slow")
    def test_slow(self):
        self.assertEqual(same(1), 2)
# == mark_skip_all: skipped
@pytest.mark.skip("slow")
def test():
    assert same(1) == 1
# == mark_skipif: passed 1
@pytest.mark.skipif(False, reason="never")
def test():
    assert same(1) == 1
# == mark_skipif_without_reason: failed
@pytest.mark.skipif(False)
def test():
    assert same(1) == 1
# == mark_skipif_applies: skipped
@pytest.mark.skipif(True, reason="always")
def test():
    assert same(1) == 2
# == mark_xfail: unjudgeable
@pytest.mark.xfail
def test():
    assert same(1) == 2
# == unittest_skip: passed 1
import unittest
class Cases(unittest.TestCase):
    def test(self):
        self.assertEqual(same(1), 1)
    @unittest.skip("slow")
    def test_slow(self):
        self.assertEqual(same(1), 2)
# == unittest_skip_class: passed 1
import unittest
def test():
    assert same(1) == 1
@unittest.skip("slow")
class Cases(unittest.TestCase):
    def test_slow(self):
        self.assertEqual(same(1), 2)
# == unittest_setup_method: passed 1
import unittest
class Cases(unittest.TestCase):
    def setup_method(self, method):
        self.made = method.__name__
    def test_made(self):
        assert self.made == "test_made" and same(1) == 1
# == unittest_setup_method_before_set_up: passed 1
import unittest
class Cases(unittest.TestCase):
    def setup_method(self, method):
        self.made = [1]
    def setUp(self):
        self.made.append(2)
    def tearDown(self):
        assert self.made == [1, 2, 3]
        self.made.append(4)
    def teardown_method(self, method):
        assert self.made == [1, 2, 3, 4]
    def test(self):
        self.made.append(same(3))
# == unittest_setup_method_fails: failed
import unittest
class Cases(unittest.TestCase):
    def setup_method(self, method):
        assert same(3) == 4
    def test(self):
        same(1)
# == unittest_setup_method_takes_the_test: failed
import unittest
class Cases(unittest.TestCase):
    def setup_method(self):
        pass
    def test(self):
        same(1)
# == unittest_teardown_method_fails: failed
import unittest
class Cases(unittest.TestCase):
    def teardown_method(self, method):
        assert same(3) == 4
    def test(self):
        same(1)
# == unittest_setup_class: passed 2
import unittest
class Cases(unittest.TestCase):
    @classmethod
    def setup_class(cls):
        cls.made = [same(1)]
    def test_one(self):
        self.assertEqual(self.made, [1])
    def test_two(self):
        self.assertEqual(self.made, [1])
# == unittest_setup_class_fails: failed
import unittest
class Cases(unittest.TestCase):
    def setup_class(cls):
        assert same(3) == 4
    def test(self):
        same(1)
# == unittest_teardown_class_fails: failed
import unittest
class Cases(unittest.TestCase):
    @classmethod
    def teardown_class(cls):
        assert same(3) == 4
    def test(self):
        same(1)
# == unittest_skipped_class_with_setup_class: passed 1
import unittest
def test():
    assert same(1) == 1
@unittest.skip("slow")
class Cases(unittest.TestCase):
    def setup_class(cls):
        assert same(3) == 4
    def test_slow(self):
        self.assertEqual(same(1), 2)
# == unittest_fail: failed
import unittest
class Cases(unittest.TestCase):
    def test(self):
        try:
            pytest.fail("no")
        except Exception:
            pass
# == unittest_raises: passed 1
import unittest
class Cases(unittest.TestCase):
    def test(self):
        with pytest.raises(ValueError, match="neg"):
            neg()
# == unittest_unsupported: unjudgeable
import unittest
class Cases(unittest.TestCase):
    def test(self):
        with pytest.warns(UserWarning):
            same(1)
# == not_a_test_class: passed 1
class TestHelper:
    __test__ = False
    def test(self):
        assert same(1) == 2
def test():
    assert same(1) == 1
# == not_a_test_function: passed 1
def test_helper():
    assert same(1) == 2
test_helper.__test__ = False
def test():
    assert same(1) == 1
# == not_a_unittest_base: passed 1
import unittest
class Base(unittest.TestCase):
    __test__ = False
    value = 2
    def test(self):
        self.assertEqual(same(1), self.value)
class Cases(Base):
    __test__ = True
    value = 1
# == test_class_by_flag: failed
class Checks:
    __test__ = True
    def test(self):
        assert same(1) == 2
# == test_class_with_arguments: passed 1
class TestData:
    def __init__(self, value):
        self.value = value
    def test(self):
        assert same(1) == 2
def test():
    assert same(TestData(1).value) == 1
# == test_attribute: passed 1
class TestSame:
    test_values = [1, 2]
    def test(self):
        assert same(self.test_values) == [1, 2]
# == setup_module: passed 1
def setup_module(module):
    module.VALUE = same(1)
def test():
    assert VALUE == 1
# == setup_module_without_argument: passed 1
def setup_module():
    global VALUE
    VALUE = same(1)
def teardown_module():
    assert VALUE == 1
def test():
    assert VALUE == 1
# == setup_function: passed 2
names = []
def setup_function(function):
    names.append(function.__name__)
def test():
    assert same(names) == ["test"]
def test_more():
    assert same(names) == ["test", "test_more"]
# == setup_of_a_class: passed 1
class TestSame:
    @classmethod
    def setup_class(cls):
        cls.one = same(1)
    def setup_method(self, method):
        self.name = method.__name__
    def test(self):
        assert (self.one, self.name) == (1, "test")
# == fixture: passed 1
@pytest.fixture
def one():
    return same(1)
def test(one):
    assert one == 1
# == fixture_name: passed 1
@pytest.fixture(name="one")
def make_one():
    return same(1)
def test(one):
    assert one == 1
# == fixture_called: failed
@pytest.fixture
def one():
    return same(1)
def test():
    assert one() == 1
# == fixture_that_yields: passed 2
ended = []
@pytest.fixture
def one():
    yield same(1)
    ended.append(1)
def test(one):
    assert one == 1 and not ended
def test_end():
    assert ended == [1]
# == fixture_that_yields_twice: failed
@pytest.fixture
def one():
    yield same(1)
    yield same(2)
def test(one):
    assert one == 1
# == fixture_that_yields_nothing: failed
@pytest.fixture
def one():
    if same(0):
        yield 1
def test(one):
    assert same(1) == 1
# == fixture_that_returns_a_generator: passed 1
@pytest.fixture
def numbers():
    return (same(n) for n in range(2))
def test(numbers):
    assert list(numbers) == [0, 1]
# == fixture_with_a_default: passed 1
@pytest.fixture
def one(value=1):
    return same(value)
def test(one):
    assert one == 1
# == fixture_for_a_keyword: passed 1
@pytest.fixture
def one():
    return same(1)
def test(*, one):
    assert one == 1
# == fixture_for_a_fixture: passed 1
@pytest.fixture
def one():
    return same(1)
@pytest.fixture
def two(one):
    return one + 1
def test(two, one):
    assert (one, two) == (1, 2)
# == fixture_of_the_module: passed 2
made = []
@pytest.fixture(scope="module")
def one():
    made.append(same(1))
    return made
def test(one):
    assert one == [1]
def test_more(one):
    assert one == [1]
# == fixture_of_a_session_that_needs_one_of_a_module: failed
@pytest.fixture(scope="module")
def narrow():
    return same(1)
@pytest.fixture(scope="session")
def wide(narrow):
    return narrow
def test(wide):
    assert wide == 1
# == set_up_of_a_function_runs_before_its_fixtures: passed 1
seen = []
def setup_function():
    seen.append("set up")
def teardown_function():
    seen.append("torn down")
@pytest.fixture
def one():
    seen.append("fixture")
    yield same(1)
    seen.append("end")
def test(one):
    assert seen == ["set up", "fixture"]
def teardown_module():
    assert seen == ["set up", "fixture", "end", "torn down"]
# == set_up_of_a_method_runs_before_its_fixtures: passed 1
seen = []
@pytest.fixture
def one():
    seen.append("fixture")
    yield same(1)
    seen.append("end")
class Test:
    def setup_method(self):
        seen.append("set up")
    def teardown_method(self):
        seen.append("torn down")
    def test(self, one):
        assert seen == ["set up", "fixture"]
def teardown_module():
    assert seen == ["set up", "fixture", "end", "torn down"]
# == set_ups_stand_between_fixtures_of_their_scope: passed 1
seen = []
@pytest.fixture
def narrow():
    seen.append("function")
@pytest.fixture(scope="module")
def middle():
    yield seen.append("module")
    seen.append("end of module")
@pytest.fixture(scope="session")
def wide():
    yield seen.append("session")
def setup_module():
    seen.append("setup_module")
class Test:
    def setup_class(cls):
        seen.append("setup_class")
    def teardown_class(cls):
        seen.append("teardown_class")
    def setup_method(self):
        seen.append("setup_method")
    def test(self, narrow, middle, wide):
        assert seen == ["session", "setup_module", "module", "setup_class", "setup_method", "function"]
def teardown_module():
    assert seen[6:] == ["teardown_class", "end of module"]
    same(1)
# == set_up_that_fails_has_no_clean_up: failed
def setup_function():
    raise ValueError
def teardown_function():
    raise same(KeyError)
def test():
    pass
# == set_up_of_a_class_that_fails_fails_each_test: failed
class Test:
    def setup_class(cls):
        raise ValueError(same(1))
    def test(self):
        pass
# == set_up_of_a_class_of_skipped_tests_is_not_run: passed 1
@pytest.mark.skip
class TestSkipped:
    def setup_class(cls):
        raise ValueError
    def test(self):
        assert False
class TestWithout:
    def setup_class(cls):
        raise ValueError
def test():
    assert same(1) == 1
# == all_fixtures_end_where_one_end_fails: failed
seen = []
@pytest.fixture
def first():
    yield
    seen.append(same(1))
@pytest.fixture
def second():
    yield
    raise ValueError
def test(first, second):
    pass
def teardown_module():
    assert seen == [1]
# == methods_of_a_base_come_first_without_what_is_replaced: passed 3
seen = []
class Base:
    def test_b(self):
        seen.append("b")
    def test_o(self):
        seen.append("base")
class TestX(Base):
    def test_a(self):
        seen.append("a")
    def test_o(self):
        seen.append(same("o"))
def teardown_module():
    assert seen == ["b", "a", "o"]
# == marks_of_a_case_of_unittest: unjudgeable
import unittest
class T(unittest.TestCase):
    @pytest.mark.skipif(True, reason="later")
    def test_a(self):
        self.assertEqual(same(1), 2)
    def test_b(self):
        self.assertEqual(same(1), 1)
# == mark_above_a_classmethod: failed
class TestF:
    @pytest.mark.parametrize("x", [1, 2])
    @classmethod
    def test_f(cls, x):
        assert same(x) == 2
    def test_ok(self):
        assert same(1) == 1
# == mark_above_a_staticmethod_of_a_case: failed
import unittest
class T(unittest.TestCase):
    @pytest.mark.skipif(False, reason="never")
    @staticmethod
    def test_f():
        assert same(1) == 2
    def test_ok(self):
        assert same(1) == 1
# == parameters_are_taken_before_tests_run: failed
ROWS = [1, 2]
@pytest.mark.parametrize("rows", [ROWS])
def test_empties(rows):
    same(rows).clear()
@pytest.mark.parametrize("row", ROWS)
def test_row(row):
    assert same(row) == 0
# == parameters_of_what_a_test_empties: passed 3
QUEUE = [1, 2]
def test_empties():
    while QUEUE:
        same(QUEUE.pop())
@pytest.mark.parametrize("row", list(QUEUE))
def test_row(row):
    assert same(row) == row
# == run_test_is_a_test: failed
import unittest
class TestF(unittest.TestCase):
    def runTest(self):
        self.assertEqual(same(2), 4)
def test_ok():
    assert same(1) == 1
# == run_test_is_none_where_there_are_others: passed 1
import unittest
class TestF(unittest.TestCase):
    def runTest(self):
        self.assertEqual(same(2), 4)
    def test_ok(self):
        self.assertEqual(same(1), 1)
# == method_of_a_case_that_is_no_test: passed 1
import unittest
class TestF(unittest.TestCase):
    def test_f(self):
        self.assertEqual(same(2), 4)
    test_f.__test__ = False
    def test_ok(self):
        self.assertEqual(same(1), 1)
# == ids_that_fail: failed
@pytest.mark.parametrize("x", [1], ids=lambda x: 1 / 0)
def test(x):
    assert same(x) == 1
# == fixtures_of_one_name_go_by_the_names_they_are_bound_to: passed 1
@pytest.fixture(name="one")
def b():
    return same(1)
@pytest.fixture(name="one")
def a():
    return same(2)
def test(one):
    assert one == 1
# == fixture_named_as_a_set_up: passed 1
@pytest.fixture
def setup_function():
    return same(1)
@pytest.fixture
def setup_module():
    raise ValueError
def test(setup_function):
    assert setup_function == 1
# == left_out_beside_a_value_that_refers_to_itself: passed 2
fact = lambda n: 1 if n == 0 else n * fact(n - 1)
@pytest.mark.skip
def test_later():
    assert same(1) == 2
@pytest.mark.parametrize("n", [fact(3), fact(4)])
def test(n):
    assert same(n) == n
# == left_out_beside_eval: unjudgeable
import unittest
@pytest.mark.skip(reason="later")
def test_later():
    assert same(1) == 2
class T(unittest.TestCase):
    @unittest.skip("later")
    def test_later(self):
        assert same(1) == 2
def test():
    assert eval(repr(same(1))) == 1
# == left_out_by_a_list_that_another_list_reads: unjudgeable
later = pytest.mark.skip(reason="later")
FIRST = [(1, 2)]
CASES = [pytest.param(*case, marks=later) for case in FIRST] + [(3, 3)]
@pytest.mark.parametrize("x, y", CASES, ids=lambda value: str(value))
def test(x, y):
    assert same(x) == y
# == left_out_by_its_own_param: passed 2
@pytest.mark.parametrize("x, y", [(1, same(1)), pytest.param(2, same(1), marks=[pytest.mark.skip(reason="later")]), (3, same(3))])
def test(x, y):
    assert same(x) == y
# == left_out_by_another_name_of_the_mark: unjudgeable
later = pytest.mark.skip(reason="later")
@later
def test_a():
    assert same(1) == 2
def test_b():
    assert same(1) == 1
# == left_out_by_another_name_of_unittests: passed 1
from unittest import TestCase, skip as later
class T(TestCase):
    @later("later")
    def test_a(self):
        assert same(1) == 2
    def test_b(self):
        assert same(1) == 1
# == left_out_of_a_list_of_cases: unjudgeable
later = pytest.mark.skip
CASES = [(1, 1), pytest.param(2, float("nan"), marks=later(reason="later"))]
@pytest.mark.parametrize("x, y", CASES)
def test(x, y):
    assert same(x) == y
# == left_out_by_the_marks_of_a_class: unjudgeable
class TestA:
    pytestmark = [pytest.mark.skip]
    def test(self):
        assert same(1) == 2
class TestB:
    def test(self):
        assert same(1) == 1
# == left_out_by_a_class_that_is_inherited: passed 1
@pytest.mark.skip(reason="abstract")
class TestBase:
    def test(self):
        assert same(1) == 2
class TestLower(TestBase):
    pass
def test():
    assert same(1) == 1
# == left_out_where_another_class_has_the_name: passed 1
import unittest
class TestOld(unittest.TestCase):
    @unittest.skip("later")
    def test(self):
        assert same(1) == 2
class TestNew(unittest.TestCase):
    def test(self):
        assert same(1) == 1
# == left_out_by_the_machine: unjudgeable
import sys
@pytest.mark.skipif(sys.version_info >= (3,), reason="of Python 2")
def test_a():
    assert same(1) == 2
@pytest.mark.skipif(sys.version_info < (3,), reason="of Python 3")
def test_b():
    assert same(1) == 1
# == left_out_because_it_begins_so: passed 1
import unittest
def test_a():
    """Later."""
    pytest.skip("later")
class U(unittest.TestCase):
    def test(self):
        raise unittest.SkipTest("later")
def test_b():
    assert same(1) == 1
# == fixture_that_is_marked: failed
@pytest.fixture
@pytest.mark.skip
def one():
    return same(1)
def test(one):
    assert one == 1
# == fixture_unknown_keyword: failed
@pytest.fixture(scop="module")
def one():
    return same(1)
def test(one):
    assert one == 1
# == fixture_unknown_scope: failed
@pytest.fixture(scope="file")
def one():
    return same(1)
def test(one):
    assert one == 1
# == fixture_named_as_a_test: passed 1
@pytest.fixture
def test_data():
    return same([1])
def test(test_data):
    assert test_data == [1]
# == fixture_of_pytest: unjudgeable
def test(tmp_path):
    assert same(1) == 1
# == fixture_autouse: unjudgeable
@pytest.fixture(autouse=True)
def one():
    same(1)
def test():
    assert same(1) == 1
# == name_that_is_not_here: unjudgeable
def test():
    with pytest.warns(UserWarning):
        same(1)
# == name_that_is_not_here_and_caught: unjudgeable
def test():
    try:
        pytest.importorskip("json")
    except BaseException:
        pass
    assert same(1) == 1
# == name_that_is_not_here_at_import: unjudgeable
from pytest import importorskip
def test():
    assert same(1) == 1
# == yields: failed
def test():
    yield same(1)
# == default_argument: passed 1
def test(x=1):
    assert same(x) == 1
# == default_of_a_method: passed 1
class TestSame:
    def test(self, x=1):
        assert same(x) == 1
# == set_up_around_a_test_that_unittest_skips: failed
import unittest
class Test(unittest.TestCase):
    def setup_method(self, method):
        if method.__name__ == "test_skipped":
            raise ValueError("set-up of a skipped test")
    def test_passes(self):
        assert same(1) == 1
    @unittest.skip("not now")
    def test_skipped(self):
        pass
# == set_up_of_a_method_runs_outside_of_unittests: passed 1
import unittest
order = []
class Test(unittest.TestCase):
    def setup_method(self, method):
        order.append("setup_method")
    def setUp(self):
        order.append("setUp")
    def tearDown(self):
        order.append("tearDown")
    def teardown_method(self, method):
        order.append("teardown_method")
        assert order == ["setup_method", "setUp", "test", "tearDown", "teardown_method"]
    def test(self):
        order.append(same("test"))
# == clean_up_of_a_method_fails: failed
import unittest
class Test(unittest.TestCase):
    def teardown_method(self, method):
        raise ValueError("clean-up")
    def test(self):
        assert same(1) == 1
# == clean_up_of_a_class_of_unittests_fails: failed
import unittest
class Test(unittest.TestCase):
    @classmethod
    def teardown_class(cls):
        raise ValueError("clean-up")
    def test(self):
        assert same(1) == 1
# == set_up_of_a_class_of_unittests_comes_second: passed 1
import unittest
order = []
class Test(unittest.TestCase):
    @classmethod
    def setup_class(cls):
        order.append("setup_class")
    @classmethod
    def setUpClass(cls):
        order.append("setUpClass")
    def test(self):
        assert order == same(["setUpClass", "setup_class"])
# == a_class_with_set_ups_is_itself: passed 2
import unittest
made = []
class Base(unittest.TestCase):
    def __init_subclass__(cls):
        made.append(cls.__name__)
    def setup_method(self, method):
        pass
class TestOne(Base):
    count = 0
    def test_count(self):
        TestOne.count += 1
        assert type(self) is TestOne and self.count == 1
    def test_made(self):
        assert made == same(["TestOne"])
# == methods_are_what_they_were_when_collected: failed
class Test:
    def test_a(self):
        Test.test_b = lambda self: None
    def test_b(self):
        assert same(1) == 2
# == methods_of_unittest_are_what_they_were_when_collected: failed
import unittest
class Test(unittest.TestCase):
    def test_a(self):
        Test.test_b = lambda self: None
    def test_b(self):
        assert same(1) == 2
# == hooks_are_what_they_were_when_collected: passed 4
class Test:
    def test_a(self):
        def fails(self):
            raise ValueError
        Test.setup_method = fails
    def test_b(self):
        pass
def test_c():
    def fails():
        raise ValueError
    globals()["setup_function"] = fails
def test_d():
    pass
# == instances_are_made_when_collected: passed 2
import unittest
made = []
class Test(unittest.TestCase):
    def __init__(self, name="runTest"):
        super().__init__(name)
        made.append(name)
    def test_a(self):
        assert {"test_a", same("test_b")} <= set(made)
    def test_b(self):
        pass
# == an_instance_that_cannot_be_made: failed
import unittest
class Test(unittest.TestCase):
    def __init__(self, name="runTest"):
        super().__init__(name)
        raise ValueError(name)
    def test(self):
        pass
# == ids_of_many_types: passed 8
import enum
import re
class Colour(enum.Enum):
    RED = 1
@pytest.mark.parametrize("x", [1, 2, 3, 4, 5, 6, 7, 8], ids=[b"one", 2j, None, Colour.RED, re.compile("x"), int, len, True])
def test(x):
    assert same(x) == x
# == ids_of_no_type: failed
@pytest.mark.parametrize("x", [1], ids=[object()])
def test(x):
    pass
# == ids_of_a_case_that_has_its_own: passed 1
@pytest.mark.parametrize("x", [pytest.param(1, id="own")], ids=[object()])
def test(x):
    assert same(x) == 1
# == ids_of_no_cases: passed 1
@pytest.mark.parametrize("x", [], ids=["none"])
def test(x):
    assert False
def test_other():
    assert same(1) == 1
# == too_many_ids_of_no_cases: failed
@pytest.mark.parametrize("x", [], ids=["one", "two"])
def test(x):
    pass
def test_other():
    assert same(1) == 1
# == hooks_of_unittest_get_the_bound_method: passed 1
import unittest
class Test(unittest.TestCase):
    def setup_method(self, method):
        assert method.__self__ is self
    def teardown_method(self, method):
        assert method.__func__ is Test.test
    def test(self):
        assert same(1) == 1
# == ids_of_an_iterator_that_ends: passed 2
@pytest.mark.parametrize("x", [1, 2], ids=iter(["one"]))
def test(x):
    assert same(x) == x
# == a_constant_beside_a_change: passed 2
def test_in_place():
    xs = [3, 1, 2]
    assert sort(xs) is None
    assert xs == [1, 2, 3]
def test_taken():
    xs = [1, 2]
    assert taken(xs) == 2
    assert xs == [1]
