//! Test code that is run twice, or is not looked at while it runs because it changes nothing of its process: `test_code.py` has verdicts. And the image's
//! pytest beside pytest 9.2, whose result of each case stands in `pytest_cases.py`.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{Checks, Exit, Job, Limits, Problem, Status, TestCode, TestStyle, Trust, Value, Verdict};
use veriplay_tests::assert_none;
use veriplay_verifier::{ProblemRequest, judge_program};

use super::cases::programs;
use super::{LONG, judge_by_tests, python, squares};
use crate::hosts::faulty;

fn judged(trust: Trust, source: &str, program: &str) -> Verdict {
    judge_by_tests(TestCode::new(trust, TestStyle::Functions(source.to_owned())), program, LONG)
}

#[test]
fn a_verdict_is_the_same_again_fuel_included() {
    let program = "def square(n): return n * n";
    let first = judge_by_tests(squares(), program, LONG);
    for _ in 0..5 {
        assert_eq!(judge_by_tests(squares(), program, LONG), first);
    }
    assert!(first.evidence.fuel > 0);
}

/// What a program changes of a list in the library, the tests' own instance does not have.
const SHARES_A_LIST: &str = "import keyword\nfrom solution import known\ndef test_known():\n    assert known('if')\n    \
                             keyword.kwlist.append('fi')\n    assert not known('fi')\n";

#[test]
fn an_accepted_program_has_passed_beside_the_tests_too() {
    let by_set = "import keyword\nKNOWN = set(keyword.kwlist)\ndef known(word): return word in KNOWN";
    let right = judged(Trust::Split, SHARES_A_LIST, by_set);
    assert_eq!((right.status, right.evidence.jobs.len()), (Status::Accepted, 2), "{right:?}");
    let wrong = judged(Trust::Split, SHARES_A_LIST, "def known(word): return True");
    assert_eq!((wrong.status, wrong.evidence.jobs.len()), (Status::WrongAnswer, 1), "{wrong:?}");
    let by_list = "import keyword\ndef known(word): return word in keyword.kwlist";
    let differs = judged(Trust::Split, SHARES_A_LIST, by_list);
    assert_eq!((differs.status, differs.passed, differs.evidence.jobs.len()), (Status::Unjudgeable, 0, 2));
    for said in ["in an instance of its own", "beside them", "`test_known`", "Failed"] {
        assert!(differs.evidence.detail.contains(said), "{differs:?}");
    }
    let shared = judged(Trust::Shared, SHARES_A_LIST, by_list);
    assert_eq!((shared.status, shared.evidence.jobs.len()), (Status::WrongAnswer, 1));
}

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

/// What split trust may refuse: an exception group does not cross, and numpy changes the filters of warnings as it is imported.
const MAY_NOT_CROSS: &[&str] = &["raises_group", "raises_generic_group", "approx_array", "approx_array_far"];

fn judged_with_pytest(trust: Trust, source: &str, program: &str) -> Verdict {
    let style = TestStyle::Functions(format!("import pytest\nfrom solution import *\n{source}"));
    judge_by_tests(TestCode::new(trust, style), program, Limits { fuel: 20_000_000_000, ..LONG })
}

/// Whether a verdict matches the case. Where no test is run, none has passed.
fn agrees(verdict: &Verdict, expected: &str) -> bool {
    match expected {
        "failed" => matches!(verdict.status, Status::WrongAnswer | Status::RuntimeError),
        "skipped" => verdict.status == Status::WrongAnswer,
        "unjudgeable" => verdict.status == Status::Unjudgeable,
        passed => {
            let found = format!("passed {}", verdict.passed);
            verdict.status == Status::Accepted && verdict.passed == verdict.total && passed == found
        }
    }
}

#[test]
fn test_code_is_judged_as_pytest_judges_it() {
    let mut sections =
        include_str!("pytest_cases.py").split("# == ").skip(1).map(|part| part.split_once('\n').unwrap());
    let (_, program) = sections.next().unwrap();
    let mut faults = Vec::new();
    for (header, source) in sections {
        let (name, expected) = header.split_once(": ").unwrap();
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged_with_pytest(trust, source, program);
            let may_not_cross = trust == Trust::Split && MAY_NOT_CROSS.contains(&name);
            let refused = may_not_cross && verdict.status == Status::Unjudgeable;
            if !(refused || agrees(&verdict, expected)) {
                faults.push(format!("{name} ({trust:?}) is not `{expected}`: {verdict:?}"));
            }
        }
    }
    assert_none(faults);
}

/// Marks that look like those which leave a test or a case out, and the program has a part in each.
#[test]
fn a_mark_that_the_program_may_have_made_leaves_no_test_out() {
    for (_, source) in programs(include_str!("pytest_skips.py")) {
        let source = format!("{source}\ndef test_always(): assert callable(f)\n");
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged_with_pytest(
                trust,
                &source,
                "GONE = True\nrows = []\ndef int(x): return True\ndef f(): return 0",
            );
            assert_ne!(verdict.status, Status::Accepted, "{source} ({trust:?}): {:?}", verdict.evidence);
        }
    }
}

/// A tree is as deep as an expression is long. What is too deep for the compiler is no fault of the program's.
#[test]
fn long_expressions_are_judged_or_unjudgeable() {
    for (terms, status) in [(1200, Status::Accepted), (60_000, Status::Unjudgeable)] {
        let source = format!("def test(): assert {} == {terms}", vec!["f()"; terms].join(" + "));
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged_with_pytest(trust, &source, "def f(): return 1");
            assert_eq!(verdict.status, status, "{trust:?} {:?}", verdict.evidence);
        }
    }
}

/// Mistake 9: in the release an executor that fails gives None, which is left out of solve rates here and counted as wrong there. Here a host fault is
/// Dropped, which is no verdict and so can be counted as nothing.
#[test]
fn a_host_fault_in_the_run_beside_the_tests_is_no_verdict() {
    let problem = Problem::new("t", Checks::Tests(squares()));
    let judged_on_flaky = |program| {
        let jobs = AtomicUsize::new(0);
        let flaky = faulty(python(), |_| jobs.fetch_add(1, Ordering::SeqCst) == 1);
        judge_program(&flaky, &ProblemRequest { limits: LONG, ..ProblemRequest::new(&problem, program) })
    };
    assert!(judged_on_flaky("def square(n): return n * n").unwrap_err().why.contains("on fire"));
    assert_eq!(judged_on_flaky("def square(n): return n").unwrap().status, Status::WrongAnswer);
}
