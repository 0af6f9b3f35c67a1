//! A host that fails under load: workers that are killed, and a disk that is full or cannot be written. Every attempt that was accepted has an
//! answer, none is wrong, and afterwards all is as before.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use veriplay_tests::external::report_skipped;
use veriplay_tests::veriplay_program;

use super::super::commands::parse;
use super::super::{says, veriplay};
use super::{Service, agent};

/// A task that expects `1`, and one that has a reference in place of an expected value.
fn tasks() -> Value {
    let one = json!({"schema_version": 1, "problem": {"task_id": "one", "checks": {"stdio": {
        "cases": [{"stdin": "", "stdout": "1"}], "comparison": {"judge": "lines"}}}}});
    let third = json!({"task_id": "HumanEval/3", "prompt": "def f(x):\n", "canonical_solution": "    return x / 3\n",
        "entry_point": "f", "base_input": [[1]], "plus_input": [[3]], "atol": 0});
    json!([{"format": "veriplay", "row": one}, {"format": "evalplus", "row": third}])
}

/// An attempt, and its status.
fn attempt(number: usize) -> (Value, &'static str) {
    let printing = |text: &str| json!({"task_id": "one", "program": format!("# {number}\nfor i in range(2000): pass\nprint({text})")});
    match number % 3 {
        0 => (printing("0"), "wrong_answer"),
        1 => (printing("1"), "accepted"),
        _ => (json!({"task_id": "HumanEval/3", "completion": format!("    return x / 3 # {number}\n")}), "accepted"),
    }
}

/// A request of so many attempts, and their statuses.
fn batch(attempts: usize) -> (Value, Vec<&'static str>) {
    let (attempts, statuses): (Vec<Value>, Vec<&str>) = (0..attempts).map(attempt).unzip();
    (json!({"tasks": tasks(), "attempts": attempts}), statuses)
}

/// The statuses of a batch, in the order of its attempts, and how many of them came from the cache.
fn judged(service: &Service, batch: &Value) -> (Vec<String>, usize) {
    let answer = service.ask("/v1/verify", batch);
    let rows = answer["verdicts"].as_array().expect("rows");
    let statuses = rows.iter().map(|row| row["status"].as_str().unwrap_or("none").to_owned());
    (statuses.collect(), rows.iter().filter(|row| row["cached"] == json!(true)).count())
}

/// Sends a batch, and kills all workers after every few rows. Returns the rows by the index of their attempt.
fn judged_beside_kills(service: &Service, batch: &Value) -> BTreeMap<u64, Value> {
    const ROWS_BETWEEN: usize = 10;
    let request = agent().post(service.url("/v1/verify?stream=1")).header("content-type", "application/json");
    let mut response = request.send(batch.to_string()).expect("the service answers");
    let mut rows = BTreeMap::new();
    for (read, line) in BufReader::new(response.body_mut().as_reader()).lines().enumerate() {
        if read % ROWS_BETWEEN == 0 {
            service.kill_workers();
        }
        let row = parse(&line.expect("the answer comes to its end"));
        let index = row["index"].as_u64().expect("an index");
        assert!(rows.insert(index, row).is_none(), "attempt {index} is answered twice");
    }
    rows
}

#[test]
fn workers_that_are_killed_during_a_batch_lose_no_attempt_and_change_no_verdict() {
    let service = Service::start(&[]).ready();
    let (batch, statuses) = batch(60);
    let rows = judged_beside_kills(&service, &batch);
    assert_eq!(rows.len(), statuses.len());
    for ((index, row), status) in rows.iter().zip(&statuses) {
        // An attempt whose workers died again and again is a fault. It says so, and is no reward.
        let is_fault = row["fault"]["kind"] == "host" && row["reward"].is_null();
        assert!(row["status"] == *status || is_fault, "attempt {index}: {row}");
    }
    // A fault of a reference is not kept either.
    let statuses: Vec<String> = statuses.into_iter().map(str::to_owned).collect();
    assert_eq!(judged(&service, &batch), (statuses, 0));
}

#[test]
fn a_cache_in_a_place_that_cannot_be_written_costs_no_answer() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("it can be written");
    // A file in place of a folder: for every user, root included, as a disk that cannot be written.
    let service = Service::start(&["--cache", &file.join("cache").display().to_string()]).ready();
    let (batch, statuses) = batch(6);
    for _ in 0..2 {
        let (found, cached) = judged(&service, &batch);
        assert_eq!((found == statuses, cached), (true, 0), "{found:?}");
    }
    let (code, log) = service.stop();
    assert_eq!(code, Some(0));
    says(&log, &["warning: verdicts are not cached: "]);
}

/// A command that runs another one with a disk of 64 KiB at `folder`, as the same process. Only that one sees it.
fn with_small_disk(folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg(r#"mount -t tmpfs -o size=64k,mode=700 none "$0" && exec "$@""#).arg(folder);
    command.env_remove("VERIPLAY_LOG");
    command
}

#[test]
fn a_disk_that_fills_up_costs_the_cache_and_no_answer() {
    /// More than are stored at once, and than there is room for.
    const ATTEMPTS: usize = 1200;
    let folder = tempfile::tempdir().expect("a temporary directory");
    match with_small_disk(folder.path()).arg("true").output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => return report_skipped(&format!("no disk can be mounted: {}", super::stderr(&output).trim())),
        Err(error) => return report_skipped(&format!("no disk can be mounted: unshare: {error}")),
    }
    // The image is made outside of the small disk.
    drop(veriplay());
    let mut command = with_small_disk(folder.path());
    command.arg(veriplay_program()).args(["serve", "--workers", "2", "--addr", "127.0.0.1:0", "--cache"]);
    let service = Service::spawn(command.arg(folder.path())).ready();
    let (batch, statuses) = batch(ATTEMPTS);
    for _ in 0..2 {
        let (found, cached) = judged(&service, &batch);
        assert_eq!((found == statuses, cached), (true, 0));
    }
    assert_eq!(service.printed("print(2)"), "2\n");
    let (code, log) = service.stop();
    assert_eq!(code, Some(0));
    says(&log, &["warning: this run continues without the verdict cache: "]);
}
