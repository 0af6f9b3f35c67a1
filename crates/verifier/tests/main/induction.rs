//! The gate for lists of inputs.

use veriplay_core::{Exit, IoPair, LimitKind, Proposal, ProposalVerdict, Question, Status, Value};
use veriplay_verifier::triplets::rules;

use crate::gate::{assert_rule, judge_new};
use crate::table::{Gives, Table, arguments, exceeded, gate, int_of, on_int, read};

fn judge_of(table: &Table, program: &str, inputs: &[&str], message: &str) -> ProposalVerdict {
    let inputs = inputs.iter().map(|text| arguments(text)).collect();
    judge_new(table, &gate(), Proposal::Inputs { program: program.to_owned(), inputs, message: message.to_owned() })
}

fn judge(table: &Table, inputs: &[&str], message: &str) -> ProposalVerdict {
    judge_of(table, "p", inputs, message)
}

fn assert_refused(table: &Table, inputs: &[&str], rule: &str) {
    assert_rule(&judge(table, inputs, ""), rule);
}

const FOUR: [&str; 4] = ["1", "2", "3", "4"];

#[test]
fn the_first_pairs_are_visible_and_the_others_hidden() {
    let table = on_int(|x| Value::int(x * x));
    let task = judge(&table, &FOUR, "a hint").task.unwrap();
    let Question::Induction { visible, hidden, message, reference } = task.question else {
        panic!("no induction task")
    };
    let outputs = |pairs: &[IoPair]| pairs.iter().map(|pair| int_of(&pair.output)).collect::<Vec<_>>();
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
    for (gives, rule) in [
        (Gives::Raises("KeyError"), rules::RAISES),
        (Gives::Unencodable, rules::UNENCODABLE),
        (Gives::Value(Value::None), rules::NONE),
        (Gives::Value(Value::str("x".repeat(100))), rules::OUTPUT_LENGTH),
        (Gives::Stops(exceeded(LimitKind::Fuel)), rules::LIMITS),
        (Gives::Stops(Exit::Trapped), rules::TRAPPED),
    ] {
        let table = Table::of(move |call| match int_of(&call.arguments[0]) {
            3 => gives.clone(),
            x => Gives::Value(Value::int(x)),
        });
        assert_refused(&table, &FOUR, rule);
    }
    assert_refused(&Table::default().with_module_end("p", Exit::CompileError, "SyntaxError"), &FOUR, rules::COMPILES);
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
    let rule = |message: &str| judge_of(&table, program, &FOUR, message).verdict.evidence.rule;
    assert_eq!(rule("it is `return x * x + 17`"), rules::LEAK);
    assert_eq!(rule("think of squares; a remark nobody minds"), "");
}
