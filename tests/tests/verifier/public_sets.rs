//! HumanEval and CRUXEval as published, on the real sandbox.

use rayon::prelude::*;
use veriplay_core::{Checks, Limits, Problem, ProblemRow, Status, TestCode, TestStyle, Value, Verdict};
use veriplay_corpus::{ReadOptions, problem_format, read_problems};
use veriplay_tests::external::published_file;
use veriplay_verifier::{ProblemRequest, check_prediction, judge_program};

use super::{LONG, python};

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

/// The set's own solutions, by task id.
fn canonical_solutions() -> Vec<(String, String)> {
    let Some(path) = published_file("HumanEval.jsonl.gz") else { return Vec::new() };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()), &mut text)
        .unwrap();
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        (field("task_id"), field("prompt") + &field("canonical_solution"))
    };
    text.lines().map(row).collect()
}

fn judged(problem: &Problem, program: &str) -> Verdict {
    judge_program(python(), &ProblemRequest { limits: LIMITS, ..ProblemRequest::new(problem, program) }).unwrap()
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
    let wrong: Vec<String> = problems
        .par_iter()
        .zip(canonical_solutions())
        .filter_map(|(problem, (task_id, program))| {
            assert_eq!(problem.task_id, task_id);
            let Checks::Tests(TestCode { style: TestStyle::Check { function, .. }, .. }) = &problem.checks else {
                panic!("{task_id} has no check function")
            };
            let (right, bug) = (judged(problem, &program), judged(problem, &with_bug(&program, function)));
            let told = format!("{task_id}: {right:?}; with a bug {bug:?}");
            (right.status != Status::Accepted || bug.status != Status::WrongAnswer).then_some(told)
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn cruxeval_outputs_are_reproduced_and_changed_ones_are_not() {
    let problems = problems("cruxeval.jsonl", "cruxeval", 800);
    let wrong: Vec<String> = problems
        .par_iter()
        .filter_map(|problem| {
            let Checks::Prediction(prediction) = &problem.checks else {
                panic!("{} predicts nothing", problem.task_id)
            };
            let check = |prediction| check_prediction(python(), prediction, "python", LIMITS, 0).unwrap().status;
            let mut changed = prediction.clone();
            changed.output = Value::List(vec![changed.output]);
            let found = (check(prediction), check(&changed));
            let told = format!("{}: {found:?}", problem.task_id);
            (found != (Status::Accepted, Status::WrongAnswer)).then_some(told)
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}
