//! The reward endpoints of other services' protocols: `/submit`, `/get_reward`, `/verify`.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::native::HOST_FAULT;
use super::{Bench, post};
use crate::service::Settings;

/// A label whose task the scripted judge knows.
fn label() -> Value {
    json!({"name": "one"})
}

/// A program in prose.
fn prose(code: &str) -> String {
    format!("Here it is:\n```python\n{code}\n```\nDone.")
}

fn common_oj(completion: &str, extra: Value) -> Value {
    let case = |stdin: &str| json!({"input": {"stdin": stdin}, "output": {"stdout": format!("x{stdin}")}});
    let data = json!({"id": 1, "content": "", "labels": {}, "test": [case("1"), case("2")]});
    json!({"dataset": "mine", "id": 1, "completion": completion, "config": {
        "dataset_type": "CommonOJDataset", "language": "python", "provided_data": data, "extra": extra}})
}

async fn judged(bench: &Bench, path: &str, body: &Value) -> Value {
    let answer = bench.post(path, body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn a_completion_is_judged_by_cases_in_the_request() {
    let bench = Bench::serving();
    let answer = judged(&bench, "/submit", &common_oj(&prose("x"), json!({}))).await;
    assert_eq!((&answer["accepted"], &answer["extracted_code"], &answer["id"]), (&json!(true), &json!("x"), &json!(1)));
    assert_eq!(answer["extracted_type"], Value::Null);
    let tests = answer["tests"].as_array().expect("a list");
    assert_eq!(tests.len(), 2);
    assert_eq!((&tests[1]["passed"], &tests[1]["exec_info"]["run_result"]["stdout"]), (&json!(true), &json!("x2")));
    assert_eq!(tests[1]["test_info"]["input"]["stdin"], "2");
}

#[tokio::test]
async fn rows_end_at_the_first_failure_unless_all_are_asked_for() {
    let bench = Bench::serving();
    for (extra, rows) in [(json!({}), 1), (json!({"run_all_cases": true}), 2)] {
        let answer = judged(&bench, "/submit", &common_oj(&prose("y"), extra)).await;
        assert_eq!((&answer["accepted"], answer["tests"].as_array().map(Vec::len)), (&json!(false), Some(rows)));
    }
}

#[tokio::test]
async fn a_program_runs_with_its_tests_and_may_be_asked_for_a_flag() {
    let bench = Bench::serving();
    let submission = |code: &str, extra: Value| {
        let data = json!({"id": 1, "content": "", "labels": {"programming_language": "python"}, "test": {"code": "t"}});
        json!({"dataset": "d", "id": "a", "completion": prose(code),
               "config": {"dataset_type": "AutoEvalDataset", "provided_data": data, "extra": extra}})
    };
    let answer = judged(&bench, "/submit", &submission("x", json!({}))).await;
    assert_eq!((&answer["accepted"], &answer["full_code"]), (&json!(true), &json!("x\nt")));
    // The scripted judge prints the program, so the flag is in what it prints; a program that ends before it does not print it.
    let answer = judged(&bench, "/submit", &submission("x", json!({"append_flag": true}))).await;
    assert_eq!(answer["accepted"], true);
    assert!(answer["full_code"].as_str().expect("a text").starts_with("x\nt\n\nprint(\""));
}

#[tokio::test]
async fn data_that_is_not_in_the_request_is_refused() {
    let bench = Bench::serving();
    let base = common_oj(&prose("x"), json!({}));
    let with = |name: &str, value: Value| {
        let mut body = base.clone();
        body["config"][name] = value;
        body
    };
    for (body, detail) in [
        (with("dataset_type", json!(null)), "no eval class found for dataset mine"),
        (with("dataset_type", json!("Nothing")), "eval class Nothing not found"),
        (with("language", json!(null)), "config.language field must exist for CommonOJDataset, got None"),
        (with("language", json!("cpp")), "language cpp is not supported, only python"),
        (with("provided_data", json!([])), "request.config.provided_data should be a dict with str -> str | int"),
        (with("provided_data", json!({"test": 3})), "provided_data.test should be a list of cases"),
        (with("provided_data", json!({"test": [{}]})), "each case should have input.stdin and output.stdout"),
        (
            with("custom_extract_logic", json!("x")),
            "custom_extract_logic is not supported: it would run in the service",
        ),
    ] {
        let answer = bench.post("/submit", &body).await;
        assert_eq!((answer.status, answer.json()), (StatusCode::BAD_REQUEST, json!({"detail": detail})));
    }
    let answer = bench.post("/submit", &json!({"dataset": 3, "id": [], "config": 1})).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let kinds = answer.json()["detail"].as_array().expect("a list").len();
    assert_eq!(kinds, 4, "{}", answer.text);
}

#[tokio::test]
async fn a_fault_of_the_host_is_a_504_that_clients_try_again() {
    let bench = Bench::serving();
    assert_eq!(bench.post("/submit", &common_oj(&prose("fault"), json!({}))).await.status, StatusCode::GATEWAY_TIMEOUT);
    let asked = json!({"query": ["fault"], "prompts": [""], "labels": [label()]});
    assert_eq!(bench.post("/get_reward", &asked).await.status, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn one_query_gets_numbers_and_several_get_lists() {
    let bench = Bench::serving();
    let one =
        judged(&bench, "/get_reward", &json!({"query": ["Q: right"], "prompts": ["Q: "], "labels": [label()]})).await;
    assert_eq!((&one["rewards"], &one["scores"]), (&json!(1.0), &json!(1.0)));
    assert_eq!(one["extra_logs"]["veriplay_unjudged"], 0.0);
    let labels = json!([label(), label().to_string()]);
    let two = json!({"query": ["Q: wrong", "right"], "prompts": ["Q: ", "other"], "labels": labels});
    assert_eq!(judged(&bench, "/get_reward", &two).await["rewards"], json!([0.0, 1.0]));
    assert_eq!(bench.judge.started()[..2], ["right", "wrong"]);
}

#[tokio::test]
async fn slime_gets_a_number() {
    let bench = Bench::serving();
    let asked = json!({"prompt": "Q", "response": "right", "label": label().to_string()});
    assert_eq!(judged(&bench, "/get_reward", &asked).await, json!(1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_queries_in_one_request_keep_to_the_bound_of_the_queue() {
    let bench = Bench::with(Settings { queue: 2, ..Settings::default() });
    let query: Vec<String> = (0..400).map(|at| if at == 0 { "wait".to_owned() } else { "right".to_owned() }).collect();
    let body = json!({"query": query, "prompts": vec![""; 400], "labels": vec![label(); 400]});
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
async fn what_was_not_measured_is_no_bare_number() {
    let bench = Bench::serving();
    let asked = |response: &str| json!({"prompt": "Q", "response": response, "label": label()});
    let answer = bench.post("/get_reward", &asked("no reference")).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
    assert!(answer.json()["detail"].as_str().expect("a text").contains("no reward"));
    // What the attempt itself may have caused counts.
    assert_eq!(judged(&bench, "/get_reward", &asked("unjudgeable")).await, json!(0.0));
    let openrlhf = json!({"query": ["no reference"], "prompts": [""], "labels": [label()]});
    assert_eq!(judged(&bench, "/get_reward", &openrlhf).await["extra_logs"]["veriplay_unjudged"], 1.0);
}

#[tokio::test]
async fn a_label_that_is_no_task_costs_no_other_its_reward() {
    let bench = Bench::serving();
    let body = json!({"query": ["right", "right", "wrong"], "prompts": ["", "", ""], "labels": [label(), {"nom": "one"}, label()]});
    let answer = judged(&bench, "/get_reward", &body).await;
    assert_eq!(answer["rewards"], json!([1.0, 0.0, 0.0]));
    assert_eq!(answer["extra_logs"]["veriplay_unjudged"], json!([0.0, 1.0, 0.0]));
    assert_eq!(answer["faults"], json!([null, "`labels[1].name`: it is missing", null]));
    // slime's answer has no place for a mark.
    let slime = bench.post("/get_reward", &json!({"prompt": "", "response": "right", "label": "{"})).await;
    assert_eq!(slime.status, StatusCode::UNPROCESSABLE_ENTITY);
    let detail = slime.json()["detail"].as_str().expect("a text").to_owned();
    assert!(detail.starts_with("there is no reward: `label`: "), "{detail}");
}

#[tokio::test]
async fn lists_that_do_not_fit_are_refused() {
    let bench = Bench::serving();
    for (labels, loc) in [(json!([label()]), json!(["body", "query"])), (json!({}), json!(["body", "labels"]))] {
        let body = json!({"query": ["a", "b"], "prompts": ["", ""], "labels": labels});
        let answer = bench.post("/get_reward", &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(answer.json()["detail"][0]["loc"], loc, "{}", answer.text);
    }
}

fn nemo_gym(text: &str) -> Value {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    json!({"responses_create_params": {"input": "q"}, "response": {"id": "r", "output": [message]},
           "verifier_metadata": label(), "kept": 1})
}

#[tokio::test]
async fn nemo_gym_gets_its_request_with_the_reward() {
    let bench = Bench::serving();
    let answer = judged(&bench, "/verify", &nemo_gym(&prose("right"))).await;
    assert_eq!(
        (&answer["reward"], &answer["mask_sample"], &answer["status"]),
        (&json!(1.0), &json!(false), &json!("accepted"))
    );
    assert_eq!((&answer["kept"], &answer["response"]["id"]), (&json!(1), &json!("r")));
    assert_eq!(answer["extracted_model_code"], "right\n");
    let nothing = judged(&bench, "/verify", &nemo_gym("I cannot do it.")).await;
    assert_eq!((&nothing["reward"], &nothing["mask_sample"]), (&json!(0.0), &json!(false)));
    assert_eq!(bench.judge.started()[0], "right");
    assert_eq!(bench.get("/reverify_mode").await.text, "\"stateless\"");
}

#[tokio::test]
async fn nemo_gym_masks_what_was_not_measured() {
    let bench = Bench::serving();
    let answer = judged(&bench, "/verify", &nemo_gym(&prose("fault"))).await;
    assert_eq!((&answer["mask_sample"], &answer["failure_kind"]), (&json!(true), &json!("verifier_error")));
    assert_eq!(answer["failure_reason"], format!("host: {HOST_FAULT}"));
    let mut wrong = nemo_gym(&prose("right"));
    wrong["verifier_metadata"] = json!({"nom": "one"});
    let answer = judged(&bench, "/verify", &wrong).await;
    assert_eq!((&answer["reward"], &answer["mask_sample"]), (&json!(0.0), &json!(true)));
    assert_eq!(answer["failure_reason"], "unreadable_task: `verifier_metadata.name`: it is missing");
}

#[tokio::test]
async fn the_description_names_every_endpoint() {
    let bench = Bench::serving();
    let paths = bench.get("/openapi.json").await.json()["paths"].clone();
    for path in ["/submit", "/get_reward", "/verify", "/reverify_mode", "/v1/ping"] {
        assert!(paths.get(path).is_some(), "{path}");
    }
}
