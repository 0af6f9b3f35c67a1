//! `/v1/verify`, `/v1/tasks` and `/v1/run`.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Bench, post};
use crate::service::Settings;

/// The cause is not in it.
pub(super) const HOST_FAULT: &str = "the sandbox or the machine failed; the service's log has the cause";

fn task(name: &str) -> Value {
    json!({"format": "plain", "row": {"name": name}})
}

fn attempt(task: &str, program: &str) -> Value {
    json!({"task_id": task, "program": program})
}

fn verify(programs: &[&str]) -> Value {
    let attempts: Vec<Value> = programs.iter().map(|program| attempt("one", program)).collect();
    json!({"tasks": [task("one")], "attempts": attempts})
}

#[tokio::test]
async fn each_attempt_has_its_row_in_order() {
    let bench = Bench::with(Settings { workers: 3, ..Settings::default() });
    let attempts = json!([
        attempt("one", "right"), attempt("2", "wrong"), attempt("one", "fault"), {"task_id": 2, "completion": "unjudgeable"},
        {"task_id": "one", "attempt_id": 9, "completion": "fault once"}, attempt("one", "panic"),
    ]);
    let body =
        json!({"tasks": [task("one"), task("2")], "attempts": attempts, "seed": 3, "early_stop": true, "limits": null});
    let answer = bench.post("/v1/verify", &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let answer = answer.json();
    let verdicts = answer["verdicts"].as_array().expect("rows");
    let column = |name: &str| verdicts.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("index"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(column("task_id"), ["one", "2", "one", "2", "one", "one"]);
    assert_eq!(column("attempt_id"), ["0", "0", "1", "1", "9", "3"]);
    assert_eq!(json!(column("status")), json!(["accepted", "wrong_answer", null, "unjudgeable", "wrong_answer", null]));
    assert_eq!(json!(column("reward")), json!([1.0, 0.0, null, 0.0, 0.0, null]));
    assert_eq!(verdicts[2]["fault"], json!({"kind": "host", "message": HOST_FAULT, "retried": 2}));
    assert_eq!((&verdicts[5]["fault"]["kind"], &verdicts[4]["fault"]), (&json!("bug"), &json!(null)));
    assert_eq!((&verdicts[0]["cached"], &verdicts[0]["fuel"]), (&json!(true), &json!(7)));
    assert_eq!(answer["tasks"][0]["task_id"], "one");
    assert_eq!(answer["image"].as_str().map(str::len), Some(64));
}

#[tokio::test]
async fn a_row_with_a_verdict_is_the_row_of_verify_and_four_fields() {
    let answer = Bench::serving().post("/v1/verify", &verify(&["right"])).await;
    let judged = veriplay_core::Digest::of(b"right");
    let row = format!(
        "{{\"index\":0,\"schema_version\":1,\"task_id\":\"one\",\"attempt_id\":\"0\",\"status\":\"accepted\",\"passed\":1,\"total\":1,\
         \"fuel\":7,\"evidence\":{{\"jobs\":[],\"fuel\":7,\"rule\":\"\",\"detail\":\"\"}},\"judged\":\"{judged}\",\"reward\":1.0,\
         \"cached\":true,\"fault\":null}}"
    );
    assert!(answer.text.contains(&row), "{}", answer.text);
}

#[tokio::test]
async fn a_stream_has_the_same_rows() {
    let bench = Bench::with(Settings { workers: 2, ..Settings::default() });
    let body = verify(&["right", "wrong", "fault", "x"]);
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
    assert!(bench.send(post("/v1/verify?stream=0", body.to_string())).await.json()["verdicts"].is_array());
    assert_eq!(bench.send(post("/v1/verify?stream=1", verify(&[]).to_string())).await.lines(), [json!(null); 0]);
}

#[tokio::test]
async fn a_stream_may_begin_with_the_digests_of_its_tasks() {
    let bench = Bench::serving();
    let lines = bench.send(post("/v1/verify?stream=1&tasks=1", verify(&["right"]).to_string())).await.lines();
    let digest = veriplay_core::Digest::of(b"one").to_string();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], json!({"tasks": [{"task_id": "one", "digest": digest}]}));
    assert_eq!(lines[1]["status"], "accepted");
}

#[tokio::test]
async fn tasks_are_sent_once() {
    let bench = Bench::serving();
    let sent = bench.post("/v1/tasks", &json!({"tasks": [task("one")]})).await.json();
    let digest = &sent["tasks"][0]["digest"];
    let body = json!({"tasks": [{"digest": digest}], "attempts": [attempt("one", "right")]});
    assert_eq!(bench.post("/v1/verify", &body).await.json()["verdicts"][0]["status"], "accepted");
    let unknown = json!({"tasks": [{"digest": "0".repeat(64)}], "attempts": []});
    let answer = bench.post("/v1/verify", &unknown).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let problem = answer.json();
    assert_eq!((&problem["type"], &problem["field"]), (&json!("urn:veriplay:unknown-task"), &json!("tasks[0].digest")));
}

#[tokio::test]
async fn what_the_deadline_leaves_is_a_fault() {
    let bench = Bench::serving();
    let mut body = verify(&["right", "wrong"]);
    body["deadline_ms"] = json!(0);
    for row in bench.post("/v1/verify", &body).await.json()["verdicts"].as_array().expect("rows") {
        assert_eq!(
            (&row["status"], &row["reward"], &row["fault"]["kind"]),
            (&json!(null), &json!(null), &json!("deadline"))
        );
    }
    assert!(bench.judge.started().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stop_leaves_is_a_fault_and_what_was_judged_is_not() {
    let bench = Bench::serving();
    let waiting = bench.spawn(post("/v1/verify", verify(&["right", "wait", "never"]).to_string()));
    bench.judge.until_started(2).await;
    bench.service.stop();
    let answer = waiting.await.expect("it is answered").json();
    let kinds: Vec<&Value> =
        answer["verdicts"].as_array().expect("rows").iter().map(|row| &row["fault"]["kind"]).collect();
    assert_eq!(json!(kinds), json!([null, "stopped", "stopped"]));
}

#[tokio::test]
async fn a_wrong_field_is_named() {
    let bench = Bench::serving();
    let with = |more: Value| {
        let mut body = verify(&["right"]);
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        body
    };
    for (body, field) in [
        (json!({"attempts": []}), "tasks"),
        (json!({"tasks": []}), "attempts"),
        (with(json!({"tasks": 5})), "tasks"),
        (with(json!({"task": []})), "task"),
        (with(json!({"seed": -1})), "seed"),
        (with(json!({"early_stop": "yes"})), "early_stop"),
        (with(json!({"limits": {"fuel": 1, "time": 2}})), "limits.time"),
        (with(json!({"limits": {"memory_bytes": 1}})), "limits.memory_bytes"),
        (with(json!({"limits": {"memory_bytes": 1_u64 << 40}})), "limits.memory_bytes"),
        (with(json!({"limits": {"fuel": 1_000_000_000_000_000_u64}})), "limits.fuel"),
        (with(json!({"limits": {"fuel": 0}})), "limits.fuel"),
        (with(json!({"limits": {"fuel": u64::MAX}})), "limits.fuel"),
        (with(json!({"deadline_ms": 1.5})), "deadline_ms"),
        (with(json!({"limits": [1, null]})), "limits"),
        (with(json!({"attempts": [["one", null, null, "x"]]})), "attempts[0]"),
        (with(json!({"tasks": [task("one"), task("one")]})), "tasks[1]"),
        (with(json!({"tasks": [5]})), "tasks[0]"),
        (with(json!({"tasks": [{"format": "plain"}]})), "tasks[0]"),
        (with(json!({"tasks": [{"format": "other", "row": {}}]})), "tasks[0].format"),
        (with(json!({"tasks": [{"format": "plain", "row": {}, "task_id": []}]})), "tasks[0].task_id"),
        (with(json!({"tasks": [{"format": "plain", "row": {}, "predict": "both"}]})), "tasks[0].predict"),
        (with(json!({"tasks": [{"digest": "short"}]})), "tasks[0].digest"),
        (with(json!({"tasks": [{"row": {}, "name": 1}]})), "tasks[0].name"),
        (with(json!({"attempts": [{"task_id": "one"}]})), "attempts[0].completion"),
        (with(json!({"attempts": [{"program": "x"}]})), "attempts[0].task_id"),
        (with(json!({"attempts": [{"task_id": "one", "program": "", "completion": ""}]})), "attempts[0].program"),
        (with(json!({"attempts": [attempt("one", "x"), attempt("gone", "x")]})), "attempts[1].task_id"),
        (with(json!({"attempts": [{"task_id": [], "program": ""}]})), "attempts[0].task_id"),
        (with(json!({"attempts": [{"task_id": "one", "program": 5}]})), "attempts[0].program"),
        (with(json!({"attempts": [{"task_id": "one", "code": "x"}]})), "attempts[0].code"),
    ] {
        let answer = bench.post("/v1/verify", &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["field"], field, "{body}: {problem}");
        assert_eq!((&problem["status"], &problem["type"]), (&json!(422), &json!("urn:veriplay:invalid-request")));
    }
    assert!(bench.judge.started().is_empty());
}

#[tokio::test]
async fn a_row_that_cannot_be_read_costs_no_other_task_its_verdicts() {
    let bench = Bench::serving();
    let unreadable = json!({"format": "plain", "row": {"nom": "three"}, "task_id": "two"});
    let attempts =
        json!([attempt("two", "right"), attempt("one", "right"), attempt("two", "x"), attempt("one", "wrong")]);
    let body = json!({"tasks": [task("one"), unreadable], "attempts": attempts});
    let fault = json!({"kind": "unreadable_task", "message": "it is missing", "retried": 0, "field": "name"});
    let answer = bench.post("/v1/verify", &body).await.json();
    let verdicts = answer["verdicts"].as_array().expect("rows");
    let refused =
        json!({"index": 2, "task_id": "two", "attempt_id": "1", "status": null, "reward": null, "fault": fault});
    assert_eq!(verdicts[2], refused);
    let rewards: Vec<&Value> = verdicts.iter().map(|row| &row["reward"]).collect();
    assert_eq!(rewards, [&json!(null), &json!(1.0), &json!(null), &json!(0.0)]);
    assert_eq!(answer["tasks"][1], json!({"task_id": "two", "digest": null, "fault": fault}));
    assert_eq!(answer["tasks"][0].get("fault"), None);

    let lines = bench.post("/v1/verify?stream=1", &body).await.text;
    let mut indices: Vec<u64> = lines.lines().map(|line| json_of(line)["index"].as_u64().expect("an index")).collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3]);
    let kept = bench.post("/v1/tasks", &json!({"tasks": body["tasks"]})).await;
    assert_eq!((kept.status, &kept.json()["tasks"]), (StatusCode::OK, &answer["tasks"]));
}

#[tokio::test]
async fn attempts_at_a_row_that_does_not_say_its_name_get_its_fault() {
    let bench = Bench::serving();
    let nameless = json!({"format": "plain", "row": "no JSON"});
    let attempts = json!([attempt("one", "right"), attempt("seven", "x")]);
    let answer =
        bench.post("/v1/verify", &json!({"tasks": [task("one"), nameless], "attempts": attempts})).await.json();
    assert_eq!(answer["verdicts"][0]["reward"], 1.0);
    let fault = &answer["verdicts"][1]["fault"];
    assert_eq!(fault["kind"], "unreadable_task");
    let message = fault["message"].as_str().expect("a text");
    assert!(message.starts_with("no other task has this name, and `tasks[1].row` cannot be read: "), "{message}");
}

#[tokio::test]
async fn a_task_may_have_a_name_of_the_request() {
    let bench = Bench::serving();
    let named = |name: Value| json!({"format": "plain", "row": {"name": "one"}, "task_id": name});
    let attempts = json!([attempt("a", "right"), attempt("7", "wrong")]);
    let answer =
        bench.post("/v1/verify", &json!({"tasks": [named(json!("a")), named(json!(7))], "attempts": attempts})).await;
    let rewards: Vec<Value> =
        answer.json()["verdicts"].as_array().expect("rows").iter().map(|row| row["reward"].clone()).collect();
    assert_eq!(rewards, [json!(1.0), json!(0.0)]);
}

fn json_of(line: &str) -> Value {
    serde_json::from_str(line).expect("a line of JSON")
}

#[tokio::test]
async fn no_problem_names_a_type_of_rust() {
    let bench = Bench::serving();
    for (body, detail) in [
        (json!({"program": "x", "seed": "much"}), "invalid type: string \"much\", expected a whole number from 0 on"),
        (json!({"program": "x", "seed": -1}), "invalid value: integer `-1`, expected a whole number from 0 on"),
        (json!({"program": "x", "limits": []}), "invalid type: array, expected an object"),
        (json!({"program": "x", "files": []}), "invalid type: array, expected an object"),
        (json!({"program": {}}), "invalid type: object, expected a string"),
        (json!([]), "invalid type: array, expected an object"),
        (json!({"program": "x", "files": {"a": 1}}), "expected a text, or an object with the key `base64`"),
    ] {
        let problem = bench.post("/v1/run", &body).await.json();
        assert!(problem["detail"].as_str().is_some_and(|text| text.starts_with(detail)), "{body}: {problem}");
    }
}

#[tokio::test]
async fn a_wrong_query_is_a_problem() {
    let bench = Bench::serving();
    let answer = bench.send(post("/v1/verify?stream=1&stream=0", verify(&["right"]).to_string())).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::UNPROCESSABLE_ENTITY, "application/problem+json")
    );
    let problem = answer.json();
    assert_eq!(problem["type"], "urn:veriplay:invalid-request");
    assert!(problem["detail"].as_str().expect("a text").contains("stream"), "{problem}");
    assert!(bench.judge.started().is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_json_is_told_so() {
    let bench = Bench::serving();
    for (path, body, status) in [
        ("/v1/verify", "", StatusCode::BAD_REQUEST),
        ("/v1/verify", "[]", StatusCode::BAD_REQUEST),
        ("/v1/verify", "{\"tasks\": [}", StatusCode::BAD_REQUEST),
        ("/v1/verify", "{\"tasks\": [], \"tasks\": [], \"attempts\": []}", StatusCode::UNPROCESSABLE_ENTITY),
        ("/v1/verify", "{\"tasks\": [], \"attempts\": [] } x", StatusCode::BAD_REQUEST),
        ("/v1/tasks", "{", StatusCode::BAD_REQUEST),
        ("/v1/run", "{", StatusCode::BAD_REQUEST),
        ("/v1/run", "{\"program\": \"x\"} x", StatusCode::BAD_REQUEST),
        ("/v1/run", "5", StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        assert_eq!(bench.send(post(path, body)).await.status, status, "{path} {body}");
    }
    for path in ["/v1/verify", "/v1/tasks", "/v1/run"] {
        let plain = axum::http::Request::post(path).header("content-type", "text/plain");
        let answer = bench.send(plain.body(axum::body::Body::from("{}")).expect("a request")).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
    }
}

#[tokio::test]
async fn a_packed_body_is_refused_on_every_endpoint() {
    let bench = Bench::serving();
    for path in ["/v1/verify", "/v1/run", "/run_code", "/submit"] {
        let mut request = post(path, "{}");
        request.headers_mut().insert("content-encoding", "gzip".parse().expect("a header"));
        let answer = bench.send(request).await;
        let kind = answer.json()["type"].clone();
        assert_eq!(
            (answer.status, kind),
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, json!("urn:veriplay:encoded-body")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_request_that_is_too_large_is_told_how_much_fits() {
    let bench = Bench::with(Settings { queue: 4, body_bytes: 100_000, ..Settings::default() });
    let answer = bench.post("/v1/verify", &verify(&["right"; 3])).await;
    assert_eq!((answer.status, &answer.json()["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("attempts")));
    assert_eq!(bench.post("/v1/verify", &verify(&["right"; 2])).await.status, StatusCode::OK);
    let long = "x".repeat(100_000);
    assert_eq!(bench.post("/v1/verify", &verify(&[&long])).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_row_reaches_its_parser_as_it_was_written() {
    let bench = Bench::serving();
    let spaced =
        "{\"tasks\": [{\"format\": \"plain\", \"row\":  {\"z\": 1,\n \"name\" : \"one\"} }], \"attempts\": []}";
    let text = json!({"tasks": [{"format": "plain", "row": "{\"name\": \"one\"}"}], "attempts": []}).to_string();
    for body in [spaced.to_owned(), text] {
        let answer = bench.send(post("/v1/verify", body)).await;
        assert_eq!(answer.json()["tasks"][0]["task_id"], "one");
    }
}

#[tokio::test]
async fn a_job_is_run_and_reported() {
    let bench = Bench::serving();
    let answer = bench.post("/v1/run", &json!({"program": "hi ", "stdin": "you"})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let expected = json!({"schema_version": 1, "exit": "returned", "exit_code": 0, "value": null, "error": null, "limit": null, "stdout": "hi you",
        "stderr": "", "truncated": false, "fuel": 5_000_000_000_u64, "peak_memory_bytes": 100 << 20});
    assert_eq!(answer.json(), expected);
    let call = json!({"program": "x", "call": {"function": "f", "arguments": "1, 'a'"}});
    assert_eq!(bench.post("/v1/run", &call).await.json()["value"], "[1, 'a']");
    let files = json!({"program": "files", "files": {"a": "text", "b": {"base64": "aGk="}}});
    let printed = bench.post("/v1/run", &files).await.json()["stdout"].clone();
    assert_eq!(printed, format!("{:?}", [("a", b"text".to_vec()), ("b", b"hi".to_vec())]));
    let limits = json!({"program": "limits", "limits": {"fuel": 7.0, "output_bytes": 9}});
    let printed = bench.post("/v1/run", &limits).await.json()["stdout"].to_string();
    assert!(printed.contains("fuel: 7,") && printed.contains("output_bytes: 9,"), "{printed}");
}

#[tokio::test]
async fn a_wrong_job_is_named_and_a_fault_is_no_outcome() {
    let bench = Bench::serving();
    for (body, field) in [
        (json!({}), json!("program")),
        (json!({"program": "x", "call": {}}), json!("call.function")),
        (json!({"program": 5}), json!("program")),
        (json!({"program": "x", "argv": []}), json!("argv")),
        (json!({"program": "x", "call": {"function": "f", "arguments": "os.system('x')"}}), json!("call.arguments")),
        (json!({"program": "x", "limits": {"memory_bytes": 1}}), json!("limits.memory_bytes")),
        (json!({"program": "x", "limits": {"memory_bytes": 1_u64 << 40}}), json!("limits.memory_bytes")),
        (json!({"program": "x", "limits": {"fuel": 1_000_000_000_000_000_u64}}), json!("limits.fuel")),
        (json!({"program": "x", "limits": {"fuel": 0}}), json!("limits.fuel")),
        (json!({"program": "x", "limits": {"fuel": u64::MAX}}), json!("limits.fuel")),
        (json!({"program": "x", "limits": {"output_bytes": 1_u64 << 40}}), json!("limits.output_bytes")),
        (json!({"program": "x", "limits": {"file_bytes": 1_u64 << 40}}), json!("limits.file_bytes")),
        (json!({"program": "x", "files": {"a": {"base64": "!"}}}), json!("files.a")),
        (json!({"program": "x", "files": {"/etc/x": ""}}), json!("files./etc/x")),
        (json!({"program": "x", "files": {"../x": ""}}), json!("files.../x")),
        (json!({"program": "bad job"}), json!(null)),
        // An array is no object, whatever it lists.
        (json!([]), json!(null)),
        (json!(["print(1)", "", null, {}, {}, 0, null]), json!(null)),
        (json!({"program": "x", "call": ["f", ""]}), json!("call")),
        (json!({"program": "x", "limits": [1, null, null, null]}), json!("limits")),
        (json!({"program": "x", "files": {"a": ["aGk="]}}), json!("files.a")),
    ] {
        let answer = bench.post("/v1/run", &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {}", answer.text);
        assert_eq!(answer.json().get("field").cloned().unwrap_or_default(), field, "{body}");
    }
    for (body, field) in [
        (r#"{"program": "x", "program": "y"}"#, "program"),
        (r#"{"program": "x", "limits": {"fuel": 7, "fuel": 8}}"#, "limits.fuel"),
    ] {
        let answer = bench.send(post("/v1/run", body.to_owned())).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!(field)),
            "{body}"
        );
    }
    let fault = bench.post("/v1/run", &json!({"program": "fault"})).await;
    assert_eq!((fault.status, &fault.json()["type"]), (StatusCode::BAD_GATEWAY, &json!("urn:veriplay:host-fault")));
}
