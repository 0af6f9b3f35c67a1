//! What the endpoints of other services' protocols share: fields read and refused as FastAPI does it, and the deadline of their clients.
//!
//! These endpoints never answer 429 or 503 to a well-formed request, because their clients give up on those: verl scores the rollout 0. They
//! queue it, and answer 504, which is tried again, shortly before the client would give up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value, json};
use veriplay_core::{AttemptText, Comparison, Predicted};
use veriplay_verifier::judges::{judge_names, parse_judge};

use crate::answer::json_response;
use crate::body::{BodyError, RequestBody, parse_body, read_body};
use crate::json_slices::object_members;
use crate::judge::{AUTO_FORMAT, Judge, JudgeOptions, TaskError, TaskSource};
use crate::phase::Phase;
use crate::problem::Problem;
use crate::queue::Unfinished;
use crate::service::{AttemptWork, Service};

/// Clients wait for the program's time limits and this long.
const CLIENT_SLACK: Duration = Duration::from_secs(10);
/// The answer must reach the client before it gives up.
const MARGIN: Duration = Duration::from_secs(2);
/// An invalid value is repeated in the answer up to this many bytes of JSON.
const LARGEST_ECHO: usize = 4096;

pub(crate) const MOST_ERRORS: usize = 100;

/// A request that a compatible endpoint refuses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rejection {
    status: StatusCode,
    /// A text, or FastAPI's list of errors.
    detail: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FieldError {
    #[serde(rename = "type")]
    kind: &'static str,
    loc: Vec<Value>,
    msg: String,
    input: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctx: Option<Value>,
}

impl Rejection {
    pub(crate) fn text(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: Value::String(detail.into()) }
    }

    /// 504: the client may try again.
    pub(crate) fn too_late(unfinished: Unfinished) -> Self {
        let why = match unfinished {
            Unfinished::Deadline | Unfinished::Full(_) => "it was not judged before the client's time limit; try again",
            Unfinished::Stopped => "the service is stopping; try again",
            Unfinished::Lost => "the service failed; try again",
        };
        Self::text(StatusCode::GATEWAY_TIMEOUT, why)
    }

    /// 504 for a fault of the host that trying again did not cure.
    pub(crate) fn host_fault() -> Self {
        Self::text(StatusCode::GATEWAY_TIMEOUT, "the sandbox failed, not the program; try again")
    }

    /// 504: the client may try again.
    pub(crate) fn no_room() -> Self {
        Self::text(StatusCode::GATEWAY_TIMEOUT, Problem::no_room_for_answer().detail)
    }

    fn invalid(errors: &[FieldError]) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, detail: json!(errors) }
    }
}

impl From<BodyError> for Rejection {
    fn from(error: BodyError) -> Self {
        let is_full = error == BodyError::NoRoom;
        let problem = Problem::from(error);
        if is_full {
            return Self::text(StatusCode::GATEWAY_TIMEOUT, problem.detail);
        }
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
        Self::text(status, problem.detail)
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        json_response(self.status, &json!({"detail": self.detail}))
    }
}

/// Waits until the service can judge. An error where `deadline` comes first, or the service stops.
pub(crate) async fn until_serving(service: &Service, deadline: Option<Instant>) -> Result<(), Rejection> {
    service.until(deadline, service.life.reached(Phase::Serving)).await.map_err(Rejection::too_late)?;
    if service.life.phase() >= Phase::Draining { Err(Rejection::too_late(Unfinished::Stopped)) } else { Ok(()) }
}

/// Reads a JSON body and parses it by `parse`. `deadline` is that of a client whose request does not say more: room for the body is waited for until then.
pub(crate) async fn read_request<T: Send + 'static>(
    service: &Service,
    headers: &HeaderMap,
    body: RequestBody,
    deadline: Instant,
    parse: impl FnOnce(&mut Fields<'_>) -> T + Send + 'static,
) -> Result<T, Rejection> {
    let json = Problem::check_json(headers).is_ok();
    let body = read_body(body, &service.settings, Some(deadline)).await?;
    let parsed = parse_body(body, move |bytes| {
        let object = parse_object(bytes, json)?;
        let mut fields = Fields::new(object, std::str::from_utf8(bytes).unwrap_or_default());
        let request = parse(&mut fields);
        fields.finish(request)
    });
    let failed = |_| Rejection::text(StatusCode::INTERNAL_SERVER_ERROR, "the service failed");
    parsed.await.map_err(failed)?
}

fn parse_object(bytes: &[u8], json: bool) -> Result<Map<String, Value>, Rejection> {
    let not_object = |input| FieldError {
        kind: "model_attributes_type",
        loc: vec![json!("body")],
        msg: "Input should be a valid dictionary or object to extract fields from".to_owned(),
        input: echo(&input),
        ctx: None,
    };
    if !json {
        return Err(Rejection::invalid(&[not_object(Value::String(String::from_utf8_lossy(bytes).into_owned()))]));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(Rejection::invalid(&[not_object(other)])),
        Err(error) => Err(Rejection::invalid(&[FieldError {
            kind: "json_invalid",
            loc: vec![json!("body"), json!(error.column())],
            msg: "JSON decode error".to_owned(),
            input: json!({}),
            ctx: Some(json!({"error": error.to_string()})),
        }])),
    }
}

/// A value as an error repeats it: whole where it is short.
fn echo(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= LARGEST_ECHO {
        return value.clone();
    }
    let cut = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LARGEST_ECHO).last().unwrap_or(0);
    Value::String(format!("{}…", &text[..cut]))
}

/// The fields of a request's body. Errors are collected, as FastAPI does; unknown fields are not looked at.
pub(crate) struct Fields<'a> {
    object: Map<String, Value>,
    text: &'a str,
    errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(object: Map<String, Value>, text: &'a str) -> Self {
        Self { object, text, errors: Vec::new() }
    }

    /// The text of a field as it was sent: a tree of JSON keeps neither the order of keys nor the digits of long numbers.
    pub(crate) fn sent_text(&self, name: &str) -> Option<&'a str> {
        let mut members = object_members(self.text).ok()?.into_iter().rev();
        members.find(|(key, _)| serde_json::from_str::<String>(key).is_ok_and(|key| key == name)).map(|(_, text)| text)
    }

    /// The request, unless a field was wrong.
    pub(crate) fn finish<T>(self, request: T) -> Result<T, Rejection> {
        if self.errors.is_empty() { Ok(request) } else { Err(Rejection::invalid(&self.errors)) }
    }

    /// Notes an error of the field, or of something in it.
    pub(crate) fn wrong(&mut self, path: &[&str], kind: &'static str, msg: impl Into<String>, input: &Value) {
        if self.errors.len() >= MOST_ERRORS {
            return;
        }
        let loc = std::iter::once("body").chain(path.iter().copied()).map(|part| json!(part)).collect();
        self.errors.push(FieldError { kind, loc, msg: msg.into(), input: echo(input), ctx: None });
    }

    pub(crate) fn not_a_text(&mut self, path: &[&str], input: &Value) {
        self.wrong(path, "string_type", "Input should be a valid string", input);
    }

    fn wrong_with(&mut self, name: &str, kind: &'static str, msg: String, input: &Value, ctx: Value) {
        self.wrong(&[name], kind, msg, input);
        if let Some(error) = self.errors.last_mut() {
            error.ctx = Some(ctx);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.object.get(name)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name)
    }

    pub(crate) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.object)
    }

    pub(crate) fn required(&mut self, name: &str) -> Option<Value> {
        let found = self.take(name);
        if found.is_none() {
            let whole = Value::Object(self.object.clone());
            self.wrong(&[name], "missing", "Field required", &whole);
        }
        found
    }

    /// A required list; empty where it is absent.
    pub(crate) fn required_list(&mut self, name: &str) -> Vec<Value> {
        self.required(name).map_or_else(Vec::new, |value| self.list_of(name, value))
    }

    /// The items of a list, which must be texts.
    pub(crate) fn texts(&mut self, name: &str, items: Vec<Value>) -> Vec<String> {
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) => texts.push(text),
                other => self.not_a_text(&[name, &at.to_string()], &other),
            }
        }
        texts
    }

    pub(crate) fn list_of(&mut self, name: &str, value: Value) -> Vec<Value> {
        match value {
            Value::Array(items) => items,
            other => {
                self.wrong(&[name], "list_type", "Input should be a valid list", &other);
                Vec::new()
            }
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> String {
        match self.required(name) {
            Some(Value::String(text)) => text,
            Some(other) => {
                self.not_a_text(&[name], &other);
                String::new()
            }
            None => String::new(),
        }
    }

    /// The judge that the request chooses, if it does.
    pub(crate) fn judge(&mut self) -> Option<Comparison> {
        let chosen = self.take("judge").filter(|chosen| !chosen.is_null())?;
        match read_judge(&chosen) {
            Ok(judge) => Some(judge),
            Err(why) => {
                self.wrong(&["judge"], "value_error", why, &chosen);
                None
            }
        }
    }

    /// A text that may be absent or `null`.
    pub(crate) fn optional_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => {
                self.not_a_text(&[name], &other);
                None
            }
        }
    }

    /// A number, which may be written as a text, between 0 and `most`.
    pub(crate) fn seconds(&mut self, name: &str, default: f64, most: f64) -> f64 {
        let Some(value) = self.take(name) else { return default };
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            _ => None,
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) if number > most => {
                let msg = format!("Input should be less than or equal to {most}");
                self.wrong_with(name, "less_than_equal", msg, &value, json!({"le": most}));
                default
            }
            Some(number) => number.max(0.0),
            None => {
                let (kind, msg) = match value {
                    Value::String(_) => {
                        ("float_parsing", "Input should be a valid number, unable to parse string as a number")
                    }
                    _ => ("float_type", "Input should be a valid number"),
                };
                self.wrong(&[name], kind, msg, &value);
                default
            }
        }
    }

    pub(crate) fn integer(&mut self, name: &str, default: i64) -> i64 {
        let Some(value) = self.take(name) else { return default };
        let number = match &value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.unwrap_or_else(|| {
            let (kind, msg) = match value {
                Value::String(_) => {
                    ("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
                }
                _ => ("int_type", "Input should be a valid integer"),
            };
            self.wrong(&[name], kind, msg, &value);
            default
        })
    }

    pub(crate) fn word(&mut self, name: &str, known: &[&'static str]) -> Option<&'static str> {
        let value = self.required(name)?;
        let found = value.as_str().and_then(|word| known.iter().copied().find(|known| *known == word));
        if found.is_none() {
            let quoted: Vec<String> = known.iter().map(|word| format!("'{word}'")).collect();
            let expected = quoted.join(" or ");
            let msg = format!("Input should be {expected}");
            self.wrong_with(name, "literal_error", msg, &value, json!({"expected": expected}));
        }
        found
    }

    /// An object; empty where it is absent.
    pub(crate) fn object(&mut self, name: &str) -> Map<String, Value> {
        match self.take(name) {
            None => Map::new(),
            Some(Value::Object(object)) => object,
            Some(other) => {
                self.wrong(&[name], "dict_type", "Input should be a valid dictionary", &other);
                Map::new()
            }
        }
    }

    /// A list; empty where it is absent.
    pub(crate) fn list(&mut self, name: &str) -> Vec<Value> {
        self.take(name).map_or_else(Vec::new, |value| self.list_of(name, value))
    }
}

/// The judge that a request chooses: a text, or an object.
///
/// # Errors
/// What is wrong with it; an unknown name is answered by all names.
pub(crate) fn read_judge(chosen: &Value) -> Result<Comparison, String> {
    match chosen {
        Value::String(text) => parse_judge(text),
        Value::Object(_) => parse_judge(&chosen.to_string()),
        _ => Err(format!("expected the name of a judge, or an object with `judge`; known are {}", judge_names())),
    }
}

/// The attempt at the task in what a trainer carries beside a completion, as JSON. `chosen` judges it where its row names no judge.
pub(crate) fn open_attempt(
    judge: &Arc<dyn Judge>,
    truth: &str,
    chosen: Option<&Comparison>,
    completion: String,
) -> Result<AttemptWork, TaskError> {
    let (format, row) = (AUTO_FORMAT.to_owned(), truth.to_owned());
    let source = TaskSource::Row { format, row, predict: Predicted::Output, name: None };
    let options = JudgeOptions { judge: chosen.cloned(), early_stop: true, ..JudgeOptions::default() };
    let task = Arc::clone(judge).open_task(&source, &options)?;
    Ok(AttemptWork { task, attempt_id: "0".to_owned(), text: AttemptText::Completion(completion) })
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// The time at which an answer to a client with these time limits must be sent: its clock runs from when the request `arrived`.
pub(crate) fn client_deadline(arrived: Instant, compile_seconds: f64, run_seconds: f64) -> Instant {
    let limits = Duration::from_secs_f64((compile_seconds + run_seconds).clamp(0.0, 1e9));
    arrived + limits + CLIENT_SLACK - MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_client_runs_from_the_arrival_of_its_request() {
        let arrived = Instant::now();
        assert_eq!(client_deadline(arrived, 10.0, 10.0) - arrived, Duration::from_secs(28));
    }

    #[test]
    fn a_body_without_room_is_tried_again() {
        let status = |error| Rejection::from(error).status;
        assert_eq!(status(BodyError::NoRoom), StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(status(BodyError::TimedOut), StatusCode::REQUEST_TIMEOUT);
    }

    #[test]
    fn a_long_input_is_not_repeated_whole() {
        let mut wrong = Fields::new(Map::new(), "");
        wrong.wrong(&["stdin"], "string_type", "", &json!(["é".repeat(10_000)]));
        let detail = wrong.finish(()).expect_err("a field is wrong").detail;
        assert!(detail[0]["input"].as_str().expect("a cut text").len() < 5000);
    }
}
