//! Test code that is run twice, or is not looked at while it runs because it changes nothing of its process: `test_code.py` has verdicts.

use veriplay_core::{Exit, Job, Status, TestCode, TestStyle, Trust, Value, Verdict};

use super::cases::programs;
use super::{LONG, judge_by_tests, python, squares};

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
    let right = judged(
        Trust::Split,
        SHARES_A_LIST,
        "import keyword\nKNOWN = set(keyword.kwlist)\ndef known(word): return word in KNOWN",
    );
    assert_eq!((right.status, right.evidence.jobs.len()), (Status::Accepted, 2), "{right:?}");
    let wrong = judged(Trust::Split, SHARES_A_LIST, "def known(word): return True");
    assert_eq!((wrong.status, wrong.evidence.jobs.len()), (Status::WrongAnswer, 1), "{wrong:?}");
    let differs = judged(Trust::Split, SHARES_A_LIST, "import keyword\ndef known(word): return word in keyword.kwlist");
    assert_eq!((differs.status, differs.passed, differs.evidence.jobs.len()), (Status::Unjudgeable, 0, 2));
    for said in ["in an instance of its own", "beside them", "`test_known`", "Failed"] {
        assert!(differs.evidence.detail.contains(said), "{differs:?}");
    }
    let shared = judged(Trust::Shared, SHARES_A_LIST, "import keyword\ndef known(word): return word in keyword.kwlist");
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
