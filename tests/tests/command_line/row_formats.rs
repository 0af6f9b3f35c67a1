//! Rows as sets and trainers publish them, each with a right program and a wrong one, in the real sandbox. The rows are ours, in the published layouts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::commands::ended;
use super::verify::Bench;
use super::{says, stdout};

/// A row of `row_formats.jsonl`, which `--format` reads as its task, with the status of the wrong program.
#[derive(Deserialize)]
struct Case {
    format: String,
    task_id: String,
    row: Value,
    right: String,
    wrong: String,
    #[serde(default = "wrong_answer")]
    status: String,
}

fn wrong_answer() -> String {
    "wrong_answer".to_owned()
}

#[test]
fn rows_of_every_shape_accept_the_right_program_and_refuse_the_wrong_one() {
    let mut formats: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for line in include_str!("row_formats.jsonl").lines() {
        let case: Case = serde_json::from_str(line).expect("a case");
        formats.entry(case.format.clone()).or_default().push(case);
    }
    for (format, cases) in formats {
        let tasks: Vec<Value> = cases.iter().map(|case| case.row.clone()).collect();
        let programs = cases.iter().flat_map(|case| [(case, &case.right), (case, &case.wrong)]);
        let attempt = |(case, program): (&Case, &String)| json!({"task_id": case.task_id, "program": program});
        let attempts: Vec<Value> = programs.map(attempt).collect();
        let statuses = Bench::new(&tasks, &attempts, &["--format", &format]).statuses();
        let wanted: Vec<&str> = cases.iter().flat_map(|case| ["accepted", &case.status]).collect();
        assert_eq!(statuses, wanted, "{format}");
    }
}

#[test]
fn a_row_that_cannot_be_read_is_named_by_its_own_field() {
    let rows = [
        json!({"id": "good", "inputs": ["1 2\n"], "outputs": ["3\n"]}),
        json!({"id": "bad", "ground_truth": "{\"inputs\": [\"1\"], \"outputs\": [null]}"}),
        json!({"id": "math", "answer": "42"}),
    ];
    let bench = Bench::new(&rows, &[json!({"task_id": "good", "program": "print(3)"})], &["--format", "auto"]);
    let output = bench.run(&[]);
    let null = "tasks.jsonl:2: field `ground_truth.outputs[0]`: is null";
    ended(&output, 3, &[null, "tasks.jsonl:3: field `answer`: holds no tests: looked for"]);
    says(&stdout(&output), &["accepted"]);
}
