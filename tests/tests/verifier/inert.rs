//! Test code that changes nothing of its process is not looked at while it runs. Code beyond that must be.

use veriplay_core::{Exit, Job, Status, TestCode, TestStyle, Trust, Value};

use super::cases::programs;
use super::{LONG, judge_by_tests, python};

/// Whether the guest says that this test code can change nothing of its process.
fn is_inert(source: &str) -> bool {
    let program = "from _veriplay_inert import is_inert\nfrom _veriplay_tests import Nodes\ndef f(source):\n    return is_inert(Nodes(source))\n";
    let outcome = python().run(&Job { limits: LONG, ..Job::call(program, "f", [Value::str(source)]) }).unwrap();
    assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
    outcome.value().unwrap() == Value::Bool(true)
}

#[test]
fn test_code_is_inert_where_it_can_change_nothing_of_its_process() {
    for (claim, source) in programs(include_str!("inert.py")) {
        assert_eq!(is_inert(&source), claim == "inert", "{source}");
    }
}

/// What is sent in CPython's own format, and what is not: each comes as it was.
#[test]
fn values_of_every_kind_cross_between_tests_and_program() {
    let values = [
        "None", "True", "0", "-1", "2 ** 31", "-(2 ** 31) - 1", "2 ** 5000", "-0.0", "1e308", "'é\\n'",
        "'\\U0001f600' * 99", "b'\\xff\\0'", "()", "(1, ('a',), [])", "[[], [[1]], {}]", "{'a': [1], (1, 2): None}",
        "{1, 2, 3}", "frozenset({1, (2,)})", "1j", "range(3)", "bytearray(b'a')", "[float('inf')]",
    ]; // fmt: skip
    let mut asserts: Vec<String> = values.iter().map(|value| format!("x = {value}\nassert f(x) == x")).collect();
    asserts.push("assert repr(f(-0.0)) == '-0.0'".to_owned());
    asserts.push("x = float('nan')\ny = f(x)\nassert y != y".to_owned());
    asserts.push("from decimal import Decimal\nassert f(Decimal('1.50')) == Decimal('1.5')".to_owned());
    asserts.push("from fractions import Fraction\nfrom datetime import date\nassert f([Fraction(1, 3), date(2026, 1, 2)])[1].day == 2".to_owned());
    let count = asserts.len();
    let code = TestCode::new(Trust::Split, TestStyle::Asserts(asserts));
    let verdict = judge_by_tests(code.clone(), "def f(x): return x", LONG);
    assert_eq!((verdict.status, verdict.passed as usize), (Status::Accepted, count), "{verdict:?}");
    let wrong = judge_by_tests(code, "def f(x): return [x]", LONG);
    assert_eq!((wrong.status, wrong.passed), (Status::WrongAnswer, 0), "{wrong:?}");
}
