//! The image's pytest beside pytest 9.2, whose result of each case stands in `pytest_cases.py`.

use veriplay_core::{Limits, Status, TestCode, TestStyle, Trust, Verdict};

use super::cases::programs;
use super::{LONG, judge_by_tests};

/// What split trust may refuse: an exception group does not cross, and numpy changes the filters of warnings as it is imported.
const MAY_NOT_CROSS: &[&str] = &["raises_group", "raises_generic_group", "approx_array", "approx_array_far"];

fn judged(trust: Trust, source: &str, program: &str) -> Verdict {
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
            let count = passed.strip_prefix("passed ").and_then(|count| count.parse().ok());
            verdict.status == Status::Accepted
                && count.is_some_and(|count| (count, count) == (verdict.passed, verdict.total))
        }
    }
}

#[test]
fn test_code_is_judged_as_pytest_judges_it() {
    let mut sections = include_str!("pytest_cases.py").split("# == ").skip(1);
    let (_, program) = sections.next().unwrap().split_once('\n').unwrap();
    let mut wrong = Vec::new();
    for section in sections {
        let (header, source) = section.split_once('\n').unwrap();
        let (name, expected) = header.split_once(": ").unwrap();
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged(trust, source, program);
            let may_not_cross = trust == Trust::Split && MAY_NOT_CROSS.contains(&name);
            let refused = may_not_cross && verdict.status == Status::Unjudgeable;
            if !(refused || agrees(&verdict, expected)) {
                wrong.push(format!(
                    "{name} ({trust:?}) is not `{expected}`: {:?} {:?}",
                    verdict.status, verdict.evidence
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Marks that look like those which leave a test or a case out, and the program has a part in each.
#[test]
fn a_mark_that_the_program_may_have_made_leaves_no_test_out() {
    let mut wrong = Vec::new();
    for (_, source) in programs(include_str!("pytest_skips.py")) {
        let source = format!("{source}\ndef test_always(): assert callable(f)\n");
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged(trust, &source, "GONE = True\nrows = []\ndef int(x): return True\ndef f(): return 0");
            if verdict.status == Status::Accepted {
                wrong.push(format!("{source} ({trust:?}): {:?}", verdict.evidence));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A tree is as deep as an expression is long. What is too deep for the compiler is no fault of the program's.
#[test]
fn long_expressions_are_judged_or_unjudgeable() {
    let sum = |terms: usize| {
        format!("def test(): assert {} == {terms}", (0..terms).map(|_| "f()").collect::<Vec<_>>().join(" + "))
    };
    for trust in [Trust::Shared, Trust::Split] {
        let verdict = judged(trust, &sum(1200), "def f(): return 1");
        assert_eq!(verdict.status, Status::Accepted, "{trust:?} {:?}", verdict.evidence);
        let verdict = judged(trust, &sum(60_000), "def f(): return 1");
        assert_eq!(verdict.status, Status::Unjudgeable, "{trust:?} {:?}", verdict.evidence);
    }
}
