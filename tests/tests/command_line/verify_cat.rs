//! `veriplay verify --format cat`: executors' code at Code-as-Task artifacts.
use super::says;

use serde_json::{Value, json};
use veriplay_corpus::{CodeTaskRow, built_in_environments};

use super::verify::{Bench, column, completion};

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
    bench.summary(0);
    let verdicts = bench.rows();
    assert_eq!(
        column(&verdicts, "status"),
        ["accepted", "wrong_answer", "accepted", "runtime_error", "compile_error", "fuel_exceeded", "wrong_answer"]
    );
    assert_eq!(verdicts[0]["evidence"]["jobs"].as_array().map(Vec::len), Some(4));
    says(&verdicts[3]["evidence"]["detail"].to_string(), &["ValueError: 1"]);
}

#[test]
fn a_task_that_refuses_its_own_solution_judges_no_attempt() {
    let all = artifacts();
    let row = &all[0];
    let solution = &row.code_task.solution;
    // Broken, never a bool, endless, and wrong; the last one raises at all but the solution.
    let head = "def verify(before, after, answer):";
    let verifies = [
        "def verify(before, after, answer)\n    return True".to_owned(),
        "def check(before, after, answer):\n    return True".to_owned(),
        format!("{head}\n    raise ValueError(1)"),
        format!("{head}\n    return 1"),
        format!("{head}\n    while True: pass"),
        format!("{head}\n    return False"),
        format!("{head}\n    assert answer is not None\n    return True"),
    ];
    let task = |(index, verify): (usize, &String)| {
        let mut row = row.clone();
        (row.code_task.task_id, row.code_task.verify) = (index.to_string(), verify.clone());
        serde_json::to_value(row).expect("a row is JSON")
    };
    let tasks: Vec<Value> = verifies.iter().enumerate().map(task).collect();
    let mut attempts: Vec<Value> =
        (0..tasks.len()).map(|index| json!({"task_id": index.to_string(), "program": solution})).collect();
    attempts.push(json!({"task_id": "6", "program": "pass"}));
    let bench = Bench::new(&tasks, &attempts, &["--format", "cat", "--fuel", "1000000000"]);
    let summary = bench.summary(9);
    let verdicts = bench.rows();
    assert_eq!(column(&verdicts, "status"), [["unjudgeable"; 6].as_slice(), &["accepted", "wrong_answer"]].concat());
    for verdict in &verdicts[..6] {
        let evidence = &verdict["evidence"];
        assert_eq!(evidence["rule"], "reference", "{verdict}");
        says(&evidence["detail"].to_string(), &["its own solution"]);
    }
    // The fault of a task is not counted against the attempts.
    assert_eq!(summary["pass_at_k"]["1"], 0.5);
}
