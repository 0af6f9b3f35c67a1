//! Values of classes beyond the literal ones, across the boundary and back, and programs that break those classes.

use veriplay_core::{Limits, Problem, Status, Value, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::cases::programs;
use super::{LIMITS, python};

/// One object of each class of Python's and numpy's, and their edges, one a line.
const OBJECTS: &str = include_str!("objects.txt");

fn read(text: &str) -> Value {
    Value::parse_repr(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// The verdict of judge `exact` on `f(input)`.
fn called(program: &str, input: &[Value], expected: &Value) -> Verdict {
    let problem = Problem::calls("f", [(input.to_vec(), expected.clone())]);
    // Room for an import of numpy.
    let limits = Limits { fuel: 20 * LIMITS.fuel, ..LIMITS };
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

#[test]
fn an_object_goes_in_and_comes_back_as_it_was() {
    for text in OBJECTS.lines() {
        let value = read(text);
        let verdict = called("def f(x):\n    return x", std::slice::from_ref(&value), &value);
        assert_eq!(verdict.status, Status::Accepted, "{text}: {}", verdict.evidence.detail);
    }
}

#[test]
fn what_goes_in_is_an_object_of_its_class_with_the_same_repr() {
    // The image's Python and numpy write what the host writes.
    let program = "import collections, datetime, decimal, fractions\ndef f(x):\n    return repr(x)";
    for text in OBJECTS.lines().filter(|text| !text.contains("{2}")) {
        let verdict = called(program, &[read(text)], &Value::str(text));
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
}

#[test]
fn what_only_looks_like_a_known_object_has_no_value_and_is_no_fault_of_the_host() {
    for (_, program) in programs(include_str!("no_values.py")) {
        for wanted in ["None", "1.5", "1", "Fraction(1, 2)", "Decimal('1')", "range(0, 1)"] {
            let verdict = called(&program, &[], &read(wanted));
            assert_eq!(verdict.status, Status::WrongAnswer, "{program}\n{}", verdict.evidence.detail);
        }
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
