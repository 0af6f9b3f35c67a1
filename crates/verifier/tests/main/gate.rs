//! The gate for a program with one input: every rule has a case that passes and one that fails by that rule.

use veriplay_core::{
    Attempt, Dropped, Evidence, Exit, LimitKind, Proposal, ProposalVerdict, Provenance, Question, Status, TaskType,
    Value,
};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{InductionRules, ProbeRules, ProposalGate, ProposalRequest, judge_proposal};

use crate::table::{Call, Gives, Table, arguments, calls, exceeded, gate, int_of, on_int, read};

fn triplet(input: &str) -> Attempt {
    let task_type = TaskType::Deduction;
    Attempt::Proposal(Proposal::Triplet { task_type, program: "p".to_owned(), input: arguments(input) })
}

fn try_judge(table: &Table, gate: &ProposalGate, attempt: &Attempt, known: bool) -> Result<ProposalVerdict, Dropped> {
    let provenance = Provenance::Proposed { step: 3, index: 4 };
    judge_proposal(table, gate, &ProposalRequest { attempt, known, provenance })
}

pub(crate) fn judge_new(table: &Table, gate: &ProposalGate, proposal: Proposal) -> ProposalVerdict {
    try_judge(table, gate, &Attempt::Proposal(proposal), false).unwrap()
}

pub(crate) fn assert_rule(judged: &ProposalVerdict, rule: &str) {
    let ProposalVerdict { verdict, task, .. } = judged;
    assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::Invalid, rule), "{:?}", verdict.evidence);
    assert!(task.is_none() && verdict.passed == 0 && rules::RULES.contains(&rule));
}

fn judge(table: &Table, gate: &ProposalGate, input: &str) -> ProposalVerdict {
    try_judge(table, gate, &triplet(input), false).unwrap()
}

fn assert_valid(table: &Table, input: &str) {
    let judged = judge(table, &gate(), input);
    assert_eq!(judged.verdict.status, Status::Valid, "{:?}", judged.verdict.evidence);
}

fn assert_refused(table: &Table, input: &str, rule: &str) {
    assert_rule(&judge(table, &gate(), input), rule);
}

fn assert_refused_by(gate: &ProposalGate, rule: &str) {
    assert_rule(&judge(&square(), gate, "7"), rule);
}

/// `x * x`, which every rule lets through.
fn square() -> Table {
    on_int(|x| Value::int(x * x))
}

fn always(gives: Gives) -> Table {
    Table::of(move |_| gives.clone())
}

#[test]
fn a_valid_proposal_becomes_a_task_with_the_executed_output() {
    let table = square();
    let judged = judge(&table, &gate(), "7");
    let task = judged.task.unwrap();
    let Question::Deduction { program, pair } = task.question else { panic!("not a deduction task") };
    assert_eq!((program.as_str(), pair.input, pair.output), ("p", arguments("7"), read("49")));
    assert_eq!((task.family.as_str(), task.limits), ("proposed", gate().limits));
    assert_eq!(task.provenance, Provenance::Proposed { step: 3, index: 4 });
    let jobs = table.jobs();
    assert_eq!(jobs.len(), 2);
    let digests: Vec<_> = jobs.iter().map(veriplay_core::Job::digest).collect();
    assert_eq!(judged.verdict.evidence, Evidence { jobs: digests, fuel: 14, ..Evidence::default() });
}

#[test]
fn how_often_a_guess_is_right_is_the_share_of_the_others_that_are_as_the_commonest() {
    let lenient = ProposalGate { probes: ProbeRules { min_distinct_outputs: 2, ..gate().probes }, ..gate() };
    let rate = |table: &Table| judge(table, &lenient, "7").guess_rate;
    assert_eq!(rate(&square()), Some(0.0), "no output comes twice");
    // The input and its probes are 7 numbers.
    for classes in [2, 3] {
        let table = on_int(move |x| Value::int(x % classes));
        let found = rate(&table).expect("of a triplet");
        let inputs: Vec<i64> = calls(&table.jobs()[0]).iter().map(|arguments| int_of(&arguments[0])).collect();
        let of_class = |class| inputs.iter().filter(|x| *x % classes == class).count();
        let commonest = (0..classes).map(of_class).max().expect("some");
        assert_eq!(found, (commonest - 1) as f64 / 6.0, "{classes} outputs");
        assert!(found >= 1.0 / 3.0, "{classes} outputs");
    }
    // Equal values are one output, however they are written.
    let mixed = on_int(|x| read(if x == 7 { "2" } else { ["1", "1.0"][x as usize % 2] }));
    assert_eq!(rate(&mixed), Some(5.0 / 6.0));
    let refused = judge(&always(Gives::Value(read("1"))), &gate(), "7");
    assert_eq!((refused.verdict.status, refused.guess_rate), (Status::Invalid, None));
}

#[test]
fn an_abduction_proposal_becomes_an_abduction_task() {
    let proposal = Proposal::Triplet { task_type: TaskType::Abduction, program: "p".to_owned(), input: arguments("7") };
    let judged = judge_new(&square(), &gate(), proposal);
    assert!(matches!(judged.task.unwrap().question, Question::Abduction { .. }));
}

#[test]
fn a_known_proposal_is_a_duplicate_and_costs_no_job() {
    let table = square();
    let judged = try_judge(&table, &gate(), &triplet("7"), true).unwrap();
    assert_eq!(judged.verdict.evidence.rule, rules::DUPLICATE);
    assert!(table.jobs().is_empty());
    assert_valid(&table, "7");
}

#[test]
fn what_is_no_proposal_is_malformed_and_costs_no_job() {
    let table = square();
    for attempt in [Attempt::Malformed { reason: "why".to_owned() }, Attempt::Value(read("1"))] {
        let judged = try_judge(&table, &gate(), &attempt, false).unwrap();
        assert_eq!((judged.verdict.status, judged.task), (Status::Malformed, None));
    }
    assert!(table.jobs().is_empty());
}

#[test]
fn programs_have_a_length_and_a_number_of_statements() {
    assert_refused_by(&ProposalGate { max_program_bytes: 0, ..gate() }, rules::PROGRAM_LENGTH);
    assert_refused_by(&ProposalGate { min_statements: Some(2), ..gate() }, rules::STATEMENTS);
    assert_refused_by(&ProposalGate { max_statements: Some(0), ..gate() }, rules::STATEMENTS);
    let exact = ProposalGate { max_program_bytes: 1, min_statements: Some(1), max_statements: Some(1), ..gate() };
    assert_eq!(judge(&square(), &exact, "7").verdict.status, Status::Valid);
}

#[test]
fn a_program_compiles_has_its_entry_and_does_not_raise() {
    let broken = |kind| Table::default().with_module_error("p", kind);
    let ends = |exit| Table::default().with_module_end("p", exit, "SyntaxError");
    assert_refused(&ends(Exit::CompileError), "7", rules::COMPILES);
    assert_refused(&ends(Exit::MissingEntry), "7", rules::ENTRY);
    for kind in [
        "CompileError", "MissingEntry", "Unencodable", "ValueError", "Exception", "StopIteration", "SystemExit",
        "KeyboardInterrupt", "NotAnErrorAtAll",
    ] {
        assert_refused(&broken(kind), "7", rules::RAISES);
        assert_refused(&always(Gives::Raises(kind)), "7", rules::RAISES);
    }
    assert_valid(&square(), "7");
}

#[test]
fn an_interpreter_that_stops_in_the_middle_is_a_trap_wherever_it_stops() {
    assert_refused(&always(Gives::Stops(Exit::Trapped)), "7", rules::TRAPPED);
    let in_a_probe = Table::of(|call| match call.place {
        0 => Gives::Value(read("1")),
        _ => Gives::Stops(Exit::Trapped),
    });
    assert_refused(&in_a_probe, "7", rules::TRAPPED);
}

#[test]
fn limits_hold_for_the_proposed_input_and_not_for_its_probes() {
    let kinds =
        [LimitKind::Fuel, LimitKind::MemoryBytes, LimitKind::OutputBytes, LimitKind::FileBytes, LimitKind::DeadlineNs];
    for kind in kinds {
        assert_refused(&always(Gives::Stops(exceeded(kind))), "7", rules::LIMITS);
    }
    // The fifth probe never ends. The second job leaves it out.
    let table = Table::of(|call| match (call.seed, call.place) {
        (1, 5) => Gives::Stops(exceeded(LimitKind::Fuel)),
        _ => Gives::Value(Value::int(int_of(&call.arguments[0]).pow(2))),
    });
    assert_valid(&table, "7");
    let again = Table::of(|call| match call.seed {
        1 => Gives::Value(Value::int(int_of(&call.arguments[0]) + 1)),
        _ => Gives::Stops(exceeded(LimitKind::Fuel)),
    });
    assert_refused(&again, "7", rules::LIMITS);
}

#[test]
fn outputs_are_plain_values() {
    assert_refused(&always(Gives::Unencodable), "7", rules::UNENCODABLE);
    assert_refused(&always(Gives::Bytes(b"no value".to_vec())), "7", rules::UNENCODABLE);
    assert_refused(&always(Gives::Bytes(read("[1]").encode().repeat(2))), "7", rules::UNENCODABLE);
    assert_valid(&on_int(|x| Value::set_of(vec![Value::int(x), Value::str("a")], false)), "7");
}

#[test]
fn none_is_no_output_but_may_be_inside_one() {
    assert_refused(&always(Gives::Value(Value::None)), "7", rules::NONE);
    assert_valid(&on_int(|x| Value::List(vec![Value::None, Value::int(x)])), "7");
}

#[test]
fn an_output_is_as_long_as_allowed_and_never_cut() {
    let text = |chars: usize| on_int(move |x| Value::str(char::from(b'a' + (x % 26) as u8).to_string().repeat(chars)));
    assert_valid(&text(18), "7");
    assert_refused(&text(19), "7", rules::OUTPUT_LENGTH);
    assert_refused(&text(30_000), "7", rules::OUTPUT_LENGTH);
}

#[test]
fn another_seed_gives_the_same_output() {
    let random = Table::of(|call| Gives::Value(Value::int(int_of(&call.arguments[0]) + call.seed as i64)));
    assert_refused(&random, "7", rules::NONDETERMINISTIC);
    let raises_then = Table::of(|call| match call.seed {
        1 => Gives::Value(call.arguments[0].clone()),
        _ => Gives::Raises("ValueError"),
    });
    assert_refused(&raises_then, "7", rules::NONDETERMINISTIC);
    // NaN is the same output twice, an int and its float are not.
    let nan = on_int(|x| Value::List(vec![Value::Float(f64::NAN), Value::int(x)]));
    assert_valid(&nan, "7");
    let number = |seed: u64, x: i64| if seed == 1 { Value::int(x + 1) } else { Value::Float((x + 1) as f64) };
    assert_refused(
        &Table::of(move |call| Gives::Value(number(call.seed, int_of(&call.arguments[0])))),
        "7",
        rules::NONDETERMINISTIC,
    );
}

#[test]
fn a_second_image_finds_outputs_that_depend_on_the_hash_seed() {
    let by_image = |call: &Call<'_>| {
        let mut items = vec![Value::str("a"), call.arguments[0].clone()];
        if call.image == "python-other-hash" {
            items.reverse();
        }
        Gives::Value(Value::List(items))
    };
    let two = ProposalGate { second_image: Some("python-other-hash".to_owned()), ..gate() };
    assert_rule(&judge(&Table::of(by_image), &two, "7"), rules::NONDETERMINISTIC);
    assert_eq!(judge(&square(), &two, "7").verdict.status, Status::Valid);
}

#[test]
fn constants_are_refused_however_they_hide() {
    assert_refused(&always(Gives::Value(read("1"))), "7", rules::CONSTANT);
    assert_refused(&on_int(|x| Value::int(x % 2)), "7", rules::CONSTANT);
    // Constant in a fresh state, and something else for calls that come later.
    let first_call =
        |call: &Call<'_>| Gives::Value(if call.place == 0 { Value::int(0) } else { call.arguments[0].clone() });
    assert_refused(&Table::of(first_call), "7", rules::NONDETERMINISTIC);
    assert_refused(&Table::of(|call| Gives::Value(Value::int(call.place as i64))), "7", rules::NONDETERMINISTIC);
    let symmetric = |call: &Call<'_>| Gives::Value(Value::int(call.place.min(6 - call.place.min(6)) as i64));
    assert_refused(&Table::of(symmetric), "7", rules::NONDETERMINISTIC);
    assert_valid(&on_int(|x| Value::int(x % 5)), "7");
}

#[test]
fn the_identity_is_refused_in_each_of_its_forms() {
    assert_refused(&Table::of(|call| Gives::Value(call.arguments[0].clone())), "7", rules::IDENTITY);
    assert_refused(&on_int(|x| Value::Float(x as f64)), "7", rules::IDENTITY);
    assert_refused(&Table::of(|call| Gives::Value(call.arguments[1].clone())), "7, 'ab'", rules::IDENTITY);
    assert_refused(&Table::of(|call| Gives::Value(Value::Tuple(call.arguments.to_vec()))), "7, 'ab'", rules::IDENTITY);
    assert_valid(&on_int(|x| Value::int(x + 1)), "7");
    assert_valid(&Table::of(|call| Gives::Value(Value::List(call.arguments.to_vec()))), "7, 'ab'");
}

#[test]
fn enough_probes_return_and_the_others_are_ignored() {
    let only_seven = Table::of(|call| match int_of(&call.arguments[0]) {
        7 => Gives::Value(read("1")),
        _ => Gives::Raises("ValueError"),
    });
    assert_refused(&only_seven, "7", rules::PROBES);
    let not_four = Table::of(|call| match int_of(&call.arguments[0]) {
        4 => Gives::Raises("ValueError"),
        x => Gives::Value(Value::int(x * x)),
    });
    assert_valid(&not_four, "7");
    assert_refused(&always(Gives::Value(read("1"))), "None", rules::PROBES);
}

#[test]
fn a_host_fault_is_dropped_in_either_job() {
    for faulty in [1, 2] {
        let table = Table::of(move |call| match call.seed == faulty {
            true => Gives::HostFault,
            false => Gives::Value(Value::int(int_of(&call.arguments[0]) + 1)),
        });
        let dropped = try_judge(&table, &gate(), &triplet("7"), false).unwrap_err();
        assert!(dropped.why.contains("told to fail"), "{}", dropped.why);
    }
}

#[test]
fn no_job_carries_an_output_and_the_second_differs_in_seed_addresses_and_order() {
    let table = square();
    judge(&table, &gate(), "7");
    let jobs = table.jobs();
    let (first, mut second) = (calls(&jobs[0]), calls(&jobs[1]));
    assert_eq!((jobs[0].seed, jobs[1].seed), (1, 2));
    assert_eq!((jobs[0].preload.is_some(), jobs[1].preload.is_some()), (false, true), "addresses of objects differ");
    assert_eq!(first[0], arguments("7"));
    second.rotate_right(1);
    assert_eq!(first, second);
}

#[test]
fn a_gate_that_makes_no_sense_is_refused_with_the_key() {
    assert_eq!(gate().check(), Ok(()));
    let same = ProposalGate { seeds: [5, 5], ..gate() }.check().unwrap_err();
    assert_eq!(same.to_string(), "`seeds` are both `5`: they must differ");
    let ProposalGate { probes, induction, .. } = gate();
    let broken = ProposalGate { probes: ProbeRules { min_succeeded: 7, ..probes }, ..gate() };
    assert_eq!(broken.check().unwrap_err().to_string(), "`probes.min_succeeded` is `7`: it must be from `0` to `6`");
    for broken in [
        ProposalGate { probes: ProbeRules { min_distinct_outputs: 8, ..probes }, ..gate() },
        ProposalGate { induction: InductionRules { min_distinct_outputs: 5, ..induction }, ..gate() },
        ProposalGate { induction: InductionRules { hidden: 0, ..induction }, ..gate() },
        ProposalGate { min_statements: Some(3), max_statements: Some(2), ..gate() },
    ] {
        assert!(broken.check().is_err(), "{broken:?}");
    }
}
