//! HumanEval and CRUXEval as published, on the real sandbox.

use rayon::prelude::*;
use veriplay_core::{Checks, Limits, Problem, ProblemRow, Status, TestCode, TestStyle, Value};
use veriplay_corpus::{ReadOptions, problem_format, read_problems};
use veriplay_tests::assert_none;
use veriplay_tests::external::published_file;
use veriplay_verifier::check_prediction;

use super::{LONG, judge, python};

const LIMITS: Limits = Limits { fuel: 20_000_000_000, ..LONG };

/// The problems of a published file, which has so many.
pub(super) fn problems(name: &str, format: &str, count: usize) -> Vec<Problem> {
    let Some(path) = published_file(name) else { return Vec::new() };
    let file = read_problems(&path, problem_format(format).unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!((file.bad, file.rows.len()), (vec![], count));
    let ready = |row| match row {
        ProblemRow::Ready(problem) => problem,
        ProblemRow::Unexecuted(row) => panic!("{} is not ready", row.task_id),
    };
    file.rows.into_iter().map(|(_, row)| ready(row)).collect()
}

/// The test code of a problem of HumanEval, and the name of the function that it checks.
pub(super) fn checked_function(problem: &Problem) -> (&TestCode, &str) {
    match &problem.checks {
        Checks::Tests(code @ TestCode { style: TestStyle::Check { function, .. }, .. }) => (code, function),
        _ => panic!("{} has no check function", problem.task_id),
    }
}

/// The set's own solutions, by task id.
fn canonical_solutions() -> Vec<(String, String)> {
    let Some(path) = published_file("HumanEval.jsonl.gz") else { return Vec::new() };
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())).unwrap();
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        (field("task_id"), field("prompt") + &field("canonical_solution"))
    };
    text.lines().map(row).collect()
}

/// The program with a bug planted in what its function returns: another number, truth, text or length.
fn with_bug(program: &str, function: &str) -> String {
    format!(
        "{program}\n_right = {function}\ndef {function}(*arguments):\n    value = _right(*arguments)\n    \
         kind = type(value)\n    if kind is bool: return not value\n    if kind in (int, float): return value + 1\n    \
         if kind is str: return value + 'x'\n    if kind in (list, tuple): return kind((*value, 0))\n    \
         return 0 if value is None else None\n"
    )
}

#[test]
fn humaneval_solutions_are_accepted_in_split_trust_and_those_with_a_bug_are_not() {
    let problems = problems("HumanEval.jsonl.gz", "humaneval", 164);
    let faults = problems.par_iter().zip(canonical_solutions()).filter_map(|(problem, (task_id, program))| {
        assert_eq!(problem.task_id, task_id);
        let buggy = with_bug(&program, checked_function(problem).1);
        let [right, bug] = [&program, &buggy].map(|program| judge(problem, program, LIMITS));
        let told = format!("{task_id}: {right:?}; with a bug {bug:?}");
        (right.status != Status::Accepted || bug.status != Status::WrongAnswer).then_some(told)
    });
    assert_none(faults.collect());
}

#[test]
fn cruxeval_outputs_are_reproduced_and_changed_ones_are_not() {
    let problems = problems("cruxeval.jsonl", "cruxeval", 800);
    let faults = problems.par_iter().filter_map(|problem| {
        let Checks::Prediction(prediction) = &problem.checks else { panic!("{} predicts nothing", problem.task_id) };
        let mut changed = prediction.clone();
        changed.output = Value::List(vec![changed.output]);
        let found = [prediction, &changed]
            .map(|prediction| check_prediction(python(), prediction, "python", LIMITS, 0).unwrap().status);
        let told = format!("{}: {found:?}", problem.task_id);
        (found != [Status::Accepted, Status::WrongAnswer]).then_some(told)
    });
    assert_none(faults.collect());
}
