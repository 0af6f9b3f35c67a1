//! Rows of verdicts: which of them count.

use veriplay_core::{
    Digest, Evidence, INVALID_ROW_RULE, REFERENCE_RULE, Status, UNKNOWN_TASK_RULE, Verdict, VerdictRow,
};

fn row(status: Status, rule: &str) -> VerdictRow {
    let evidence = Evidence { rule: rule.to_owned(), ..Evidence::default() };
    let verdict = Verdict { status, passed: 0, total: 1, evidence };
    VerdictRow::new("task".to_owned(), "0".to_owned(), Digest::of(b"judged"), Ok(verdict))
}

#[test]
fn what_no_attempt_can_bring_about_does_not_count() {
    for rule in [REFERENCE_RULE, INVALID_ROW_RULE, UNKNOWN_TASK_RULE] {
        assert!(!row(Status::Unjudgeable, rule).counts(), "{rule}");
    }
    assert!(row(Status::Unjudgeable, "").counts() && row(Status::WrongAnswer, "").counts());
    assert!(row(Status::Unjudgeable, REFERENCE_RULE).has_task() && row(Status::Accepted, "").has_task());
    assert!(!row(Status::Unjudgeable, INVALID_ROW_RULE).has_task());
    assert!(!row(Status::Unjudgeable, UNKNOWN_TASK_RULE).has_task());
}
