//! Judge `checker`: a program of the problem's own, which may decide or fail to.

use veriplay_core::{Comparison, Entry, Exit, LimitKind, REFERENCE_RULE, Status, Value};

use crate::problems::{calls_problem, judged, stdio_problem, try_judge};
use crate::problems_stdio::Scripts;
use crate::table::{Call, Gives, Table, exceeded, read};

/// A comparison by the checker `c`.
fn by_checker() -> Comparison {
    Comparison { checker: Some("c".to_owned()), ..Comparison::by("checker") }
}

/// The program `p` gives what it gets; the checker `c` is a closure.
fn echo(checker: impl Fn(&Call<'_>) -> Gives + Send + Sync + 'static) -> Table {
    Table::of(|call| Gives::Value(call.arguments[0].clone())).with("c", checker)
}

#[test]
fn the_checker_decides_on_input_expected_and_actual() {
    let same_parity = |call: &Call<'_>| {
        let [Value::Tuple(input), expected, actual] = call.arguments else { panic!("three arguments") };
        assert_eq!(input.as_slice(), std::slice::from_ref(actual));
        let even = |value: &Value| crate::table::int_of(value) % 2 == 0;
        Gives::Value(Value::Bool(even(expected) == even(actual)))
    };
    let problem = calls_problem(&[("4", "2"), ("5", "7"), ("6", "1")], by_checker());
    let table = echo(same_parity);
    assert_eq!(judged(&table, &problem), (Status::WrongAnswer, 2, 3));
    assert_eq!(judged(&table, &calls_problem(&[("4", "2")], by_checker())), (Status::Accepted, 1, 1));
    let checkers: Vec<_> = table.jobs().into_iter().filter(|job| job.program == "c").collect();
    assert_eq!(checkers.len(), 4);
    for job in checkers {
        assert!(
            matches!(&job.entry, Entry::Calls { function, arguments } if function == "check" && arguments.len() == 1)
        );
    }
}

/// The ways in which a checker does not decide, and what is said of each.
fn undecided() -> [(Gives, &'static str); 8] {
    [
        (Gives::Raises("TypeError"), "TypeError"),
        (Gives::Unencodable, "type `object`"),
        (Gives::Value(read("1")), "`int`"),
        (Gives::Value(read("None")), "`NoneType`"),
        (Gives::Value(read("'True'")), "`str`"),
        (Gives::Bytes(b"?".to_vec()), "does not decide"),
        (Gives::Stops(exceeded(LimitKind::Fuel)), "Fuel"),
        (Gives::Stops(Exit::Returned), "0 results"),
    ]
}

#[test]
fn a_checker_that_never_decides_makes_attempts_unjudgeable_by_the_rule_of_references() {
    let problem = calls_problem(&[("4", "4")], by_checker());
    for (gives, wanted) in undecided() {
        let verdict = try_judge(&echo(move |_| gives.clone()), &problem).unwrap();
        let evidence = &verdict.evidence;
        assert_eq!((verdict.status, evidence.rule.as_str()), (Status::Unjudgeable, REFERENCE_RULE), "{evidence:?}");
        assert!(evidence.detail.contains("checker") && evidence.detail.contains(wanted), "{evidence:?}");
    }
    let broken = Table::of(|_| Gives::Value(read("4"))).with_module_end("c", Exit::CompileError, "SyntaxError");
    assert_eq!(try_judge(&broken, &problem).unwrap().status, Status::Unjudgeable);
}

#[test]
fn an_attempt_that_breaks_the_checker_is_wrong() {
    for (gives, _) in undecided() {
        let checker = move |call: &Call<'_>| match call.arguments {
            [_, expected, actual] if expected == actual => Gives::Value(Value::Bool(true)),
            _ => gives.clone(),
        };
        assert_eq!(judged(&echo(checker), &calls_problem(&[("4", "5")], by_checker())), (Status::WrongAnswer, 0, 1));
    }
}

#[test]
fn what_the_attempt_did_wrong_is_no_matter_of_the_checker() {
    let fails = |_: &Call<'_>| -> Gives { panic!("the checker must not run") };
    let problem = calls_problem(&[("4", "4")], by_checker());
    for (gives, wanted) in [
        (Gives::Raises("ValueError"), Status::RuntimeError),
        (Gives::Unencodable, Status::WrongAnswer),
        (Gives::Raises("Unencodable"), Status::RuntimeError),
        (Gives::Stops(exceeded(LimitKind::Fuel)), Status::FuelExceeded),
    ] {
        let table = Table::of(move |_| gives.clone()).with("c", fails);
        assert_eq!(judged(&table, &problem), (wanted, 0, 1));
    }
}

#[test]
fn the_program_never_gets_what_the_checker_gets() {
    let table = echo(|_| Gives::Value(Value::Bool(true)));
    assert_eq!(judged(&table, &calls_problem(&[("4", "987654321")], by_checker())).0, Status::Accepted);
    for job in table.jobs() {
        assert_eq!(format!("{job:?}").contains("987654321"), job.program == "c", "{job:?}");
    }
}

#[test]
fn a_checker_of_texts_gets_three_texts() {
    let checker = |call: &Call<'_>| {
        let texts: Vec<String> = call.arguments.iter().map(ToString::to_string).collect();
        Gives::Value(Value::Bool(texts == ["'in'", "'out'", "'written'"]))
    };
    let scripts =
        |written: &'static [u8]| Scripts::writing(move |_| written.to_vec()).with(Table::default().with("c", checker));
    let problem = stdio_problem(&[("in", "out")], by_checker());
    assert_eq!(judged(&scripts(b"written"), &problem), (Status::Accepted, 1, 1));
    assert_eq!(judged(&scripts(b"other"), &problem), (Status::WrongAnswer, 0, 1));
    assert_eq!(judged(&scripts(b"written\xff"), &problem), (Status::WrongAnswer, 0, 1));
}
