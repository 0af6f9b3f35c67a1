//! What strangers send, with what is right: the rows of `field_cases.jsonl`, rewritten from public reports of bugs, and our own of the same kinds.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::serve::Service;
use super::verify::{Bench, rows};
use super::{finished, last_json, veriplay};

/// Cases that differ here, as their own note allows and docs/verifying.md says: a program sees no name of the tests' set-up, which lies in
/// another instance. Under shared trust it does.
const DIFFERENT: &[&str] = &["py-future-import"];

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    input: Value,
    expected: Value,
}

fn cases(kind: &str) -> Vec<Case> {
    let rows = include_str!("field_cases.jsonl").lines();
    let all = rows.map(|line| serde_json::from_str(line).expect("a row is a case"));
    let of_kind: Vec<Case> = all.filter(|case: &Case| case.kind == kind).collect();
    assert!(of_kind.len() >= 5, "there are cases of kind {kind}");
    of_kind
}

/// What is wrong of the cases: each id with whether it is as expected, and what was found.
fn check(found: impl IntoIterator<Item = (String, bool, String)>) {
    let wrong: Vec<String> = found
        .into_iter()
        .filter(|(id, right, _)| *right == DIFFERENT.contains(&id.as_str()))
        .map(|(id, right, what)| format!("{id}{}: {what}", if right { " is right now" } else { "" }))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn verdicts_are_those_that_strangers_expect() {
    let mut by_format: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases("verify") {
        by_format.entry(case.input["format"].as_str().expect("a format").to_owned()).or_default().push(case);
    }
    let mut found = Vec::new();
    for (format, cases) in by_format {
        let column = |name: &str| cases.iter().map(|case| case.input[name].clone()).collect::<Vec<Value>>();
        let bench = Bench::new(&column("task"), &column("attempt"), &["--format", &format, "--out", "out.jsonl"]);
        bench.run(&[]);
        let verdicts = rows(&bench.out());
        assert_eq!(verdicts.len(), cases.len());
        for (case, verdict) in cases.into_iter().zip(verdicts) {
            found.push((case.id, verdict["status"] == case.expected["status"], verdict.to_string()));
        }
    }
    check(found);
}

#[test]
fn programs_run_as_they_run_natively() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    check(cases("run").into_iter().map(|case| {
        let file = folder.path().join("program.py");
        std::fs::write(&file, case.input["program"].as_str().expect("a program")).expect("it can be written");
        let report = last_json(&finished(veriplay().args(["run", "--json"]).arg(&file)));
        let right = ["exit", "stdout"].iter().all(|name| report[name] == case.expected[name]);
        (case.id, right, report.to_string())
    }));
}

#[test]
fn requests_are_answered_as_strangers_expect() {
    let service = Service::start(&[]).ready();
    check(cases("serve").into_iter().map(|case| {
        let path = case.input["path"].as_str().expect("a path");
        let (status, text) = service.post(path, &case.input["json"]);
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let right = json!(status) == case.expected["http"] && is_answer(&answer, &case.expected["json"]);
        (case.id, right, format!("{status} {}", text.chars().take(600).collect::<String>()))
    }));
}

/// Whether an answer has the expected parts: the whole of it, or fields by their paths, of which `len(path)` is the length of a text.
fn is_answer(answer: &Value, expected: &Value) -> bool {
    let Value::Object(parts) = expected else { return expected.is_null() || answer == expected };
    parts.iter().all(|(path, wanted)| match path.strip_prefix("len(").and_then(|path| path.strip_suffix(')')) {
        Some(path) => part(answer, path).as_str().map(str::len).map(Value::from).as_ref() == Some(wanted),
        None => part(answer, path) == wanted,
    })
}

fn part<'a>(answer: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(answer, |value, name| &value[name])
}
