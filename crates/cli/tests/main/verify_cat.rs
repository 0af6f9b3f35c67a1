//! `veriplay verify --format cat`: executors' code at Code-as-Task artifacts.

use serde_json::{Value, json};
use veriplay_corpus::{CodeTaskRow, built_in_environments};

use super::verify::{Bench, column, completion, rows};

fn artifacts() -> Vec<CodeTaskRow> {
    let all = built_in_environments().into_iter().flat_map(|one| one.tasks);
    all.take(2).map(|hand| CodeTaskRow { schema_version: 1, code_task: hand.task }).collect()
}

#[test]
fn executors_code_is_judged_by_the_artifacts_verification_function() {
    let artifacts = artifacts();
    let tasks: Vec<Value> = artifacts.iter().map(|row| serde_json::to_value(row).expect("a row is JSON")).collect();
    let [first, second] = [&artifacts[0].code_task, &artifacts[1].code_task];
    let program = |text: &str| json!({"task_id": first.task_id, "program": text});
    let attempts = [
        program(&first.solution),
        program(&first.failures[0]),
        completion(&second.task_id, &format!("So:\n```python\n{}```\n", second.solution)),
        program("raise ValueError(1)"),
        program("answer("),
        program("while True:\n    pass"),
        program(""),
    ];
    let bench = Bench::new(&tasks, &attempts, &["--format", "cat", "--fuel", "1000000000"]);
    let summary = bench.summary(0);
    let verdicts = rows(&bench.out());
    assert_eq!(
        column(&verdicts, "status"),
        ["accepted", "wrong_answer", "accepted", "runtime_error", "compile_error", "fuel_exceeded", "wrong_answer"]
    );
    assert_eq!(verdicts[0]["evidence"]["jobs"].as_array().map(Vec::len), Some(4));
    assert!(verdicts[3]["evidence"]["detail"].as_str().is_some_and(|text| text.contains("ValueError: 1")), "{summary}");
}
