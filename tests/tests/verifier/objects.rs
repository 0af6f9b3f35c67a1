//! Values of classes beyond the literal ones, across the boundary and back, and programs that break those classes.

use veriplay_core::{Problem, Status, TestCode, TestStyle, Trust, Value, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LIMITS, LONG, judge_by_tests, python};

/// One of each class, and its edges.
const OBJECTS: &[&str] = &[
    "(1+2j)",
    "(-0-infj)",
    "(nan+1j)",
    "range(0, 3)",
    "range(-5, 100000000000000000000000000, 7)",
    "bytearray(b'a\\x00')",
    "Counter({'a': 2, (1, 2): -1})",
    "defaultdict(<class 'list'>, {'a': [1]})",
    "defaultdict(None, {})",
    "OrderedDict({'b': 1, 'a': {2}})",
    "deque([1, [2]], maxlen=3)",
    "deque([])",
    "Decimal('-1.50')",
    "Decimal('0E-7')",
    "Decimal('1E+999999')",
    "Decimal('NaN12')",
    "Decimal('-Infinity')",
    "Fraction(-7, 3)",
    "datetime.date(2024, 2, 29)",
    "datetime.time(1, 2, 3, 4, fold=1)",
    "datetime.time(1, 2, tzinfo=datetime.timezone.utc)",
    "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)",
    "datetime.datetime(1, 1, 1, 0, 0, fold=1, tzinfo=datetime.timezone(datetime.timedelta(days=-1, seconds=1, microseconds=5)))",
    "datetime.timedelta(days=-999999999, microseconds=1)",
    "datetime.timezone(datetime.timedelta(seconds=3600))",
    "[{(1+2j): Counter({Fraction(1, 2): deque([Decimal('1')])})}]",
];

const NUMPY: &[&str] = &[
    "np.True_",
    "np.False_",
    "np.int8(-128)",
    "np.int16(5)",
    "np.int32(-2147483648)",
    "np.int64(9223372036854775807)",
    "np.uint8(255)",
    "np.uint16(5)",
    "np.uint32(5)",
    "np.uint64(18446744073709551615)",
    "np.float16(0.1)",
    "np.float32(0.1)",
    "np.float64(0.1)",
    "np.float64(nan)",
    "np.float32(-inf)",
    "np.complex64(0.5-2j)",
    "np.complex128(0.1+2j)",
];

fn read(text: &str) -> Value {
    Value::parse_repr(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// The verdict of judge `exact` on `f(input)`.
fn called(program: &str, input: &[Value], expected: &Value) -> Verdict {
    let problem = Problem::calls("f", [(input.to_vec(), expected.clone())]);
    // Room for an import of numpy.
    let limits = veriplay_core::Limits { fuel: 20 * LIMITS.fuel, ..LIMITS };
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

#[test]
fn an_object_goes_in_and_comes_back_as_it_was() {
    for text in OBJECTS.iter().chain(NUMPY) {
        let value = read(text);
        let verdict = called("def f(x):\n    return x", std::slice::from_ref(&value), &value);
        assert_eq!(verdict.status, Status::Accepted, "{text}: {}", verdict.evidence.detail);
    }
}

#[test]
fn what_goes_in_is_an_object_of_its_class_with_the_same_repr() {
    // The image's Python and numpy write what the host writes.
    let program = "import collections, datetime, decimal, fractions\ndef f(x):\n    return repr(x)";
    for text in OBJECTS.iter().chain(NUMPY).filter(|text| !text.contains("{2}")) {
        let verdict = called(program, &[read(text)], &Value::str(*text));
        assert_eq!(verdict.status, Status::Accepted, "{text}: {}", verdict.evidence.detail);
    }
}

#[test]
fn what_python_makes_comes_out_as_its_repr_says() {
    for (expression, wanted) in [
        ("np.mean([1.0, 2.0])", "np.float64(1.5)"),
        ("np.arange(3)[1] == 1", "np.True_"),
        ("np.float64(1) + 1", "np.float64(2.0)"),
        ("np.intc(5)", "np.int32(5)"),
        ("Decimal(1) / Decimal(8)", "Decimal('0.125')"),
        ("Decimal('1e5') * Decimal('1e400')", "Decimal('1E+405')"),
        ("Fraction(2, 4)", "Fraction(1, 2)"),
        ("Counter('aab')", "Counter({'a': 2, 'b': 1})"),
        ("cmath.sqrt(-4)", "2j"),
        (
            "datetime.datetime(2024, 1, 1) - datetime.datetime(2023, 1, 1, 1)",
            "datetime.timedelta(days=364, seconds=82800)",
        ),
        ("deque([1, 2, 3], 2)", "deque([2, 3], maxlen=2)"),
    ] {
        let program = format!(
            "import cmath, datetime\nimport numpy as np\nfrom collections import *\nfrom decimal import Decimal\n\
             from fractions import Fraction\ndef f():\n    return {expression}"
        );
        let verdict = called(&program, &[], &read(wanted));
        assert_eq!(verdict.status, Status::Accepted, "{expression}: {}", verdict.evidence.detail);
    }
}

/// A program whose `f` returns a `defaultdict` of that factory.
fn with_defaults(factory: &str) -> String {
    format!(
        "from collections import Counter, defaultdict\nfrom functools import partial\nclass C: pass\n\
         def f(n):\n    found = defaultdict({factory})\n    found['a'] = n\n    return [found]"
    )
}

#[test]
fn a_dict_with_defaults_is_compared_by_its_items_whatever_makes_them() {
    // The judge `exact` compares classes, too.
    let wanted = read("[defaultdict(None, {'a': 1})]");
    for factory in ["lambda: 0", "lambda: defaultdict(int)", "Counter", "partial(list, 'a')", "C"] {
        let verdict = called(&with_defaults(factory), &[Value::int(1)], &wanted);
        assert_eq!(verdict.status, Status::Accepted, "{factory}: {}", verdict.evidence.detail);
        let verdict = called(&with_defaults(factory), &[Value::int(2)], &wanted);
        assert_eq!(verdict.status, Status::WrongAnswer, "{factory}: {}", verdict.evidence.detail);
    }
    for (wanted, status) in
        [("{'a': 1}", Status::Accepted), ("{'a': 2}", Status::WrongAnswer), ("{}", Status::WrongAnswer)]
    {
        let tests = TestStyle::Asserts(vec![format!("assert f(1) == [{wanted}]")]);
        let verdict = judge_by_tests(TestCode::new(Trust::Split, tests), &with_defaults("lambda: 0"), LONG);
        assert_eq!(verdict.status, status, "{wanted}: {}", verdict.evidence.detail);
    }
}

/// Programs that return something like an object of a known class. None of it has a value, and none is a fault of ours.
const NO_VALUES: &[&str] = &[
    "from collections import Counter\nclass C(Counter): pass\ndef f(): return C('a')",
    "from collections import defaultdict\nclass int(int): pass\ndef f(): return defaultdict(int)",
    "from fractions import Fraction\ndef f():\n    x = Fraction(1, 2)\n    x._numerator = True\n    return x",
    "from fractions import Fraction\ndef f():\n    x = Fraction(1, 2)\n    x._denominator = 4 << 5000\n    return x",
    "from fractions import Fraction\ndef f(): return object.__new__(Fraction)",
    "from decimal import Decimal\ndef f():\n    x = Decimal(1)\n    x._int = '01'\n    return x",
    "from decimal import Decimal\ndef f():\n    x = Decimal(1)\n    x._exp = 10 ** 30\n    return x",
    "from decimal import Decimal\ndef f():\n    x = Decimal(1)\n    x._exp = 10 ** 5000\n    return x",
    "from decimal import Decimal\ndef f():\n    x = Decimal(1)\n    x._exp = []\n    return x",
    "from decimal import Decimal\nclass E(str):\n    def __eq__(self, other): raise SystemExit\ndef f():\n    x = Decimal(1)\n    x._exp = E('F')\n    return x",
    "from datetime import timezone, timedelta\ndef f(): return timezone(timedelta(0), 'GMT')",
    "from datetime import datetime, tzinfo\nclass Z(tzinfo): pass\ndef f(): return datetime(2024, 1, 1, tzinfo=Z())",
    "class float64(float): pass\nfloat64.__module__ = 'numpy'\ndef f(): return float64(1.5)",
    "import sys, types\nn = sys.modules['numpy'] = types.ModuleType('numpy')\nclass int64(int): pass\nn.int64 = int64\nint64.__module__ = 'numpy'\ndef f(): return int64(1)",
    "import numpy as np\nclass F(np.float64): pass\ndef f(): return F(1.5)",
    "import numpy as np\ndef f(): return np.array([1])",
    "import numpy as np\ndef f(): return np.str_('a')",
    "def f():\n    x = None\n    for _ in range(70):\n        from collections import deque\n        x = deque([x])\n    return x",
];

#[test]
fn what_only_looks_like_a_known_object_has_no_value_and_is_no_fault_of_the_host() {
    for program in NO_VALUES {
        for wanted in ["None", "1.5", "1", "Fraction(1, 2)", "Decimal('1')", "range(0, 1)"] {
            let verdict = called(program, &[], &read(wanted));
            assert_eq!(verdict.status, Status::WrongAnswer, "{program}\n{}", verdict.evidence.detail);
        }
    }
}

/// Programs that patch a known class so that nothing of it works, and return one.
const PATCHED: &[(&str, &str)] = &[
    (
        "from collections import Counter\nx = Counter({'a': 2})\ndef boom(*a): raise SystemExit\n\
         for name in ('__len__', '__iter__', 'items', 'keys', '__getitem__', '__eq__', '__hash__', '__init__'): setattr(Counter, name, boom)\n\
         def f(): return x",
        "Counter({'a': 2})",
    ),
    (
        "from fractions import Fraction\nx = Fraction(1, 2)\nFraction._numerator = Fraction.numerator = Fraction.__eq__ = property(lambda s: 9)\n\
         def f(): return x",
        "Fraction(1, 2)",
    ),
    (
        "from decimal import Decimal\nx = Decimal('1.5')\nDecimal._int = Decimal.__str__ = Decimal.as_tuple = lambda *a: 'x'\ndef f(): return x",
        "Decimal('1.5')",
    ),
];

#[test]
fn a_patched_class_changes_nothing_of_what_its_objects_are() {
    for (program, wanted) in PATCHED {
        let verdict = called(program, &[], &read(wanted));
        assert_eq!(verdict.status, Status::Accepted, "{program}\n{}", verdict.evidence.detail);
        assert_eq!(called(program, &[], &read("1")).status, Status::WrongAnswer, "{program}");
    }
}

#[test]
fn a_class_that_the_program_broke_gives_it_the_state_of_its_arguments() {
    for (program, argument, state) in [
        (
            "from fractions import Fraction\ndef boom(*a, **k): raise SystemExit\nFraction.__new__ = boom\ndef f(x): return x",
            "Fraction(1, 2)",
            "(1, 2)",
        ),
        ("import sys\nsys.modules['numpy'] = 3\ndef f(x): return x", "np.int64(7)", "7"),
    ] {
        let verdict = called(program, &[read(argument)], &read(state));
        assert_eq!(verdict.status, Status::Accepted, "{program}\n{}", verdict.evidence.detail);
    }
}
