//! Requests and what is answered to them: a case is a line of a `.jsonl` file beside this one, and has a service of its own.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, Request};
use serde::Deserialize;
use serde_json::Value;
use veriplay_core::Language;
use veriplay_verifier::languages::{is_python, languages};

use super::{Bench, post};
use crate::client::Tokens;
use crate::service::Settings;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    case: String,
    #[serde(default)]
    with: CaseSettings,
    /// The path of a POST, or of a GET where there is no body.
    to: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A text is sent as it is, anything else as JSON.
    body: Option<Value>,
    #[serde(default = "success")]
    status: u16,
    /// Parts of the answer: see [`part`].
    #[serde(default)]
    is: BTreeMap<String, Value>,
    #[serde(default)]
    begins: BTreeMap<String, String>,
    #[serde(default)]
    contains: BTreeMap<String, String>,
    /// The programs that were started. Where it is absent, a refused request started none.
    started: Option<Vec<String>>,
}

/// What is not the default.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CaseSettings {
    workers: Option<usize>,
    queue: Option<usize>,
    body_bytes: Option<u64>,
    most_memory_bytes: Option<u64>,
    token: Option<String>,
    /// The languages that are served beside Python.
    languages: Vec<String>,
}

const fn success() -> u16 {
    200
}

impl CaseSettings {
    fn settings(&self) -> Settings {
        let default = Settings::default();
        Settings {
            workers: self.workers.unwrap_or(default.workers),
            queue: self.queue.unwrap_or(default.queue),
            body_bytes: self.body_bytes.unwrap_or(default.body_bytes),
            most_memory_bytes: self.most_memory_bytes.unwrap_or(default.most_memory_bytes),
            languages: languages().filter(|language| self.serves(*language)).collect(),
            tokens: self.token.as_deref().map(|token| Tokens::parse(token).expect("a token")),
            ..default
        }
    }

    fn serves(&self, language: &dyn Language) -> bool {
        is_python(language) || self.languages.iter().any(|name| language.names().contains(&name.as_str()))
    }
}

/// The part of an answer at a JSON pointer, in which `*` stands for all items of a list; `null` where there is none.
fn part(answer: &Value, pointer: &str) -> Value {
    let Some((list, rest)) = pointer.split_once("/*") else {
        return answer.pointer(pointer).cloned().unwrap_or_default();
    };
    let items = answer.pointer(list).and_then(Value::as_array).into_iter().flatten();
    items.map(|item| part(item, rest)).collect()
}

impl Case {
    fn request(&self) -> Request<Body> {
        let mut request = match &self.body {
            None => Request::get(self.to.as_str()).body(Body::empty()).expect("a request"),
            Some(Value::String(text)) => post(&self.to, text.clone()),
            Some(body) => post(&self.to, body.to_string()),
        };
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().expect("a name");
            request.headers_mut().insert(name, value.parse().expect("a value"));
        }
        request
    }

    async fn check(&self) {
        let bench = Bench::with(self.with.settings());
        let answer = bench.send(self.request()).await;
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        let about = format!("{}: {} {body}: {} {}", self.case, self.to, answer.status, answer.text);
        assert_eq!(answer.status.as_u16(), self.status, "{about}");
        let found: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        for (pointer, expected) in &self.is {
            assert_eq!(part(&found, pointer), *expected, "{pointer} of {about}");
        }
        let text = |pointer: &str| part(&found, pointer).as_str().unwrap_or_default().to_owned();
        assert!(self.begins.iter().all(|(pointer, expected)| text(pointer).starts_with(expected)), "{about}");
        assert!(self.contains.iter().all(|(pointer, expected)| text(pointer).contains(expected)), "{about}");
        let refused = (400..500).contains(&self.status);
        if let Some(started) = self.started.clone().or_else(|| refused.then(Vec::new)) {
            assert_eq!(bench.judge.started(), started, "{about}");
        }
        let is_problem = text("/type").starts_with("urn:veriplay:");
        assert_eq!(is_problem, answer.header("content-type") == "application/problem+json", "{about}");
        assert_eq!(self.status == 401, answer.header("www-authenticate") == "Bearer", "{about}");
        // One error of FastAPI's list.
        let error = part(&found, "/detail/0");
        assert!(error.is_null() || error["msg"].is_string() && error.get("input").is_some(), "{about}");
    }
}

async fn check(cases: &str) {
    for line in cases.lines() {
        let case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        case.check().await;
    }
}

#[tokio::test]
async fn every_request_is_named_admitted_or_refused() {
    check(include_str!("every_request.jsonl")).await;
}

#[tokio::test]
async fn native_endpoints_judge_and_run_and_name_what_is_wrong() {
    check(include_str!("native.jsonl")).await;
}

#[tokio::test]
async fn run_code_answers_as_the_original_and_its_clients_may_rely_on_it() {
    check(include_str!("sandbox_fusion.jsonl")).await;
}

#[tokio::test]
async fn reward_endpoints_speak_the_protocols_of_other_services() {
    check(include_str!("rewards.jsonl")).await;
}
