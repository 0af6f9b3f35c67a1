//! The gate for lists of inputs.

use veriplay_core::{Attempt, Proposal, Provenance, Question, Status, Value};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProposalRequest, judge_proposal};

use crate::table::{Gives, Table, arguments, gate, int_of, on_int, read};

fn judge(table: &Table, inputs: &[&str], message: &str) -> veriplay_core::ProposalVerdict {
    let inputs = inputs.iter().map(|text| arguments(text)).collect();
    let proposal = Proposal::Inputs { program: "p".to_owned(), inputs, message: message.to_owned() };
    let attempt = Attempt::Proposal(proposal);
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    judge_proposal(table, &gate(), &request).unwrap()
}

fn assert_refused(table: &Table, inputs: &[&str], rule: &str) {
    let verdict = judge(table, inputs, "").verdict;
    assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::Invalid, rule), "{:?}", verdict.evidence);
}

const FOUR: [&str; 4] = ["1", "2", "3", "4"];

#[test]
fn the_first_pairs_are_visible_and_the_others_hidden() {
    let table = on_int(|x| Value::int(x * x));
    let task = judge(&table, &FOUR, "a hint").task.unwrap();
    let Question::Induction { visible, hidden, message, reference } = task.question else {
        panic!("no induction task")
    };
    let outputs = |pairs: &[veriplay_core::IoPair]| pairs.iter().map(|pair| int_of(&pair.output)).collect::<Vec<_>>();
    assert_eq!((outputs(&visible), outputs(&hidden)), (vec![1, 4], vec![9, 16]));
    assert_eq!((visible[1].input.clone(), message.as_str(), reference.as_str()), (arguments("2"), "a hint", "p"));
    assert_eq!(table.jobs().len(), 2);
    assert_eq!(judge(&table, &FOUR, "").guess_rate, None, "no one output meets all pairs");
}

#[test]
fn inputs_are_as_many_as_asked_for_and_no_two_equal() {
    let table = on_int(Value::int);
    assert_refused(&table, &["1", "2", "3"], rules::INPUT_COUNT);
    assert_refused(&table, &["1", "2", "3", "4", "5"], rules::INPUT_COUNT);
    assert_refused(&table, &["1", "2", "3", "1"], rules::REPEATED_INPUT);
    assert_refused(&table, &["1", "2", "3", "True"], rules::REPEATED_INPUT);
    assert!(table.jobs().is_empty());
    assert_eq!(judge(&table, &FOUR, "").verdict.status, Status::Valid);
}

#[test]
fn every_input_runs_and_gives_a_short_plain_value() {
    let with = |gives: fn() -> Gives| {
        Table::of(
            move |call| if int_of(&call.arguments[0]) == 3 { gives() } else { Gives::Value(call.arguments[0].clone()) },
        )
    };
    assert_refused(&with(|| Gives::Raises("KeyError")), &FOUR, rules::RAISES);
    assert_refused(&with(|| Gives::Unencodable), &FOUR, rules::UNENCODABLE);
    assert_refused(&with(|| Gives::Value(Value::None)), &FOUR, rules::NONE);
    assert_refused(&with(|| Gives::Value(Value::str("x".repeat(100)))), &FOUR, rules::OUTPUT_LENGTH);
    assert_refused(
        &with(|| Gives::Stops(crate::table::exceeded(veriplay_core::LimitKind::Fuel))),
        &FOUR,
        rules::LIMITS,
    );
    assert_refused(&with(|| Gives::Stops(veriplay_core::Exit::Trapped)), &FOUR, rules::TRAPPED);
    assert_refused(
        &Table::default().with_module_end("p", veriplay_core::Exit::CompileError, "SyntaxError"),
        &FOUR,
        rules::COMPILES,
    );
}

#[test]
fn outputs_differ_and_do_not_depend_on_seed_or_order() {
    assert_refused(&on_int(|_| read("1")), &FOUR, rules::CONSTANT);
    assert_refused(&Table::of(|call| Gives::Value(Value::int(call.place as i64))), &FOUR, rules::NONDETERMINISTIC);
    assert_refused(&Table::of(|call| Gives::Value(Value::int(call.seed as i64))), &FOUR, rules::NONDETERMINISTIC);
    assert_eq!(judge(&on_int(|x| Value::int(x % 2)), &FOUR, "").verdict.status, Status::Valid);
}

#[test]
fn a_message_that_quotes_the_program_is_a_leak() {
    let program = "def f(x):\n    # a remark nobody minds\n    return x * x + 17\n";
    let table = Table::default().with(program, |call| Gives::Value(call.arguments[0].clone()));
    let rule = |message: &str| {
        let inputs = FOUR.map(arguments).to_vec();
        let attempt =
            Attempt::Proposal(Proposal::Inputs { program: program.to_owned(), inputs, message: message.to_owned() });
        let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
        judge_proposal(&table, &gate(), &request).unwrap().verdict.evidence.rule
    };
    assert_eq!(rule("it is `return x * x + 17`"), rules::LEAK);
    assert_eq!(rule("think of squares; a remark nobody minds"), "");
}
