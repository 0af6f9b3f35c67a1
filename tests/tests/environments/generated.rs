//! What is drawn: environments hold what their README says under random calls (invariants, refusals that change nothing, one state from one list of calls,
//! and plain values alone), and tasks that the templates make pass the whole gate in every environment.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use veriplay_core::{CallResult, CodeTask, EncodeCaps, Execute, Exit, Job, Limits, Status, Value};
use veriplay_corpus::environments::built_in_environment_names;
use veriplay_corpus::{GeneratedTask, Split, TaskGenerator};
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::complete_with_failures;
use veriplay_verifier::on_all_cores;

use super::{LIMITS, corpus, environment, examined, gate, judged, python, ran_in, remembered};

/// Calls tools with arguments drawn from what has been seen; returns (made, refused, names of tools that returned once).
const DRIVER: &str = include_str!("driver.py");

fn drive(source: &str, seeds: std::ops::Range<i64>) -> Vec<Value> {
    let arguments = seeds.map(|seed| vec![Value::str(source), Value::int(seed), Value::int(250)]);
    let job = Job::calls(DRIVER, "drive", arguments);
    let job = Job { limits: Limits { fuel: 20_000_000_000, ..LIMITS }, seed: 1, ..job };
    let outcome = python().execute(&job).unwrap();
    assert_eq!(outcome.exit, Exit::Returned, "{:?}", outcome.error);
    let value = |call: &CallResult| match call {
        CallResult::Returned(bytes) => Value::decode(bytes, EncodeCaps::with_bytes(1 << 20)).unwrap(),
        other => panic!("{other:?}"),
    };
    outcome.calls.iter().map(value).collect()
}

#[test]
fn invariants_hold_and_refused_calls_change_nothing() {
    for one in corpus() {
        let runs = drive(&one.environment.source, 0..12);
        assert_eq!(drive(&one.environment.source, 0..12), runs, "{} is not deterministic", one.environment.name);
        let mut worked = BTreeSet::new();
        for run in &runs {
            let Value::Tuple(parts) = run else { panic!("{run}") };
            let [_, _, Value::List(names)] = parts.as_slice() else { panic!("{run}") };
            worked.extend(names.iter().map(Value::to_string));
        }
        assert!(worked.len() >= 7, "{}: only {worked:?} ever returned", one.environment.name);
    }
}

#[test]
fn the_driver_notices_a_tool_that_breaks_something() {
    let source = &environment("ledger").source;
    let broken = source.replace("sum(lines.values()) or ", "");
    assert_ne!(&broken, source);
    let careless = broken.replace(
        "def transfer(",
        "def transfer(*a: int) -> int:\n    raise ValueError(POSTINGS.clear())\n\n\ndef old(",
    );
    assert!(std::panic::catch_unwind(|| drive(&careless, 0..3)).is_err());
}

#[test]
fn an_environment_is_the_same_under_every_seed_of_the_code() {
    let print_all =
        "for n in list_tickets('open'): print(get_ticket(n))\nanswer([get_agent(a) for a in list_agents()])";
    let [first, second] = [1, 2].map(|seed| ran_in(environment("tickets"), &[], print_all, seed));
    assert_eq!((&first.stdout, &first.answer, &first.calls), (&second.stdout, &second.answer, &second.calls));
    assert!(first.stdout.lines().count() > 5);
}

fn compact_proposal(draft: &GeneratedTask) -> CompactProposal {
    let change = |(line, text): &(usize, String)| LineChange { line: *line, text: text.clone() };
    let (instruction, solution) = (draft.instruction.clone(), draft.solution.clone());
    CompactProposal { instruction, solution, wrong: draft.changes.iter().map(change).collect() }
}

/// What comes of drafts of the environment `name`.
fn completed(name: &str, tasks: &[CodeTask]) -> Vec<Option<CodeTask>> {
    on_all_cores(tasks, |task| complete_with_failures(remembered(), &gate(), environment(name), task).unwrap())
}

#[test]
fn a_generated_task_passes_the_gate_and_half_of_the_drafts_make_one_at_least() {
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts = Split::ALL.into_iter().flat_map(|split| generator.tasks(split, 3).take(8).collect::<Vec<_>>());
        let tasks: Vec<CodeTask> = drafts.map(|draft| compact_proposal(&draft).task(&draft.solution, name)).collect();
        let whole: Vec<CodeTask> = completed(name, &tasks).into_iter().flatten().collect();
        assert!(2 * whole.len() >= tasks.len(), "{name}: {} of {}", whole.len(), tasks.len());
        whole.par_iter().for_each(|task| {
            let verdict = examined(&gate(), task).verdict;
            assert_eq!(verdict.status, Status::Valid, "{task:?}\n{:?}", verdict.evidence);
        });
        whole.par_iter().take(4).for_each(|task| {
            assert_eq!(judged(remembered(), task, &task.solution).status, Status::Accepted, "{task:?}");
            assert_ne!(judged(remembered(), task, &task.failures[0]).status, Status::Accepted, "{task:?}");
        });
    }
}

#[test]
fn something_comes_of_nearly_every_template_in_a_small_sample() {
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts: Vec<GeneratedTask> = generator.tasks(Split::Train, 5).take(120).collect();
        let tasks: Vec<CodeTask> = drafts.iter().map(|draft| compact_proposal(draft).task("", name)).collect();
        let mut works: BTreeMap<&str, bool> = BTreeMap::new();
        for (draft, whole) in drafts.iter().zip(completed(name, &tasks)) {
            draft.parts.iter().for_each(|part| *works.entry(part).or_default() |= whole.is_some());
        }
        let broken: Vec<&&str> = works.iter().filter(|(_, works)| !**works).map(|(name, _)| name).collect();
        assert!(broken.len() <= 2 && works.len() > 15, "{name}: nothing comes of {broken:?}");
    }
}
