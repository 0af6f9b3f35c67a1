//! The guest is CPython: what it prints is what the native `python3` prints. Programs are the project's own corpus and,
//! where its file is present, CRUXEval. Without a `python3` the tests say so and pass.

use std::io::Write;
use std::process::{Command, Stdio};

use rayon::prelude::*;
use veriplay_core::{Checks, Execute, Exit, Job, Value};
use veriplay_corpus::{SeedTriplet, built_in_seeds};
use veriplay_tests::assert_none;
use veriplay_tests::external::report_skipped;

use super::{LIMITS, python};

/// What `python3` prints for each program, all in one process, each in a namespace of its own.
fn native(programs: &[String]) -> Option<Vec<String>> {
    const RUNNER: &str = include_str!("native.py");
    let mut command = Command::new("python3");
    command.args(["-I", "-S", "-c", RUNNER]).env("PYTHONHASHSEED", "0").stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        report_skipped("there is no `python3` to compare with");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = programs.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn guest(program: &str) -> String {
    let job = Job { limits: LIMITS, ..Job::script(program) };
    let outcome = python().execute(&job).unwrap();
    let raised = match (&outcome.exit, &outcome.error) {
        (Exit::Returned, _) => String::new(),
        (_, Some(error)) => format!("{}\n", error.kind),
        (exit, None) => format!("{exit:?}\n"),
    };
    String::from_utf8(outcome.stdout).unwrap() + &raised
}

fn assert_same(programs: &[String]) {
    let Some(native) = native(programs) else { return };
    assert_eq!(native.len(), programs.len());
    let differs = |(program, wanted): (&String, &String)| {
        let found = guest(program);
        (found != *wanted).then(|| format!("{program}\n--- python3:\n{wanted}--- guest:\n{found}"))
    };
    assert_none(programs.par_iter().zip(&native).filter_map(differs).collect());
}

#[test]
fn the_projects_own_programs_print_the_same() {
    let calls = |seed: SeedTriplet| {
        let call = |input: &Vec<Value>| format!("{}\nprint(repr(f({})))\n", seed.program, Value::arguments_text(input));
        seed.inputs.iter().map(call).collect::<Vec<_>>()
    };
    let mut programs: Vec<String> = built_in_seeds().into_iter().flat_map(calls).collect();
    assert!(programs.len() > 20);
    programs.extend(super::cases::programs(include_str!("parity.py")).into_iter().map(|(_, program)| program));
    assert_same(&programs);
}

#[test]
fn cruxeval_programs_print_the_same() {
    let call = |problem: veriplay_core::Problem| match problem.checks {
        Checks::Prediction(prediction) => format!("{}\nprint(repr(f({})))\n", prediction.program, prediction.input),
        _ => panic!("{} is no prediction", problem.task_id),
    };
    let problems = super::public_sets::problems("cruxeval.jsonl", "cruxeval", 800);
    assert_same(&problems.into_iter().map(call).collect::<Vec<_>>());
}
