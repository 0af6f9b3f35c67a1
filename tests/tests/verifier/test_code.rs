//! What is kept, and what is run twice, where test code judges: `test_code.py` has its verdicts.

use veriplay_core::{Status, TestCode, TestStyle, Trust, Verdict};

use super::{LONG, judge_by_tests, squares};

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
