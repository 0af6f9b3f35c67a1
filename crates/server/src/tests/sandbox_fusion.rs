//! `/run_code`: the bodies of the original, its errors, and what its clients may rely on.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{Bench, post};
use crate::service::Settings;

/// What verl sends.
fn request(code: &str) -> Value {
    json!({"compile_timeout": 10, "run_timeout": 10, "code": code, "stdin": "1 2\n", "memory_limit_MB": 1024,
           "language": "python", "files": {}, "fetch_files": []})
}

async fn result(bench: &Bench, code: &str) -> Value {
    let answer = bench.post("/run_code", &request(code)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn the_answer_is_that_of_the_original() {
    let bench = Bench::serving();
    let answer = bench.post("/run_code", &request("hello ")).await;
    let id = answer.header("x-request-id").to_owned();
    assert!(!id.is_empty());
    let run =
        json!({"status": "Finished", "execution_time": 0.25, "return_code": 0, "stdout": "hello 1 2\n", "stderr": ""});
    let expected = json!({"status": "Success", "message": "", "compile_result": null, "run_result": run,
        "executor_pod_name": null, "files": {}, "request_id": id, "fuel": 5_000_000_000_u64, "truncated": false});
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn each_end_of_a_program_has_its_words() {
    let bench = Bench::serving();
    for (code, status, run, code_of, stdout) in [
        ("x", "Success", "Finished", json!(0), "x1 2\n"),
        ("raise", "Failed", "Finished", json!(1), "before\n"),
        ("exit 3", "Failed", "Finished", json!(3), ""),
        ("leave", "Success", "Finished", json!(0), "flushed"),
        ("crash", "Failed", "Finished", json!(-11), ""),
        ("loop", "Failed", "TimeLimitExceeded", json!(null), "so far\n"),
        ("memory", "Failed", "Finished", json!(1), ""),
        (
            "bytes",
            "Success",
            "Finished",
            json!(0),
            "[DecodeError] 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte",
        ),
    ] {
        let found = result(&bench, code).await;
        let ran = &found["run_result"];
        assert_eq!(
            (&found["status"], &ran["status"], &ran["return_code"], &ran["stdout"]),
            (&json!(status), &json!(run), &code_of, &json!(stdout)),
            "{code}"
        );
    }
    assert_eq!(result(&bench, "memory").await["run_result"]["stderr"], "MemoryError\n");
}

#[tokio::test]
async fn time_limits_become_fuel_and_memory_is_bounded() {
    let bench = Bench::with(Settings { most_memory_bytes: 512 << 20, ..Settings::default() });
    let limits = async |more: Value| {
        let mut body = json!({"code": "limits", "language": "python"});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let answer = bench.post("/run_code", &body).await.json();
        answer["run_result"]["stdout"].as_str().expect("a text").to_owned()
    };
    let default = limits(json!({})).await;
    assert!(
        default.contains("fuel: 200000000000,") && default.contains(&format!("memory_bytes: {},", 512 << 20)),
        "{default}"
    );
    let less = limits(json!({"run_timeout": 0.5, "memory_limit_MB": 1, "stdin": null})).await;
    assert!(less.contains("fuel: 30000000000,") && less.contains(&format!("memory_bytes: {},", 80 << 20)), "{less}");
    assert!(limits(json!({"run_timeout": 0})).await.contains("fuel: 0,"));
}

#[tokio::test]
async fn files_are_decoded_as_the_original_does() {
    let bench = Bench::serving();
    let files = json!({"a.txt": "aGk=", "./b/c": "aGk", "none": null, "odd": "a.G-k="});
    let body = json!({"code": "files", "language": "python", "files": files});
    let answer = bench.post("/run_code", &body).await.json();
    let expected = format!("{:?}", [("b/c", b"hi"), ("a.txt", b"hi"), ("odd", b"hi")]);
    assert_eq!(answer["run_result"]["stdout"], expected);
}

#[tokio::test]
async fn files_are_returned_in_base64_and_missing_ones_left_out() {
    let body = json!({"code": "fetch", "language": "python", "fetch_files": ["a/b.txt", "/etc/passwd", "../x"]});
    let answer = Bench::serving().post("/run_code", &body).await.json();
    assert_eq!(answer["files"], json!({"a/b.txt": "aGk="}));
}

#[tokio::test]
async fn a_wrong_field_is_named_as_fastapi_does() {
    let bench = Bench::serving();
    for (body, kind, loc) in [
        (json!({"language": "python"}), "missing", json!(["body", "code"])),
        (json!({"code": 5, "language": "python"}), "string_type", json!(["body", "code"])),
        (json!({"code": "x"}), "missing", json!(["body", "language"])),
        (json!({"code": "x", "language": "cobol"}), "literal_error", json!(["body", "language"])),
        (json!({"code": "x", "language": "python", "stdin": 5}), "string_type", json!(["body", "stdin"])),
        (
            json!({"code": "x", "language": "python", "run_timeout": "s"}),
            "float_parsing",
            json!(["body", "run_timeout"]),
        ),
        (
            json!({"code": "x", "language": "python", "run_timeout": 1e9}),
            "less_than_equal",
            json!(["body", "run_timeout"]),
        ),
        (json!({"code": "x", "language": "python", "files": []}), "dict_type", json!(["body", "files"])),
        (
            json!({"code": "x", "language": "python", "files": {"../x": ""}}),
            "value_error",
            json!(["body", "files", "../x"]),
        ),
        (json!({"code": "x", "language": "python", "files": {"x": "a"}}), "value_error", json!(["body", "files", "x"])),
        (json!({"code": "x", "language": "python", "files": {"x": 1}}), "string_type", json!(["body", "files", "x"])),
        (json!({"code": "x", "language": "python", "fetch_files": 1}), "list_type", json!(["body", "fetch_files"])),
        (json!([1]), "model_attributes_type", json!(["body"])),
    ] {
        let answer = bench.post("/run_code", &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        let detail = &answer.json()["detail"][0];
        assert_eq!((&detail["type"], &detail["loc"]), (&json!(kind), &loc), "{body}");
        assert!(detail["msg"].is_string() && detail.get("input").is_some(), "{body}");
    }
    let broken = bench.send(post("/run_code", "{\"code\": \"\\ud800\"}")).await;
    assert_eq!(
        (broken.status, &broken.json()["detail"][0]["type"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("json_invalid"))
    );
    let form = Request::post("/run_code").body(Body::from("{}")).expect("a request");
    assert_eq!(bench.send(form).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bench.judge.started().is_empty());
}

#[tokio::test]
async fn a_job_that_cannot_run_is_the_requests_fault() {
    let answer = Bench::serving().post("/run_code", &request("bad job")).await;
    assert_eq!(
        (answer.status, answer.json()),
        (StatusCode::UNPROCESSABLE_ENTITY, json!({"detail": "it has two files of one name"}))
    );
}

#[tokio::test]
async fn a_fault_of_the_host_is_tried_again_and_then_504() {
    let bench = Bench::serving();
    assert_eq!(result(&bench, "fault once").await["status"], "Success");
    let answer = bench.post("/run_code", &request("fault")).await;
    assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(bench.judge.started().iter().filter(|program| *program == "fault").count(), 3);
    assert!(bench.get("/metrics").await.text.contains("veriplay_faults_total{kind=\"host\"} 1"));
    // A bug of ours is no verdict either.
    assert_eq!(bench.post("/run_code", &request("panic")).await.status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(result(&bench, "x").await["status"], "Success");
}

#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let bench = Bench::with(Settings { body_bytes: 1000, ..Settings::default() });
    let answer = bench.post("/run_code", &request(&"x".repeat(1000))).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(bench.post("/run_code", &request(&"x".repeat(500))).await.status, StatusCode::OK);
    assert!(answer.json()["detail"].as_str().expect("a text").contains("1000 bytes"));
}

#[tokio::test]
async fn a_large_body_is_parsed_elsewhere_and_answered_the_same() {
    let answer = Bench::serving().post("/run_code", &request(&"x".repeat(1 << 20))).await.json();
    assert_eq!(answer["run_result"]["stdout"].as_str().map(str::len), Some((1 << 20) + 4));
}

#[tokio::test]
async fn ping_answers() {
    let answer = Bench::serving().get("/v1/ping").await;
    assert_eq!((answer.status, answer.json()), (StatusCode::OK, json!("pong")));
}
