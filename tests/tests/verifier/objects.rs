//! Values of classes beyond the literal ones, across the boundary and back, and programs that break those classes.

use veriplay_core::{Limits, Problem, Status, Value};

use super::cases::programs;
use super::{LIMITS, judge};

/// One object of each class of Python's and numpy's, and their edges, one a line.
const OBJECTS: &str = include_str!("objects.txt");

fn read(text: &str) -> Value {
    Value::parse_repr(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// Asserts how judge `exact` ends on `f(input)`.
#[track_caller]
fn assert_called(status: Status, program: &str, input: &[Value], expected: &Value) {
    let problem = Problem::calls("f", [(input.to_vec(), expected.clone())]);
    // Room for an import of numpy.
    let verdict = judge(&problem, program, Limits { fuel: 20 * LIMITS.fuel, ..LIMITS });
    assert_eq!(verdict.status, status, "{program}\n{input:?} -> {expected}: {}", verdict.evidence.detail);
}

#[test]
fn an_object_goes_in_and_comes_back_as_it_was() {
    for value in OBJECTS.lines().map(read) {
        assert_called(Status::Accepted, "def f(x):\n    return x", std::slice::from_ref(&value), &value);
    }
}

#[test]
fn what_goes_in_is_an_object_of_its_class_with_the_same_repr() {
    // The image's Python and numpy write what the host writes.
    let program = "import collections, datetime, decimal, fractions\ndef f(x):\n    return repr(x)";
    for text in OBJECTS.lines().filter(|text| !text.contains("{2}")) {
        assert_called(Status::Accepted, program, &[read(text)], &Value::str(text));
    }
}

/// A line of the file is an expression, and the `repr` of what it makes.
#[test]
fn what_python_makes_comes_out_as_its_repr_says() {
    let imports = "import cmath, datetime\nimport numpy as np\nfrom collections import *\nfrom decimal import Decimal\n\
                   from fractions import Fraction\ndef f():\n    return ";
    for line in include_str!("made.txt").lines() {
        let (expression, wanted) = line.split_once(" -> ").expect("an expression and its value");
        assert_called(Status::Accepted, &format!("{imports}{expression}"), &[], &read(wanted));
    }
}

#[test]
fn a_dict_with_defaults_is_compared_by_its_items_whatever_makes_them() {
    // The judge `exact` compares classes, too.
    let wanted = read("[defaultdict(None, {'a': 1})]");
    for factory in ["lambda: 0", "lambda: defaultdict(int)", "Counter", "partial(list, 'a')", "C"] {
        let program = format!(
            "from collections import Counter, defaultdict\nfrom functools import partial\nclass C: pass\n\
             def f(n):\n    found = defaultdict({factory})\n    found['a'] = n\n    return [found]"
        );
        assert_called(Status::Accepted, &program, &[Value::int(1)], &wanted);
        assert_called(Status::WrongAnswer, &program, &[Value::int(2)], &wanted);
    }
}

#[test]
fn what_only_looks_like_a_known_object_has_no_value_and_is_no_fault_of_the_host() {
    for (_, program) in programs(include_str!("no_values.py")) {
        for wanted in ["None", "1.5", "1", "Fraction(1, 2)", "Decimal('1')", "range(0, 1)"] {
            assert_called(Status::WrongAnswer, &program, &[], &read(wanted));
        }
    }
}

#[test]
fn a_class_that_the_program_broke_gives_it_the_state_of_its_arguments() {
    let no_fraction = "from fractions import Fraction\ndef boom(*a, **k): raise SystemExit\nFraction.__new__ = boom";
    for (broken, argument, state) in
        [(no_fraction, "Fraction(1, 2)", "(1, 2)"), ("import sys\nsys.modules['numpy'] = 3", "np.int64(7)", "7")]
    {
        assert_called(Status::Accepted, &format!("{broken}\ndef f(x): return x"), &[read(argument)], &read(state));
    }
}
