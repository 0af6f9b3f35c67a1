//! `/v1/verify` and `/v1/tasks` beyond one request and its answer: rows to the byte, streams, digests, and a service that stops.

use serde_json::{Value, json};
use veriplay_core::Digest;

use super::{Bench, post};
use crate::service::Settings;

fn verify(programs: &[&str]) -> Value {
    let attempt = |program: &&str| json!({"task_id": "one", "program": program});
    let attempts: Vec<Value> = programs.iter().map(attempt).collect();
    json!({"tasks": [{"format": "plain", "row": {"name": "one"}}], "attempts": attempts})
}

#[tokio::test]
async fn a_row_with_a_verdict_is_the_row_of_verify_and_four_fields() {
    let answer = Bench::serving().post("/v1/verify", &verify(&["right"])).await;
    let judged = Digest::of(b"right");
    let row = format!(
        "{{\"index\":0,\"schema_version\":1,\"task_id\":\"one\",\"attempt_id\":\"0\",\"status\":\"accepted\",\"passed\":1,\"total\":1,\
         \"fuel\":7,\"evidence\":{{\"jobs\":[],\"fuel\":7,\"rule\":\"\",\"detail\":\"\"}},\"judged\":\"{judged}\",\"reward\":1.0,\
         \"cached\":true,\"fault\":null}}"
    );
    assert!(answer.text.contains(&row), "{}", answer.text);
    assert_eq!(answer.json()["image"], Digest::of(b"image").to_string());
}

#[tokio::test]
async fn a_stream_has_the_same_rows_and_may_begin_with_the_digests_of_its_tasks() {
    let bench = Bench::with(Settings { workers: 2, ..Settings::default() });
    let mut body = verify(&["right", "wrong", "fault", "x"]);
    let tasks = body["tasks"].as_array_mut().expect("a list");
    tasks.push(json!({"format": "plain", "row": {"nom": "two"}, "task_id": "two"}));
    body["attempts"].as_array_mut().expect("a list").push(json!({"task_id": "two", "program": "x"}));
    let whole = bench.post("/v1/verify", &body).await.json()["verdicts"].clone();
    let mut accept = post("/v1/verify", body.to_string());
    accept.headers_mut().insert("accept", "application/x-ndjson".parse().expect("a header"));
    for request in [post("/v1/verify?stream=1", body.to_string()), accept] {
        let answer = bench.send(request).await;
        assert_eq!(answer.header("content-type"), "application/x-ndjson");
        let mut rows = answer.lines();
        rows.sort_by_key(|row| row["index"].as_u64());
        assert_eq!(json!(rows), whole);
    }
    assert!(bench.post("/v1/verify?stream=0", &body).await.json()["verdicts"].is_array());
    assert_eq!(bench.post("/v1/verify?stream=1", &verify(&[])).await.lines(), [json!(null); 0]);

    let lines = bench.post("/v1/verify?stream=1&tasks=1", &verify(&["right"])).await.lines();
    let digest = Digest::of(b"one").to_string();
    assert_eq!((lines.len(), &lines[0]), (2, &json!({"tasks": [{"task_id": "one", "digest": digest}]})));
    assert_eq!(lines[1]["status"], "accepted");
}

#[tokio::test]
async fn tasks_are_sent_once() {
    let bench = Bench::serving();
    let mut body = verify(&["right"]);
    let sent = bench.post("/v1/tasks", &json!({"tasks": body["tasks"]})).await.json();
    body["tasks"] = json!([{"digest": sent["tasks"][0]["digest"]}]);
    assert_eq!(bench.post("/v1/verify", &body).await.json()["verdicts"][0]["status"], "accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stop_leaves_is_a_fault_and_what_was_judged_is_not() {
    let bench = Bench::serving();
    let waiting = bench.spawn(post("/v1/verify", verify(&["right", "wait", "never"]).to_string()));
    bench.judge.until_started(2).await;
    bench.service.stop();
    let answer = waiting.await.expect("it is answered").json();
    let rows = answer["verdicts"].as_array().expect("rows");
    let kinds: Vec<&Value> = rows.iter().map(|row| &row["fault"]["kind"]).collect();
    assert_eq!(json!(kinds), json!([null, "stopped", "stopped"]));
}
