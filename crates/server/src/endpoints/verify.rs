//! The native endpoints `POST /v1/verify` and `POST /v1/tasks`: many attempts at many tasks in one request, each with a verdict, or with a
//! fault that says why there is none.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{Digest, Limits, Predicted, SCHEMA_VERSION};

use super::Routes;
use super::operations::check_serving;
use crate::body::{RequestBody, json_response, parse_body, parse_record, read_body};
use crate::caller::Caller;
use crate::json_slices::{array_items, object_members};
use crate::judge::{AttemptText, Judge, JudgeOptions, OpenTask, TaskError, TaskSource};
use crate::lines::LineBody;
use crate::objects::{Count, Object, optional_count, optional_fuel};
use crate::problem::Problem;
use crate::queue::{Admission, QueueFull};
use crate::rows::ServedRow;
use crate::service::{AttemptWork, JudgedStream, Service, TOGETHER};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(verify)).routes(routes!(add_tasks))
}

/// A task: a row as it is published, or the digest of one that was sent before.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct TaskRequest {
    /// The format of the row; `/v1/info` lists them.
    format: Option<String>,
    /// The row, as a JSON object or as its text.
    #[schema(value_type = Object)]
    row: Option<Value>,
    /// What attempts at a `cruxeval` row predict: `output` (the default) or `input`.
    predict: Option<String>,
    /// The digest of a row that was sent before, in place of the other fields.
    digest: Option<String>,
}

/// An attempt at one of the tasks.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AttemptRequest {
    /// The task's name, as its row has it.
    #[schema(value_type = String)]
    task_id: Name,
    /// Its own name. By default its number among the attempts at the task, from 0.
    #[schema(value_type = Option<String>)]
    attempt_id: Option<Name>,
    /// A continuation of the prompt, or prose with a fenced block of Python.
    completion: Option<String>,
    /// A whole program, in place of a completion.
    program: Option<String>,
}

/// A text, or a whole number as its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self(name)),
            Value::Number(number) if number.is_i64() || number.is_u64() => Ok(Self(number.to_string())),
            _ => Err(serde::de::Error::custom("expected a string or a whole number")),
        }
    }
}

/// Limits of each job, instead of the tasks' own.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LimitsRequest {
    /// Wasm fuel.
    #[serde(default, deserialize_with = "optional_fuel")]
    fuel: Option<u64>,
    /// Linear memory, the interpreter's own share included.
    #[serde(default, deserialize_with = "optional_count")]
    memory_bytes: Option<u64>,
}

/// Many attempts at many tasks.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct VerifyRequest {
    /// No two have the same name.
    tasks: Vec<TaskRequest>,
    attempts: Vec<AttemptRequest>,
    limits: Option<LimitsRequest>,
    /// Seed of every job (default 0).
    seed: Option<u64>,
    /// Whether an attempt ends at its first failed case (default false).
    early_stop: Option<bool>,
    /// Milliseconds after which what is unfinished becomes a fault.
    deadline_ms: Option<u64>,
}

/// A task that is kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct KeptTask {
    /// The task's name, as its row has it.
    task_id: String,
    /// The name under which later requests may use it.
    digest: String,
}

/// The answer to `/v1/verify`.
#[derive(Serialize, ToSchema)]
struct VerifyResponse {
    schema_version: u32,
    /// Digest of the image. Verdicts depend on it.
    image: String,
    tasks: Vec<KeptTask>,
    /// One row an attempt, in their order. With a verdict it is a row of `veriplay verify --out` and `index`, `reward`, `cached`, `fault`:
    /// null; without one it is `index`, `task_id`, `attempt_id`, `status`: null, `reward`: null, `fault`: {`kind`, `message`, `retried`}.
    #[schema(value_type = Vec<Object>)]
    verdicts: Vec<ServedRow>,
}

/// The answer to `/v1/tasks`.
#[derive(Serialize, ToSchema)]
struct TasksResponse {
    tasks: Vec<KeptTask>,
}

#[derive(Deserialize)]
struct VerifyQuery {
    stream: Option<String>,
    tasks: Option<String>,
}

/// Judge attempts at tasks
#[utoipa::path(post, path = "/v1/verify", tag = "native", request_body = VerifyRequest,
    params(
        ("stream" = Option<u8>, Query, description = "1: one row a line, as they are judged"),
        ("tasks" = Option<u8>, Query, description = "1: before the rows, a line with the digests of the tasks"),
    ),
    responses(
        (status = 200, body = VerifyResponse, description = "One row an attempt; faults are rows too"),
        (status = 400, body = Problem, description = "The body is not JSON"),
        (status = 408, body = Problem, description = "The body did not arrive in time"),
        (status = 404, body = Problem, description = "A digest names no task that is kept: send its row"),
        (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem, description = "The queue is full: Retry-After"),
        (status = 503, body = Problem, description = "Starting or stopping: Retry-After"),
    ))]
async fn verify(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<VerifyQuery>, QueryRejection>,
    headers: HeaderMap,
    body: RequestBody,
) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return Problem::invalid("", rejection.body_text()).into_response(),
    };
    let is_set = |value: &Option<String>| value.as_ref().is_some_and(|value| value != "0" && value != "false");
    let (lines, tasks) = (is_set(&query.stream) || wants_lines(&headers), is_set(&query.tasks));
    // Whoever reads them one by one wants each at once.
    let batch = if lines { 1 } else { TOGETHER };
    match start_verify(&service, caller, &headers, body, batch).await {
        Ok(started) if lines => started.stream(tasks),
        Ok(started) => started.collect().await,
        Err(problem) => problem.into_response(),
    }
}

/// Tasks to keep.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct TasksRequest {
    tasks: Vec<TaskRequest>,
}

/// Keep tasks for later requests by digest
#[utoipa::path(post, path = "/v1/tasks", tag = "native", request_body = TasksRequest, responses(
    (status = 200, body = TasksResponse),
    (status = 400, body = Problem, description = "The body is not JSON"),
    (status = 404, body = Problem, description = "A digest names no task that is kept: send its row"),
    (status = 408, body = Problem, description = "The body did not arrive in time"),
    (status = 413, body = Problem), (status = 422, body = Problem),
    (status = 429, body = Problem, description = "There is no room for the body: Retry-After"),
    (status = 503, body = Problem, description = "Starting or stopping: Retry-After"),
))]
async fn add_tasks(State(service): State<Arc<Service>>, headers: HeaderMap, body: RequestBody) -> Response {
    let added = async {
        let judge = ready_judge(&service)?;
        let text = read_text(&service, &headers, body).await?;
        let parse = move |text: &[u8]| {
            let members = Members::parse(text, &["tasks"])?;
            open_tasks(&judge, members.required("tasks")?, &JudgeOptions::default())
        };
        let tasks = parse_body(text, parse).await??;
        Ok::<_, Problem>(json_response(StatusCode::OK, &TasksResponse { tasks: tasks.iter().map(kept).collect() }))
    };
    added.await.unwrap_or_else(Problem::into_response)
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.split(';').next().unwrap_or_default().trim() == "application/x-ndjson")
}

fn ready_judge(service: &Service) -> Result<Arc<dyn Judge>, Problem> {
    check_serving(service)?;
    service.judge().map(Arc::clone).ok_or_else(|| Problem::unavailable("the image is being loaded"))
}

async fn read_text(service: &Service, headers: &HeaderMap, body: RequestBody) -> Result<bytes::Bytes, Problem> {
    Problem::check_json(headers)?;
    Ok(read_body(body, service.body_limits(), None).await?)
}

/// Attempts in the queue.
struct StartedVerify {
    image: String,
    tasks: Vec<KeptTask>,
    /// The names of the attempts: those of their tasks, and their own.
    names: Vec<(String, String)>,
    stream: JudgedStream,
}

async fn start_verify(
    service: &Arc<Service>,
    caller: Caller,
    headers: &HeaderMap,
    body: RequestBody,
    batch: usize,
) -> Result<StartedVerify, Problem> {
    let judge = ready_judge(service)?;
    let arrived = body.arrived();
    let text = read_text(service, headers, body).await?;
    let image = judge.facts().image_digest.to_string();
    let work = parse_body(text, move |text| ParsedVerify::parse(&judge, text)).await??;
    let deadline = work.deadline_ms.map(|ms| arrived + Duration::from_millis(ms));
    let names = work.attempts.iter().map(|work| (work.task.task_id().to_owned(), work.attempt_id.clone())).collect();
    let stream = service.submit_attempts(caller.client, Admission::Bounded, deadline, work.attempts, batch);
    let stream = stream.map_err(|full| match full {
        QueueFull::TooLarge { .. } => Problem::invalid("attempts", full.to_string()),
        QueueFull::Busy { .. } => Problem::queue_full(full.to_string()),
        QueueFull::Closed => Problem::unavailable(full.to_string()),
    })?;
    Ok(StartedVerify { image, tasks: work.tasks, names, stream })
}

impl StartedVerify {
    fn row(names: &[(String, String)], (index, result): crate::service::Indexed) -> ServedRow {
        let (task_id, attempt_id) = &names[index];
        ServedRow::new(index, (task_id, attempt_id), result)
    }

    /// All rows in one answer.
    async fn collect(mut self) -> Response {
        let mut rows: Vec<Option<ServedRow>> = vec![None; self.names.len()];
        while let Some(judged) = self.stream.next().await {
            let index = judged.0;
            rows[index] = Some(Self::row(&self.names, judged));
        }
        let verdicts = rows.into_iter().flatten().collect();
        let (image, tasks) = (self.image, self.tasks);
        json_response(StatusCode::OK, &VerifyResponse { schema_version: SCHEMA_VERSION, image, tasks, verdicts })
    }

    /// A row a line, as they are judged. When the client hangs up, the rest is cancelled.
    fn stream(self, with_tasks: bool) -> Response {
        let Self { names, mut stream, tasks, .. } = self;
        let (lines, body) = LineBody::new();
        tokio::spawn(async move {
            if with_tasks && lines.send(&TasksResponse { tasks }).await.is_err() {
                return;
            }
            loop {
                let judged = tokio::select! {
                    judged = stream.next() => judged,
                    () = lines.closed() => return,
                };
                let Some(judged) = judged else { return };
                if lines.send(&Self::row(&names, judged)).await.is_err() {
                    return;
                }
            }
        });
        let mut response = Response::new(Body::new(body));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        response
    }
}

/// The members of a request's object, as texts.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'a> Members<'a> {
    fn parse(text: &'a [u8], known: &[&str]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(text).map_err(|error| Problem::not_json(error.to_string()))?;
        let members = object_members(text).map_err(|error| Problem::not_json(error.to_string()))?;
        Self::named(members, known, "")
    }

    /// Checks that each key is known and stands once.
    fn named(members: Vec<(&'a str, &'a str)>, known: &[&str], path: &str) -> Result<Self, Problem> {
        let mut found: Vec<(String, &str)> = Vec::with_capacity(members.len());
        for (key, value) in members {
            let key: String = serde_json::from_str(key).map_err(|error| Problem::not_json(error.to_string()))?;
            let field = format!("{path}{key}");
            if !known.contains(&key.as_str()) {
                return Err(Problem::invalid(field, format!("unknown field; known are {}", known.join(", "))));
            }
            if found.iter().any(|(other, _)| *other == key) {
                return Err(Problem::invalid(field, "it is given twice"));
            }
            found.push((key, value));
        }
        Ok(Self(found))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| *value).filter(|value| *value != "null")
    }

    fn required(&self, name: &str) -> Result<&'a str, Problem> {
        self.get(name).ok_or_else(|| Problem::invalid(name, "it is missing"))
    }

    /// A member as a record; its default where it is absent.
    fn record<T: serde::de::DeserializeOwned + Default>(&self, name: &str) -> Result<T, Problem> {
        self.get(name).map_or_else(|| Ok(T::default()), |text| parse_member(name, text))
    }
}

/// Parses a member. Problems name it, and the place in it.
fn parse_member<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, Problem> {
    parse_record(text.as_bytes()).map_err(|problem| {
        let field = match problem.field.as_deref() {
            None => name.to_owned(),
            Some(inner) if inner.starts_with('[') => format!("{name}{inner}"),
            Some(inner) => format!("{name}.{inner}"),
        };
        Problem { field: Some(field), ..problem }
    })
}

/// A request whose fields are right.
struct ParsedVerify {
    tasks: Vec<KeptTask>,
    attempts: Vec<AttemptWork>,
    deadline_ms: Option<u64>,
}

impl ParsedVerify {
    fn parse(judge: &Arc<dyn Judge>, text: &[u8]) -> Result<Self, Problem> {
        let known = ["tasks", "attempts", "limits", "seed", "early_stop", "deadline_ms"];
        let members = Members::parse(text, &known)?;
        let limits: Option<Object<LimitsRequest>> = members.record("limits")?;
        let LimitsRequest { fuel, memory_bytes } = limits.map_or_else(LimitsRequest::default, |Object(limits)| limits);
        let (facts, default) = (judge.facts(), judge.facts().limits);
        let asked = Limits {
            fuel: fuel.unwrap_or(default.fuel),
            memory_bytes: memory_bytes.unwrap_or(default.memory_bytes),
            ..default
        };
        facts.check_limits(&asked).map_err(|(field, why)| Problem::invalid(field, why))?;
        let (Count(seed), early_stop) = (members.record::<Count>("seed")?, members.record("early_stop")?);
        let options = JudgeOptions { fuel, memory_bytes, seed, early_stop };
        let deadline_ms = members.record::<Option<Count>>("deadline_ms")?.map(|Count(ms)| ms);
        let attempts: Vec<Object<AttemptRequest>> = parse_member("attempts", members.required("attempts")?)?;
        let tasks = open_tasks(judge, members.required("tasks")?, &options)?;
        let kept = tasks.iter().map(kept).collect();
        Ok(Self { tasks: kept, attempts: pair(attempts, &tasks)?, deadline_ms })
    }
}

fn kept(task: &Arc<dyn OpenTask>) -> KeptTask {
    KeptTask { task_id: task.task_id().to_owned(), digest: task.digest().to_string() }
}

/// Opens the tasks of a request.
fn open_tasks(judge: &Arc<dyn Judge>, text: &str, options: &JudgeOptions) -> Result<Vec<Arc<dyn OpenTask>>, Problem> {
    let items = array_items(text).map_err(|error| Problem::invalid("tasks", error.to_string()))?;
    let mut opened: Vec<Arc<dyn OpenTask>> = Vec::with_capacity(items.len());
    let mut names: HashMap<String, usize> = HashMap::new();
    for (at, item) in items.into_iter().enumerate() {
        let path = format!("tasks[{at}]");
        let source = task_source(item, &path)?;
        let task = Arc::clone(judge).open_task(&source, options).map_err(|error| task_problem(error, &path))?;
        if let Some(first) = names.insert(task.task_id().to_owned(), at) {
            let why = format!("`{}` is the name of tasks[{first}] too", task.task_id());
            return Err(Problem::invalid(path, why));
        }
        opened.push(task);
    }
    Ok(opened)
}

fn task_source(item: &str, path: &str) -> Result<TaskSource, Problem> {
    let members = object_members(item).map_err(|error| Problem::invalid(path, error.to_string()))?;
    let members = Members::named(members, &["format", "row", "predict", "digest"], &format!("{path}."))?;
    let text = |name: &str| -> Result<Option<String>, Problem> {
        members.get(name).map(|text| parse_member(&format!("{path}.{name}"), text)).transpose()
    };
    match (text("digest")?, text("format")?, members.get("row")) {
        (Some(digest), None, None) => match digest.parse::<Digest>() {
            Ok(digest) => Ok(TaskSource::Digest(digest)),
            Err(error) => Err(Problem::invalid(format!("{path}.digest"), error.to_string())),
        },
        (None, Some(format), Some(row)) => {
            let predict = match text("predict")?.as_deref() {
                None | Some("output") => Predicted::Output,
                Some("input") => Predicted::Input,
                Some(other) => {
                    let why = format!("expected `output` or `input`, found `{other}`");
                    return Err(Problem::invalid(format!("{path}.predict"), why));
                }
            };
            let row = if row.starts_with('"') { parse_member(&format!("{path}.row"), row)? } else { row.to_owned() };
            Ok(TaskSource::Row { format, row, predict })
        }
        _ => Err(Problem::invalid(path, "a task is either `format` and `row`, or `digest`")),
    }
}

fn task_problem(error: TaskError, path: &str) -> Problem {
    let reason = error.to_string();
    match error {
        TaskError::UnknownDigest(_) => Problem::unknown_task(format!("{path}.digest"), reason),
        TaskError::UnknownFormat(_) => Problem::invalid(format!("{path}.format"), reason),
        TaskError::Invalid { field, .. } if field.is_empty() => Problem::invalid(format!("{path}.row"), reason),
        TaskError::Invalid { field, .. } => Problem::invalid(format!("{path}.row.{field}"), reason),
        TaskError::Options { field, .. } => Problem::invalid(field, reason),
    }
}

/// Finds the task of each attempt.
fn pair(attempts: Vec<Object<AttemptRequest>>, tasks: &[Arc<dyn OpenTask>]) -> Result<Vec<AttemptWork>, Problem> {
    let by_name: HashMap<&str, usize> = tasks.iter().enumerate().map(|(at, task)| (task.task_id(), at)).collect();
    let mut seen = vec![0_u64; tasks.len()];
    let mut work = Vec::with_capacity(attempts.len());
    for (at, Object(attempt)) in attempts.into_iter().enumerate() {
        let path = |field: &str| format!("attempts[{at}].{field}");
        let Some(&task) = by_name.get(attempt.task_id.0.as_str()) else {
            let why = format!("no task of this request has the name `{}`", attempt.task_id.0);
            return Err(Problem::invalid(path("task_id"), why));
        };
        let text = match (attempt.completion, attempt.program) {
            (Some(text), None) => AttemptText::Completion(text),
            (None, Some(text)) => AttemptText::Program(text),
            (None, None) => return Err(Problem::invalid(path("completion"), "it is missing, and `program` too")),
            (Some(_), Some(_)) => {
                return Err(Problem::invalid(path("program"), "it stands beside `completion`; one of them is judged"));
            }
        };
        let attempt_id = attempt.attempt_id.map_or_else(|| seen[task].to_string(), |name| name.0);
        seen[task] += 1;
        work.push(AttemptWork { task: Arc::clone(&tasks[task]), attempt_id, text });
    }
    Ok(work)
}
