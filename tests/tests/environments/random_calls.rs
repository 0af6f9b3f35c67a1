//! Environments hold what their README says under random calls: invariants, refusals that change nothing, one state from
//! one list of calls, and plain values alone.

use veriplay_core::{CallResult, EncodeCaps, Execute, Exit, Job, Limits, Value};
use veriplay_verifier::environments::{CodeRequest, run_code};

use super::{LIMITS, corpus, environment, python};

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
        let mut worked = std::collections::BTreeSet::new();
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
    let run = |seed: u64| {
        let (environment, image, limits) = (environment("tickets"), "python", LIMITS);
        run_code(python(), &CodeRequest { environment, history: &[], code: print_all, image, limits, seed }).unwrap()
    };
    let (first, second) = (run(1), run(2));
    assert_eq!((&first.stdout, &first.answer, &first.calls), (&second.stdout, &second.answer, &second.calls));
    assert!(first.stdout.lines().count() > 5);
}
