//! What a program may put in front of code that compares: attacks on checkers, on judge `exact`, on verification functions and on test
//! code, none of which may be accepted; and right answers of the same kinds, which all must be.

use rayon::prelude::*;
use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, Environment, EnvironmentChecks, Problem, Status, StdioCase, StdioChecks,
    TestCode, TestStyle, Trust, Value, Verdict,
};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LONG, python};

/// What decides about an answer.
#[derive(Debug, Clone, Copy)]
enum By {
    /// Judge `checker`, by the body of its `check(input, expected, actual)`. The program's `f(3)` is asked for the value of this text.
    Checker(&'static str, &'static str),
    /// Judge `checker` on the output of a script, where this text is expected.
    OutputChecker(&'static str, &'static str),
    /// Judge `exact`, where the value of this text is expected.
    Exact(&'static str),
    /// The body of an environment's `verify(before, after, answer)`. The environment has `put(key: str, count: int)`.
    Verification(&'static str),
    /// Test code in an instance of its own: these lines.
    Asserts(&'static [&'static str]),
    /// Test code beside the program.
    SharedAsserts(&'static [&'static str]),
}

const SHELF: &str = r#""""A shelf."""
COUNTS = {"nuts": 1}


def put(key: str, count: int) -> int:
    """Sets how many there are."""
    COUNTS[key] = count
    return count


TOOLS = [put]


def dump():
    return {"counts": COUNTS}


def check():
    assert all(count >= 0 for count in COUNTS.values())
"#;

fn checks(by: By) -> Checks {
    match by {
        By::Checker(expected, body) => calls(expected, checker("input, expected, actual", body)),
        By::Exact(expected) => calls(expected, Comparison::by("exact")),
        By::OutputChecker(expected, body) => Checks::Stdio(StdioChecks::new(
            vec![StdioCase::new("3\n", expected)],
            checker("input, expected, actual", body),
        )),
        By::Verification(body) => Checks::Environment(EnvironmentChecks {
            environment: Environment { name: "shelf".to_owned(), source: SHELF.to_owned() },
            verify: function("verify", "before, after, answer", body),
            solution: None,
        }),
        By::Asserts(lines) => asserts(Trust::Split, lines),
        By::SharedAsserts(lines) => asserts(Trust::Shared, lines),
    }
}

fn calls(expected: &str, comparison: Comparison) -> Checks {
    let case = CallCase::new(vec![Value::int(3)], Value::parse_repr(expected).expect("a value"));
    Checks::Calls(CallChecks { function: "f".to_owned(), cases: vec![case], fresh: false, comparison })
}

fn checker(parameters: &str, body: &str) -> Comparison {
    Comparison { checker: Some(function("check", parameters, body)), ..Comparison::by("checker") }
}

fn function(name: &str, parameters: &str, body: &str) -> String {
    format!("def {name}({parameters}):\n    {}\n", body.replace('\n', "\n    "))
}

fn asserts(trust: Trust, lines: &[&str]) -> Checks {
    Checks::Tests(TestCode::new(trust, TestStyle::Asserts(lines.iter().map(|line| (*line).to_owned()).collect())))
}

fn judged(by: By, program: &str) -> Verdict {
    let problem = Problem::new("t", checks(by));
    judge_program(python(), &ProblemRequest { limits: LONG, ..ProblemRequest::new(&problem, program) }).unwrap()
}

/// Any permutation of the expected list.
const PERMUTATION: &str = "return len(actual) == len(expected) and sorted(actual) == sorted(expected)";
/// Any list of numbers with the expected sum.
const SAME_SUM: &str = "return sum(actual) == expected";
/// A count for each of these.
const AT_MOST: &str = "return all(actual[key] <= most for key, most in expected.items())";
/// The same keys, as a set has them.
const SAME_KEYS: &str = "return all(key in actual for key in expected) and len(actual) == len(expected)";
/// Any number that is at least as large.
const AS_GOOD: &str = "return actual >= expected and not actual > 100";
const EQUAL: &str = "return actual == expected";
const NOT_WRONG: &str = "return not (actual != expected)";
const CLOSE: &str = "return abs(actual - expected) <= 1e-6";
const TRUTH: &str = "return bool(actual) == expected";
const NAMED: &str =
    "return type(actual).__name__ == 'int' or actual.__class__.__name__ == 'int' or hash(actual) == hash(expected)";
const SORTED: &str = "return all(a <= b for a, b in zip(actual, actual[1:])) and set(actual) == set(expected)";
const TOKENS: &str = "return actual.split() == expected.split()";

/// Each is a wrong answer that must not be accepted.
const ATTACKS: &[(By, &str)] = &[
    // Objects of the program's own classes.
    (By::Checker("4", EQUAL), "class A:\n    __eq__ = lambda s, o: True\ndef f(x): return A()"),
    (By::Checker("4", NOT_WRONG), "class A:\n    __ne__ = lambda s, o: False\ndef f(x): return A()"),
    (
        By::Checker("4", EQUAL),
        "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef f(x): return A(9)",
    ),
    (
        By::Checker("'ab'", EQUAL),
        "class A(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\ndef f(x): return A('x')",
    ),
    (By::Checker("4.0", CLOSE), "class A(float):\n    __sub__ = lambda s, o: 0.0\ndef f(x): return A(9)"),
    (
        By::Checker("[1, 2]", PERMUTATION),
        "class A(list):\n    __len__ = lambda s: 2\n    __iter__ = lambda s: iter([1, 2])\ndef f(x): return A()",
    ),
    (By::Checker("6", SAME_SUM), "class A(list):\n    __iter__ = lambda s: iter([6])\ndef f(x): return A()"),
    (
        By::Checker("6", SAME_SUM),
        "class A:\n    def __init__(self, n=0): self.n = n\n    __radd__ = lambda s, o: 6\ndef f(x): return [A()]",
    ),
    (By::Checker("{'a': 1}", AT_MOST), "class A(dict):\n    __missing__ = lambda s, k: 0\ndef f(x): return A()"),
    (By::Checker("{'a': 1}", AT_MOST), "class A:\n    __getitem__ = lambda s, k: 0\ndef f(x): return A()"),
    (
        By::Checker("{'a', 'b'}", SAME_KEYS),
        "class A(set):\n    __contains__ = lambda s, k: True\ndef f(x): return A({1, 2})",
    ),
    (By::Checker("4", NAMED), "class A:\n    __class__ = int\n    __hash__ = lambda s: 4\ndef f(x): return A()"),
    (By::Checker("4", NAMED), "class int:\n    pass\ndef f(x): return int()"),
    (By::Checker("4", NAMED), "class M(type):\n    __name__ = 'int'\nclass A(metaclass=M): pass\ndef f(x): return A()"),
    (By::Checker("False", TRUTH), "class A:\n    __bool__ = lambda s: False\ndef f(x): return A()"),
    (By::Checker("[1, 2]", SORTED), "class A(list):\n    __getitem__ = lambda s, k: []\ndef f(x): return A([2, 1])"),
    (
        By::Checker("{'a': 1}", SAME_KEYS),
        "class K(str):\n    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash('a')\ndef f(x): return {K('z'): 1}",
    ),
    (
        By::Checker("4", EQUAL),
        "import enum\nclass A(enum.IntEnum):\n    X = 9\n    def __eq__(s, o): return True\n    __hash__ = int.__hash__\ndef f(x): return A.X",
    ),
    (
        By::Checker("4", EQUAL),
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    n: int\n    def __eq__(s, o): return True\ndef f(x): return A(9)",
    ),
    (
        By::Checker("(1, 2)", EQUAL),
        "import collections\nclass A(collections.namedtuple('A', 'x y')):\n    def __eq__(s, o): return True\ndef f(x): return A(8, 9)",
    ),
    (
        By::Checker("{'a': 1}", EQUAL),
        "import collections\nclass A(collections.OrderedDict):\n    def __eq__(s, o): return True\ndef f(x): return A()",
    ),
    (
        By::Checker("Fraction(1, 2)", EQUAL),
        "import fractions\nclass A(fractions.Fraction):\n    def __eq__(s, o): return True\ndef f(x): return A(9)",
    ),
    (
        By::Checker("datetime.date(2024, 1, 2)", EQUAL),
        "import datetime\nclass A(datetime.date):\n    def __eq__(s, o): return True\ndef f(x): return A(1, 1, 1)",
    ),
    // Objects of the library's that have what they are asked for.
    (By::Checker("{'a': 1, 'b': 2}", AT_MOST), "import collections\ndef f(x): return collections.Counter()"),
    (By::Checker("{'a': 1, 'b': 2}", AT_MOST), "import collections\ndef f(x): return collections.defaultdict(int)"),
    (
        By::Checker("[{'a': 1, 'b': 2}]", "return all(row['a'] <= 1 for row in actual) and len(actual) == 1"),
        "import collections\ndef f(x): return [collections.Counter()]",
    ),
    (
        By::Checker("{'a': 1}", "return actual <= expected"),
        "import collections\ndef f(x): return collections.Counter()",
    ),
    (By::Checker("[0, 1, 2]", SAME_KEYS), "def f(x): return range(3)"),
    (By::Checker("5", "return abs(actual) == expected"), "def f(x): return 3 + 4j"),
    (By::Checker("4", EQUAL), "import decimal\ndef f(x): return decimal.Decimal(4)"),
    (By::Checker("4", EQUAL), "import fractions\ndef f(x): return fractions.Fraction(4)"),
    (By::Checker("b'a'", EQUAL), "def f(x): return bytearray(b'a')"),
    (
        By::Checker("[1, 2]", "return actual[0] == 1 and len(actual) == 2"),
        "import collections\ndef f(x): return collections.deque([1, 2])",
    ),
    (
        By::Checker("[Fraction(1, 2)]", "return sum(actual) == expected[0]"),
        "import decimal\ndef f(x): return [decimal.Decimal('0.5')]",
    ),
    (
        By::Checker("4", "return 'days' not in dir(actual) or actual.days == 0"),
        "import datetime\ndef f(x): return datetime.timedelta(0)",
    ),
    // Numbers and arrays of numpy's.
    (By::Checker("1000000", EQUAL), "import numpy as np\ndef f(x): return np.float16('inf')"),
    (By::Checker("10", SAME_SUM), "import numpy as np\ndef f(x): return [np.uint8(200), np.uint8(66)]"),
    (
        By::Checker("-2147483648", "return actual + 1 == expected"),
        "import numpy as np\ndef f(x): return np.int32(2147483647)",
    ),
    (
        By::Checker("[1, 2]", "return all(a == e for a, e in zip(actual, expected))"),
        "import numpy as np\ndef f(x): return np.array([])",
    ),
    (
        By::Checker("4", "return (actual == expected) is not False"),
        "import numpy as np\ndef f(x): return np.array([9])",
    ),
    (By::Checker("'ab'", EQUAL), "import numpy as np\ndef f(x): return np.str_('ab')"),
    (By::Checker("4", AS_GOOD), "import numpy as np\ndef f(x): return np.complex128(9)"),
    // What is no value at all.
    (By::Checker("[1, 2]", PERMUTATION), "def f(x): return (n for n in [1, 2])"),
    (By::Checker("[1, 2]", "return list(actual) == expected"), "def f(x): return iter([1, 2])"),
    (By::Checker("{'a', 'b'}", SAME_KEYS), "def f(x): return {'a': 1, 'b': 2}.keys()"),
    (By::Checker("b'a'", EQUAL), "def f(x): return memoryview(b'a')"),
    (By::Checker("True", TRUTH), "def f(x): return f"),
    (By::Checker("True", TRUTH), "def f(x): return int"),
    (By::Checker("True", TRUTH), "def f(x): return NotImplemented"),
    (By::Checker("True", TRUTH), "def f(x): return ValueError('x')"),
    (By::Checker("True", TRUTH), "xs = []\nxs.append(xs)\ndef f(x): return xs"),
    // Checkers that cannot judge what they are given, and the process of the program.
    (By::Checker("[1, 2]", PERMUTATION), "def f(x): return None"),
    (By::Checker("[1, 2]", PERMUTATION), "def f(x): return [1, None]"),
    (
        By::Checker("[1, 2]", PERMUTATION),
        "import builtins\nbuiltins.sorted = lambda xs: []\nbuiltins.len = lambda xs: 0\ndef f(x): return [9, 9]",
    ),
    (By::Checker("4", EQUAL), "import sys\nsys.addaudithook(lambda event, arguments: None)\ndef f(x): return 9"),
    (By::Checker("4", EQUAL), "def f(x): return 9  # audit"),
    (By::OutputChecker("1 2\n", TOKENS), "print(2, 1)"),
    (By::OutputChecker("1 2\n", TOKENS), "import sys\nsys.stdout.buffer.write(b'1 2\\xff')"),
    (By::OutputChecker("1 2\n", TOKENS), "print('True')"),
    (By::OutputChecker("1 2\n", TOKENS), "class A(str):\n    __str__ = lambda s: '3'\nprint(A('1'), 2)"),
    // The same in front of judge `exact`.
    (
        By::Exact("4"),
        "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef f(x): return A(4)",
    ),
    (By::Exact("'ab'"), "class A(str): pass\ndef f(x): return A('ab')"),
    (By::Exact("4"), "import enum\nclass A(enum.IntEnum):\n    X = 4\ndef f(x): return A.X"),
    (By::Exact("{'a': 1}"), "import collections\ndef f(x): return collections.Counter(a=1)"),
    (By::Exact("4"), "import decimal\ndef f(x): return decimal.Decimal(4)"),
    (By::Exact("1"), "import numpy as np\ndef f(x): return np.True_"),
    (By::Exact("0.1"), "import numpy as np\ndef f(x): return np.float32(0.1)"),
    // In front of verification functions.
    (By::Verification("return answer == 4"), "class A:\n    __eq__ = lambda s, o: True\nanswer(A())"),
    (
        By::Verification("return all(answer[key] <= 1 for key in after['counts'])"),
        "import collections\nanswer(collections.Counter())",
    ),
    (By::Verification("return answer == 1000000"), "import numpy as np\nanswer(np.float16('inf'))"),
    (
        By::Verification("return after['counts']['nuts'] == 4"),
        "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\nput('nuts', A(9))",
    ),
    // In front of test code.
    (By::Asserts(&["assert f(3) == 4"]), "class A:\n    __eq__ = lambda s, o: True\ndef f(x): return A()"),
    (
        By::Asserts(&["assert f(3) == 's'"]),
        "class S(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\ndef f(x): return S('x')",
    ),
    (By::Asserts(&["assert type(f(3)) is str"]), "class S(str): pass\ndef f(x): return S('s')"),
    (
        By::Asserts(&["assert not f(3) != 's'"]),
        "class M(type):\n    pass\nclass S(str, metaclass=M):\n    __ne__ = lambda s, o: False\ndef f(x): return S('x')",
    ),
    (
        By::Asserts(&["assert f(3) == (1, 2)"]),
        "import collections\nclass P(collections.namedtuple('P', 'x y')):\n    __eq__ = lambda s, o: True\ndef f(x): return P(8, 9)",
    ),
    (By::Asserts(&["assert len(f(3)) == 2"]), "class L(list):\n    __len__ = lambda s: 2\ndef f(x): return L()"),
];

/// Each is a right answer that must be accepted.
const RIGHT: &[(By, &str)] = &[
    (By::Checker("4", EQUAL), "def f(x): return 4"),
    (By::Checker("[1, 2]", PERMUTATION), "def f(x): return [2, 1]"),
    (By::Checker("[1, 2]", PERMUTATION), "def f(x): return (2, 1)"),
    (By::Checker("[1, 2]", PERMUTATION), "import numpy as np\ndef f(x): return [np.int64(2), np.int32(1)]"),
    (By::Checker("[1, 2]", PERMUTATION), "import numpy as np\ndef f(x): return list(np.array([2, 1]))"),
    (By::Checker("266", SAME_SUM), "import numpy as np\ndef f(x): return [np.uint8(200), np.uint8(66)]"),
    (By::Checker("0.5", CLOSE), "import numpy as np\ndef f(x): return np.float64(0.5)"),
    (By::Checker("0.5", CLOSE), "import numpy as np\ndef f(x): return np.float32(0.5)"),
    (By::Checker("True", "return actual is expected"), "import numpy as np\ndef f(x): return np.bool_(True)"),
    (By::Checker("{'a': 1, 'b': 2}", AT_MOST), "import numpy as np\ndef f(x): return {'a': np.int64(0), 'b': 2}"),
    (By::Checker("{1: 'a'}", SAME_KEYS), "import numpy as np\ndef f(x): return {np.int64(1): 'a'}"),
    (By::Checker("1j", EQUAL), "import numpy as np\ndef f(x): return np.complex128(1j)"),
    (
        By::Checker("None", "return len(actual) == 3"),
        "def f(x): return {'a': [1, 2.5, True], 'b': {1, 2}, 'c': (b'x', None)}",
    ),
    (
        By::Checker("[Fraction(1, 2)]", "return sum(actual) == expected[0]"),
        "from fractions import Fraction\ndef f(x): return [Fraction(1, 3), Fraction(1, 6)]",
    ),
    (By::Checker("Decimal('1.5')", EQUAL), "from decimal import Decimal\ndef f(x): return Decimal('1.50')"),
    (
        By::Checker("datetime.date(2024, 1, 2)", "return actual >= expected"),
        "import datetime\ndef f(x): return datetime.date(2024, 1, 3)",
    ),
    (
        By::Checker("datetime.datetime(2024, 1, 2, 3, 4)", EQUAL),
        "import datetime\ndef f(x): return datetime.datetime(2024, 1, 2, 3, 4)",
    ),
    (
        By::Checker("datetime.timedelta(days=1)", EQUAL),
        "import datetime\ndef f(x): return datetime.timedelta(hours=24)",
    ),
    (By::Checker("deque([1, 2])", PERMUTATION), "import collections\ndef f(x): return collections.deque([2, 1])"),
    (By::Checker("Counter({'a': 1})", EQUAL), "import collections\ndef f(x): return collections.Counter('a')"),
    (
        By::Checker("defaultdict(<class 'int'>, {'a': 1})", AT_MOST),
        "import collections\ndef f(x): return collections.defaultdict(int, a=1)",
    ),
    (
        By::Checker("OrderedDict({'a': 1, 'b': 2})", "return list(actual) == list(expected)"),
        "import collections\ndef f(x): return collections.OrderedDict(a=1, b=2)",
    ),
    (By::Checker("range(0, 3)", EQUAL), "def f(x): return range(3)"),
    (By::Checker("4", EQUAL), "# audit: addaudithook\ndef f(x): return 4"),
    (
        By::Checker("4", EQUAL),
        "import sys\ndef hook(event, arguments):\n    if 'marshal' in event: raise ValueError\nsys.addaudithook(hook)\ndef f(x): return x + 1",
    ),
    (By::OutputChecker("1 2\n", TOKENS), "print('1\\n2')"),
    (By::OutputChecker("1 2\n", TOKENS), "class A(str): pass\nprint(A('1'), 2)"),
    (By::Exact("4"), "import numpy as np\ndef f(x): return np.int64(4)"),
    (By::Exact("[0.5, True]"), "import numpy as np\ndef f(x): return [np.float32(0.5), np.True_]"),
    (By::Exact("np.int64(4)"), "def f(x): return 4"),
    (By::Exact("Counter({'a': 1})"), "import collections\ndef f(x): return collections.Counter('a')"),
    (By::Verification("return answer == 4"), "answer(4)"),
    (
        By::Verification("return answer == 4 and after['counts']['nuts'] == 7"),
        "import numpy as np\nput('nuts', 7)\nanswer(np.int64(4))",
    ),
    (
        By::Asserts(&["assert f(3) == (1, 2)", "assert f(3).x == 1"]),
        "import collections\nP = collections.namedtuple('P', 'x y')\ndef f(x): return P(1, 2)",
    ),
    (By::Asserts(&["assert f(3) == {1}", "assert f(3) != {2}"]), "def f(x): return frozenset({1})"),
    (By::Asserts(&["assert f(3) == b'a'"]), "def f(x): return bytearray(b'a')"),
    (
        By::Asserts(&["assert f(3) == 's'", "assert f(3) + 't' == 'st'", "assert {'s': 1}[f(3)] == 1"]),
        "class S(str): pass\ndef f(x): return S('s')",
    ),
    (
        By::Asserts(&["assert f(3) == 4", "assert [f(3)] == [4]"]),
        "class N(int):\n    'A number.'\ndef f(x): return N(4)",
    ),
    (By::Asserts(&["assert f(3) == 4"]), "import numpy as np\ndef f(x): return np.int64(4)"),
    (
        By::Asserts(&["assert f(0) == (1, 2)", "assert f(1) == {1}", "assert f(2) == b'a'", "assert f(3) == 's'"]),
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\nclass S(str): pass\n\
         def f(k):\n    return [P(1, 2), frozenset({1}), bytearray(b'a'), S('s')][k]",
    ),
    (
        By::SharedAsserts(&["assert f(3) == Point(3, 4)"]),
        "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n    y: int\ndef f(x): return Point(x, 4)",
    ),
];

#[test]
fn no_attack_is_accepted() {
    assert!(ATTACKS.len() >= 30);
    let accepted: Vec<String> = ATTACKS
        .par_iter()
        .filter_map(|(by, program)| {
            let verdict = judged(*by, program);
            (verdict.status == Status::Accepted || verdict.passed > 0).then(|| format!("{by:?}\n{program}"))
        })
        .collect();
    assert!(accepted.is_empty(), "{} of {}:\n{}", accepted.len(), ATTACKS.len(), accepted.join("\n\n"));
}

#[test]
fn every_right_answer_is_accepted() {
    assert!(RIGHT.len() >= 20);
    let refused: Vec<String> = RIGHT
        .par_iter()
        .filter_map(|(by, program)| {
            let verdict = judged(*by, program);
            let why = || format!("{:?}: {}", verdict.status, verdict.evidence.detail);
            (verdict.status != Status::Accepted).then(|| format!("{}\n{by:?}\n{program}", why()))
        })
        .collect();
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), RIGHT.len(), refused.join("\n\n"));
}

#[test]
fn the_class_of_what_is_refused_is_in_the_evidence() {
    for (by, program, class) in [
        (By::Checker("{'a': 1}", AT_MOST), "import collections\ndef f(x): return collections.Counter()", "`Counter`"),
        (
            By::Checker("[1]", PERMUTATION),
            "import collections\ndef f(x): return [collections.deque()]",
            "`deque` at `[0]`",
        ),
        (By::Exact("4"), "class Four(int): pass\ndef f(x): return Four(4)", "Four"),
        (By::Verification("return True"), "import fractions\nanswer(fractions.Fraction(1))", "Fraction"),
    ] {
        let verdict = judged(by, program);
        assert!(verdict.status != Status::Accepted, "{program}");
        assert!(verdict.evidence.detail.contains(class), "{}", verdict.evidence.detail);
    }
}
