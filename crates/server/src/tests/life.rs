//! Starting, deadlines, cancelling, draining, stopping; and what is the same for all requests.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use veriplay_core::CancellationToken;

use super::{Bench, post};
use crate::client::{ClientKey, Tokens};
use crate::phase::Phase;
use crate::queue::{Admission, FirstSlices, Unfinished};
use crate::service::{Service, Settings};

fn code(program: &str) -> Value {
    json!({"code": program, "language": "python"})
}

fn run_code(program: &str) -> Request<Body> {
    post("/run_code", code(program).to_string())
}

fn run(program: &str) -> Value {
    json!({"program": program})
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_judge_is_there_programs_wait_and_native_requests_are_told() {
    let bench = Bench::starting(Settings::default());
    let waiting = bench.spawn(run_code("x"));
    let ready = bench.get("/ready").await;
    assert_eq!((ready.status, ready.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "1"));
    assert_eq!(bench.get("/health").await.status, StatusCode::OK);
    assert_eq!(bench.post("/v1/run", &run("x")).await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(bench.get("/v1/info").await.status, StatusCode::SERVICE_UNAVAILABLE);
    bench.start();
    assert_eq!(waiting.await.expect("it is answered").status, StatusCode::OK);
    assert_eq!(bench.get("/ready").await.status, StatusCode::OK);
}

#[tokio::test]
async fn work_whose_deadline_has_passed_is_not_done() {
    let bench = Bench::serving();
    let work = |service: &Service, _: &CancellationToken| Some(service.judge().is_some());
    let client = || ClientKey::named("a");
    let late = bench.service.run_one(client(), Admission::Always, Some(Instant::now()), work).await;
    assert_eq!(late, Err(Unfinished::Deadline));
    assert_eq!(bench.service.run_one(client(), Admission::Always, None, work).await, Ok(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_its_waiting_work_cancelled() {
    let bench = Bench::serving();
    let first = bench.spawn(run_code("wait"));
    bench.judge.until_started(1).await;
    let second = bench.spawn(run_code("never"));
    bench.until_waiting(1).await;
    second.abort();
    bench.until_waiting(0).await;
    bench.judge.release();
    assert_eq!(first.await.expect("it is answered").status, StatusCode::OK);
    assert_eq!(bench.judge.started(), ["wait"]);
    assert!(bench.get("/metrics").await.text.contains("veriplay_cancelled_total 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_its_running_work_cancelled() {
    let bench = Bench::serving();
    let verify = json!({"tasks": [{"format": "plain", "row": {"name": "one"}}],
        "attempts": [{"task_id": "one", "program": "endless"}]});
    let endless = [
        run_code("endless"),
        post("/v1/run", run("endless").to_string()),
        post("/v1/verify", verify.to_string()),
        post("/v1/verify?stream=1", verify.to_string()),
    ];
    for (before, request) in endless.into_iter().enumerate() {
        let running = bench.spawn(request);
        bench.judge.until_started(2 * before + 1).await;
        let other = bench.spawn(run_code("other"));
        bench.until_waiting(1).await;
        running.abort();
        assert_eq!(other.await.expect("it is answered").status, StatusCode::OK);
    }
    let metrics = bench.get("/metrics").await.text;
    assert!(metrics.contains("veriplay_cancelled_total 4"), "{metrics}");
    assert!(!metrics.contains("veriplay_faults_total{"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_runs_at_its_deadline_is_cancelled_and_has_no_result() {
    let bench = Bench::serving();
    let verify = json!({"tasks": [{"format": "plain", "row": {"name": "one"}}], "deadline_ms": 50,
        "attempts": [{"task_id": "one", "program": "endless"}, {"task_id": "one", "program": "right"}]});
    let answer = bench.post("/v1/verify", &verify).await.json();
    let rows = answer["verdicts"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!((&row["reward"], &row["fault"]["kind"]), (&Value::Null, &json!("deadline")), "{row}");
    }
    let late = bench.post("/v1/run", &json!({"program": "endless", "deadline_ms": 50})).await;
    assert_eq!((late.status, &late.json()["type"]), (StatusCode::GATEWAY_TIMEOUT, &json!("urn:veriplay:deadline")));
    assert_eq!(bench.post("/run_code", &code("other")).await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_without_end_do_not_keep_others_from_their_answers() {
    let slices = FirstSlices { spares: 1, patience: Duration::ZERO, length: Duration::ZERO };
    let bench = Bench::with(Settings { slices, ..Settings::default() });
    let endless: Vec<_> = (0..32).map(|_| bench.spawn(run_code("endless"))).collect();
    bench.judge.until_started(2).await;
    let others: Vec<_> = (0..32).map(|_| bench.spawn(run_code("other"))).collect();
    for other in others {
        assert_eq!(other.await.expect("it is answered").status, StatusCode::OK);
    }
    let verify = json!({"tasks": [{"format": "plain", "row": {"name": "one"}}], "deadline_ms": 2000,
        "attempts": [{"task_id": "one", "program": "endless"}, {"task_id": "one", "program": "right"}]});
    let answer = bench.post("/v1/verify", &verify).await.json();
    assert_eq!(
        (&answer["verdicts"][0]["fault"]["kind"], &answer["verdicts"][1]["reward"]),
        (&json!("deadline"), &json!(1.0))
    );
    endless.iter().for_each(|request| request.abort());
    bench.until_waiting(0).await;
    assert!(!bench.get("/metrics").await.text.contains("veriplay_faults_total{kind=\"host\"}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_finishes_what_is_under_way_and_accepts_nothing_new() {
    let bench = Bench::serving();
    let running = bench.spawn(run_code("wait"));
    bench.judge.until_started(1).await;
    let waiting = bench.spawn(post("/v1/run", run("after").to_string()));
    bench.until_waiting(1).await;
    bench.service.life.advance(Phase::Draining);
    assert_eq!(bench.get("/ready").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(bench.get("/health").await.status, StatusCode::OK);
    let native = bench.post("/v1/run", &run("x")).await;
    assert_eq!((native.status, native.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "1"));
    assert_eq!(bench.post("/run_code", &code("x")).await.status, StatusCode::GATEWAY_TIMEOUT);
    bench.judge.release();
    assert_eq!(running.await.expect("it is answered").status, StatusCode::OK);
    assert_eq!(waiting.await.expect("it is answered").status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_answers_what_is_unfinished() {
    let bench = Bench::serving();
    let running = bench.spawn(run_code("wait"));
    bench.judge.until_started(1).await;
    let waiting = bench.spawn(post("/v1/run", run("never").to_string()));
    bench.until_waiting(1).await;
    bench.service.stop();
    assert_eq!(running.await.expect("it is answered").status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(waiting.await.expect("it is answered").status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(bench.judge.started(), ["wait"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_what_runs() {
    let bench = Bench::serving();
    let running = bench.spawn(run_code("endless"));
    bench.judge.until_started(1).await;
    bench.service.stop();
    assert_eq!(running.await.expect("it is answered").status, StatusCode::GATEWAY_TIMEOUT);
    while bench.service.queue().load().running != 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_native_requests_and_no_program() {
    let bench = Bench::with(Settings { queue: 2, ..Settings::default() });
    let first = bench.spawn(run_code("wait"));
    bench.judge.until_started(1).await;
    let queued = bench.spawn(post("/v1/run", run("queued").to_string()));
    bench.until_waiting(1).await;
    // This client has its half.
    let refused = bench.post("/v1/run", &run("x")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "1"));
    assert_eq!(refused.json()["type"], "urn:veriplay:queue-full");
    let programs: Vec<_> = (0..8).map(|_| bench.spawn(run_code("x"))).collect();
    bench.until_waiting(9).await;
    bench.judge.release();
    for answer in programs.into_iter().chain([first, queued]) {
        assert_eq!(answer.await.expect("it is answered").status, StatusCode::OK);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_room_while_their_requests_are_under_way() {
    let soon = std::time::Duration::from_millis(20);
    let settings = Settings { body_bytes: 1000, all_body_bytes: 1000, body_patience: soon, ..Settings::default() };
    let bench = Bench::with(settings);
    let (held, long) = (format!("wait{}", " ".repeat(800)), "x".repeat(200));
    let first = bench.spawn(run_code(&held));
    bench.judge.until_started(1).await;
    assert_eq!(bench.post("/run_code", &code(&long)).await.status, StatusCode::GATEWAY_TIMEOUT);
    let native = bench.post("/v1/run", &run(&long)).await;
    assert_eq!(
        (native.status, &native.json()["type"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("urn:veriplay:queue-full"))
    );
    // A small one fits beside it.
    let small = bench.spawn(run_code("x"));
    bench.until_waiting(1).await;
    bench.judge.release();
    for answer in [first, small] {
        assert_eq!(answer.await.expect("it is answered").status, StatusCode::OK);
    }
    assert_eq!(bench.post("/run_code", &code(&long)).await.status, StatusCode::OK);
    assert_eq!(bench.judge.started(), [held.as_str(), "x", &long]);
}

#[tokio::test]
async fn a_request_without_a_fit_id_gets_one() {
    let bench = Bench::serving();
    let long = "x".repeat(200);
    for unfit in ["two words", &long] {
        let mut request = run_code("x");
        request.headers_mut().insert("x-request-id", unfit.parse().expect("a header"));
        assert_ne!(bench.send(request).await.header("x-request-id"), unfit);
    }
    let answer = bench.post("/run_code", &code("x")).await;
    assert_eq!(answer.json()["request_id"], answer.header("x-request-id"));
    let (first, second) = (bench.get("/health").await, bench.get("/nothing").await);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[tokio::test]
async fn metrics_have_the_documented_names() {
    let bench = Bench::serving();
    bench.post("/run_code", &code("x")).await;
    bench.get("/made/up/by/a/client").await;
    let answer = bench.get("/metrics").await;
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    for line in [
        "veriplay_jobs_total{status=\"returned\"} 1",
        "veriplay_fuel_total 5000000000",
        "veriplay_job_seconds_count 1",
        "veriplay_queue_seconds_count 1",
        "veriplay_queue_length 0",
        "veriplay_workers 1",
        "veriplay_cache_hits_total 0",
        "veriplay_http_requests_total{path=\"/run_code\",code=\"200\"} 1",
        "veriplay_http_requests_total{path=\"other\",code=\"404\"} 1",
    ] {
        assert!(answer.text.lines().any(|found| found == line), "`{line}` is not in {}", answer.text);
    }
    assert!(answer.text.contains("\nprocess_resident_memory_bytes ") && answer.text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_job_is_counted_by_the_exit_of_its_answer() {
    let bench = Bench::serving();
    for (program, exit) in [("x", "returned"), ("a call that raises", "raised"), ("an odd value", "unencodable")] {
        let answer = bench.post("/v1/run", &json!({"program": program, "call": {"function": "f"}})).await;
        assert_eq!(answer.json()["exit"], exit);
        let text = bench.get("/metrics").await.text;
        let line = format!("veriplay_jobs_total{{status=\"{exit}\"}} 1");
        assert!(text.lines().any(|found| found == line), "`{line}` is not in {text}");
    }
}

#[tokio::test]
async fn a_fault_of_the_host_is_tried_again_and_counted_once() {
    let bench = Bench::serving();
    assert_eq!(bench.post("/run_code", &code("fault")).await.status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(bench.judge.started(), ["fault"; 3]);
    assert!(bench.get("/metrics").await.text.contains("veriplay_faults_total{kind=\"host\"} 1"));
}

#[tokio::test]
async fn a_large_body_is_parsed_elsewhere_and_answered_the_same() {
    let answer = Bench::serving().post("/run_code", &code(&"x".repeat(1 << 20))).await.json();
    assert_eq!(answer["run_result"]["stdout"].as_str().map(str::len), Some(1 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_queries_in_one_request_keep_to_the_bound_of_the_queue() {
    let bench = Bench::with(Settings { queue: 2, ..Settings::default() });
    let query: Vec<&str> = std::iter::once("wait").chain(["right"; 399]).collect();
    let body = json!({"query": query, "prompts": vec![""; 400], "labels": vec![json!({"name": "one"}); 400]});
    let asked = bench.spawn(post("/get_reward", body.to_string()));
    bench.judge.until_started(1).await;
    bench.until_waiting(1).await;
    bench.judge.release();
    let answer = asked.await.expect("it is answered");
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let rewards = answer.json()["rewards"].as_array().expect("a list").clone();
    assert_eq!((rewards.len(), rewards.iter().filter(|reward| **reward == 1.0).count()), (400, 399));
}

#[tokio::test]
async fn the_description_lists_every_endpoint() {
    let bench = Bench::serving();
    let description = bench.get("/openapi.json").await.json();
    assert!(description["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    let paths: Vec<&String> = description["paths"].as_object().expect("paths").keys().collect();
    for path in [
        "/health", "/metrics", "/ready", "/run_code", "/submit", "/get_reward", "/verify", "/reverify_mode",
        "/v1/info", "/v1/ping", "/v1/run", "/v1/tasks", "/v1/verify",
    ] {
        assert!(paths.iter().any(|found| *found == path), "{path}");
    }
    assert_eq!(description.get("security"), None);
    for path in ["/v1/run", "/v1/verify", "/v1/tasks"] {
        let responses = description["paths"][path]["post"]["responses"].as_object().expect("responses");
        for status in ["200", "400", "403", "408", "413", "415", "422", "429", "503"] {
            assert!(responses.contains_key(status), "{path} {status}");
        }
        assert!(!responses.contains_key("401"), "no token is asked for");
    }
    let info = bench.get("/v1/info").await.json();
    assert_eq!((&info["version"], &info["workers"], &info["formats"]), (&json!("1.2.3"), &json!(1), &json!(["plain"])));
}

#[tokio::test]
async fn every_path_refuses_other_methods_as_described() {
    let bench = Bench::serving();
    let description = bench.get("/openapi.json").await.json();
    let schema = &description["components"]["schemas"]["Problem"];
    let required = schema["required"].as_array().expect("the fields that every problem has");
    for (path, operations) in description["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let described = &operation["responses"]["405"]["content"]["application/problem+json"]["schema"]["$ref"];
            assert_eq!(described, "#/components/schemas/Problem", "{method} {path}");
        }
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            if operations.get(method.to_ascii_lowercase()).is_some() {
                continue;
            }
            let request = Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
            let refused = bench.send(request).await;
            assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(refused.header("content-type"), "application/problem+json", "{method} {path}");
            let detail = format!("this path does not take {method}; /openapi.json lists the endpoints");
            let body = refused.json();
            let expected =
                json!({"type": "urn:veriplay:wrong-method", "title": "Wrong method", "status": 405, "detail": detail});
            assert_eq!(body, expected, "{method} {path}");
            let sent = body.as_object().expect("a problem");
            assert!(required.iter().all(|field| sent.contains_key(field.as_str().expect("a name"))), "{required:?}");
            assert!(sent.keys().all(|field| schema["properties"].get(field).is_some()), "{schema}");
        }
    }
}

#[tokio::test]
async fn the_description_says_what_needs_a_token() {
    let tokens = Tokens::parse("0123456789abcdef\n").expect("a token");
    let bench = Bench::with(Settings { tokens: Some(tokens), ..Settings::default() });
    let mut request = Request::get("/openapi.json").body(Body::empty()).expect("a request");
    request.headers_mut().insert("authorization", "Bearer 0123456789abcdef".parse().expect("a header"));
    let description = bench.send(request).await.json();
    assert_eq!(description["components"]["securitySchemes"]["token"], json!({"type": "http", "scheme": "bearer"}));
    assert_eq!(description["security"], json!([{"token": []}]));
    for path in ["/health", "/ready"] {
        assert_eq!(description["paths"][path]["get"]["security"], json!([{}]), "{path}");
    }
    assert_eq!(description["paths"]["/v1/run"]["post"].get("security"), None);
    let refused = |path: &str, method: &str| description["paths"][path][method]["responses"].get("401").is_some();
    assert!(refused("/v1/run", "post") && refused("/v1/info", "get") && !refused("/health", "get"));
}
