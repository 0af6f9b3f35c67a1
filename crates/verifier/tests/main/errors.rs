//! The gate for error tasks: every rule of its own has a case that passes and one that fails by that rule.

use veriplay_core::{Exit, LimitKind, Proposal, ProposalVerdict, Question, Status, TaskType, Value};
use veriplay_verifier::ProposalGate;
use veriplay_verifier::triplets::rules;

use crate::gate::{assert_rule, judge_new};
use crate::table::{Gives, Table, arguments, calls, exceeded, gate, int_of};

fn judge(table: &Table, gate: &ProposalGate) -> ProposalVerdict {
    let (task_type, program, input) = (TaskType::Error, "p".to_owned(), arguments("7"));
    judge_new(table, gate, Proposal::Triplet { task_type, program, input })
}

fn assert_refused(table: &Table, rule: &str) {
    assert_rule(&judge(table, &gate()), rule);
}

fn at_seven(kind: &'static str) -> Table {
    Table::of(move |call| match int_of(&call.arguments[0]) {
        7 => Gives::Raises(kind),
        x => Gives::Value(Value::int(x)),
    })
}

#[test]
fn a_program_that_raises_becomes_a_task_with_the_name_of_the_exception() {
    let table = at_seven("KeyError");
    let judged = judge(&table, &gate());
    let Some(Question::Error { program, input, exception }) = judged.task.map(|task| task.question) else {
        panic!("{:?}", judged.verdict)
    };
    assert_eq!((program.as_str(), input, exception.as_str()), ("p", arguments("7"), "KeyError"));
    let jobs = table.jobs();
    assert_eq!(jobs.iter().map(|job| job.seed).collect::<Vec<_>>(), [1, 1, 2, 0]);
    assert_eq!(jobs.iter().map(|job| job.callee.is_some()).collect::<Vec<_>>(), [false, true, true, false]);
    let (first, mut second) = (calls(&jobs[1]), calls(&jobs[2]));
    assert_eq!((first.len(), &first[0]), (7, &arguments("7")));
    second.rotate_right(1);
    assert_eq!(first, second);
}

#[test]
fn a_program_that_returns_at_its_input_is_refused() {
    assert_refused(&Table::of(|call| Gives::Value(call.arguments[0].clone())), rules::NO_EXCEPTION);
    assert_refused(&Table::of(|_| Gives::Unencodable), rules::NO_EXCEPTION);
    let elsewhere = Table::of(|call| match int_of(&call.arguments[0]) {
        7 => Gives::Value(Value::int(1)),
        _ => Gives::Raises("KeyError"),
    });
    assert_refused(&elsewhere, rules::NO_EXCEPTION);
}

#[test]
fn a_name_that_is_not_built_in_is_refused() {
    assert_refused(&at_seven("Odd"), rules::OWN_EXCEPTION);
    assert_refused(&at_seven(""), rules::OWN_EXCEPTION);
    for kind in ["ValueError", "Exception", "SystemExit", "RecursionError"] {
        assert_eq!(judge(&at_seven(kind), &gate()).verdict.status, Status::Valid, "{kind}");
    }
}

#[test]
fn another_seed_order_or_image_raises_the_same() {
    let by_seed = Table::of(|call| Gives::Raises(if call.seed == 1 { "KeyError" } else { "ValueError" }));
    assert_refused(&by_seed, rules::NONDETERMINISTIC);
    let by_place = Table::of(|call| match call.place {
        0 => Gives::Raises("KeyError"),
        _ => Gives::Value(call.arguments[0].clone()),
    });
    assert_refused(&by_place, rules::NONDETERMINISTIC);
}

#[test]
fn what_happens_depends_on_the_input_unless_the_gate_takes_constants() {
    let always = Table::of(|_| Gives::Raises("KeyError"));
    assert_refused(&always, rules::CONSTANT);
    let mut lax = gate();
    lax.probes.min_distinct_outputs = 1;
    assert_eq!(judge(&always, &lax).verdict.status, Status::Valid);
    let of_another_kind = Table::of(|call| match int_of(&call.arguments[0]) {
        7 => Gives::Raises("KeyError"),
        _ => Gives::Raises("ValueError"),
    });
    assert_eq!(judge(&of_another_kind, &gate()).verdict.status, Status::Valid);
}

#[test]
fn a_program_that_could_reach_what_reports_its_exception_is_refused() {
    assert_refused(&at_seven("KeyError").with_use("p", "attribute f_back"), rules::REACHES);
    // The scan costs the most: what another rule refuses is not scanned.
    let constant = Table::of(|_| Gives::Raises("KeyError")).with_use("p", "attribute f_back");
    assert_refused(&constant, rules::CONSTANT);
    assert!(constant.jobs().iter().all(|job| job.preload.is_none()));
}

#[test]
fn a_limit_counts_at_the_input_and_not_at_a_probe() {
    assert_refused(&Table::of(|_| Gives::Stops(exceeded(LimitKind::Fuel))), rules::LIMITS);
    assert_refused(&Table::of(|_| Gives::Stops(Exit::Trapped)), rules::TRAPPED);
    // The fourth probe never ends. The last job leaves it and those behind it out.
    let table = Table::of(|call| match int_of(&call.arguments[0]) {
        7 => Gives::Raises("KeyError"),
        _ if call.seed == 1 && call.place == 4 => Gives::Stops(exceeded(LimitKind::Fuel)),
        x => Gives::Value(Value::int(x)),
    });
    assert_eq!(judge(&table, &gate()).verdict.status, Status::Valid);
    let ends = |exit| Table::default().with_module_end("p", exit, "SyntaxError");
    assert_refused(&ends(Exit::CompileError), rules::COMPILES);
    assert_refused(&ends(Exit::MissingEntry), rules::ENTRY);
    assert_refused(&ends(Exit::Raised), rules::RAISES);
}
