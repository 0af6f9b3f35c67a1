//! What an outcome's values are, what is said where it has none, and which verdicts count.

use veriplay_core::{
    CallResult, Digest, Evidence, Exit, GuestError, INVALID_ROW_RULE, LimitKind, Outcome, OutcomeError, REFERENCE_RULE,
    Status, UNKNOWN_TASK_RULE, Value, Verdict, VerdictRow,
};

fn outcome(exit: Exit, calls: Vec<CallResult>) -> Outcome {
    let error = match exit {
        Exit::Returned | Exit::Exceeded { .. } => None,
        _ => Some(GuestError { kind: "ValueError".to_owned(), message: "no".to_owned() }),
    };
    Outcome { calls, error, ..Outcome::new(exit) }
}

fn returned(value: impl Into<Value>) -> CallResult {
    CallResult::Returned(value.into().encode())
}

#[test]
fn the_value_of_one_call_is_read_and_those_of_several_are_in_order() {
    assert_eq!(outcome(Exit::Returned, vec![returned("a")]).value(), Ok("a".into()));
    let two = outcome(Exit::Returned, vec![returned(1), returned(vec![2.5])]);
    assert_eq!(two.values(), Ok(vec![1.into(), vec![2.5].into()]));
    assert_eq!(two.value(), Err(OutcomeError::NotOneCall(2)));
    let script = outcome(Exit::Returned, Vec::new());
    assert_eq!((script.values(), script.value()), (Ok(Vec::new()), Err(OutcomeError::NotOneCall(0))));
}

#[test]
fn an_error_says_what_failed() {
    let raised = CallResult::Raised(GuestError { kind: "KeyError".to_owned(), message: "'x'".to_owned() });
    let exceeded = Exit::Exceeded { limit: LimitKind::Fuel, allowed: 10, used: 10 };
    let cases = [
        (outcome(Exit::Returned, vec![returned(1), raised]), "call 1 raised KeyError: 'x'"),
        (
            outcome(Exit::Returned, vec![CallResult::Unencodable("a generator".to_owned())]),
            "call 0 returned no plain value: a generator",
        ),
        (
            outcome(Exit::Returned, vec![CallResult::Returned(b"?".to_vec())]),
            "call 0 returned no plain value: byte 0 of the encoded value: no such tag",
        ),
        (outcome(Exit::Raised, Vec::new()), "the program ended as Raised: ValueError: no"),
        (outcome(exceeded, vec![returned(1)]), "the program used 10 of Fuel, and 10 are allowed"),
    ];
    for (outcome, text) in cases {
        assert_eq!(outcome.values().unwrap_err().to_string(), text);
    }
}

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
