//! The native endpoints `POST /v1/verify` and `POST /v1/tasks`: many attempts at many tasks in one request, each with a verdict, or with a
//! fault that says why there is none.

mod parse;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, HttpBody};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Frame;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::SCHEMA_VERSION;
use veriplay_eval::JudgedAttempt;

use super::Routes;
use super::operations::check_serving;
use crate::answer::json_response;
use crate::body::{RequestBody, parse_body, read_body};
use crate::client::Caller;
use crate::judge::{Judge, JudgeOptions};
use crate::limits::LimitsRequest;
use crate::problem::Problem;
use crate::queue::{Admission, QueueFull};
use crate::rows::{Fault, FaultKind, ServedRow};
use crate::service::{JudgedStream, Service, TOGETHER};
use parse::{Members, ParsedVerify, RequestedTask, open_tasks};

/// Lines that wait for a client that reads slowly; whoever makes them waits then.
const AHEAD: usize = 64;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(verify)).routes(routes!(add_tasks))
}

/// A task: a row as it is published, or the digest of one that was sent before.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct TaskRequest {
    /// The format of the row; `/v1/info` lists them. `auto` takes a row of any shape that it knows.
    format: Option<String>,
    /// The row, as JSON or as its text.
    #[schema(value_type = Object)]
    row: Option<Value>,
    /// The task's name, by which attempts name it, instead of the one in the row.
    task_id: Option<String>,
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

/// Many attempts at many tasks.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct VerifyRequest {
    /// No two have the same name.
    tasks: Vec<TaskRequest>,
    attempts: Vec<AttemptRequest>,
    /// The judge of tasks whose rows name none: its name, with options as in `float:rtol=1e-6,atol=1e-9`, or an object with `judge` and options.
    #[schema(value_type = Option<String>)]
    judge: Option<Value>,
    /// Instead of the tasks' own.
    limits: Option<LimitsRequest>,
    /// Seed of every job (default 0).
    seed: Option<u64>,
    /// Whether an attempt ends at its first failed case (default false).
    early_stop: Option<bool>,
    /// Milliseconds after which what is unfinished becomes a fault.
    deadline_ms: Option<u64>,
}

/// A task that is kept, or a row that cannot be read.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct KeptTask {
    /// The task's name. `null` for a row that cannot be read and was given none.
    task_id: Option<String>,
    /// The name under which later requests may use it. `null` for a row that cannot be read.
    digest: Option<String>,
    /// Why the row cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

/// The answer to `/v1/verify`.
#[derive(Serialize, ToSchema)]
struct VerifyResponse {
    schema_version: u32,
    /// Digest of the image. Verdicts depend on it.
    image: String,
    tasks: Vec<KeptTask>,
    /// One row an attempt, in their order. With a verdict it is a row of `veriplay verify --out` and `index`, `reward`, `cached`, `fault`:
    /// null; without one it is `index`, `task_id`, `attempt_id`, `status`: null, `reward`: null, `fault`: {`kind`, `message`, `retried`}, and `field` where the task's row cannot be read.
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
        Ok::<_, Problem>(json_response(
            StatusCode::OK,
            &TasksResponse { tasks: tasks.iter().map(RequestedTask::kept).collect() },
        ))
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

async fn read_text(service: &Service, headers: &HeaderMap, body: RequestBody) -> Result<Bytes, Problem> {
    Problem::check_json(headers)?;
    Ok(read_body(body, &service.settings, None).await?)
}

/// The name of an attempt, and its place among those of the request.
struct AttemptPlace {
    index: usize,
    task_id: String,
    attempt_id: String,
}

impl AttemptPlace {
    fn row(&self, result: Result<JudgedAttempt, Fault>) -> ServedRow {
        ServedRow::new(self.index, (&self.task_id, &self.attempt_id), result)
    }
}

struct StartedVerify {
    image: String,
    tasks: Vec<KeptTask>,
    /// The rows of attempts at tasks that cannot be read.
    refused: Vec<ServedRow>,
    /// The places of the others.
    places: Vec<AttemptPlace>,
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
    let ParsedVerify { tasks, attempts, places, refused, .. } = work;
    refused.iter().for_each(|_| service.metrics.count_fault(FaultKind::UnreadableTask.word()));
    let stream = service.submit_attempts(caller.client, Admission::Bounded, deadline, attempts, batch);
    let stream = stream.map_err(|full| match full {
        QueueFull::TooLarge { .. } => Problem::invalid("attempts", full.to_string()),
        QueueFull::Busy { .. } => Problem::queue_full(full.to_string()),
        QueueFull::Closed => Problem::unavailable(full.to_string()),
    })?;
    Ok(StartedVerify { image, tasks, refused, places, stream })
}

impl StartedVerify {
    async fn collect(mut self) -> Response {
        let mut verdicts = self.refused;
        while let Some((index, result)) = self.stream.next().await {
            verdicts.push(self.places[index].row(result));
        }
        verdicts.sort_by_key(ServedRow::index);
        let (image, tasks) = (self.image, self.tasks);
        json_response(StatusCode::OK, &VerifyResponse { schema_version: SCHEMA_VERSION, image, tasks, verdicts })
    }

    /// A row a line, as they are judged. When the client hangs up, the rest is cancelled.
    fn stream(self, with_tasks: bool) -> Response {
        let Self { refused, places, mut stream, tasks, .. } = self;
        let (lines, body) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            if with_tasks {
                send_line(&lines, &TasksResponse { tasks }).await?;
            }
            for row in refused {
                send_line(&lines, &row).await?;
            }
            loop {
                let judged = tokio::select! {
                    judged = stream.next() => judged,
                    () = lines.closed() => None,
                };
                let Some((index, result)) = judged else { return Ok::<_, SendError<Bytes>>(()) };
                send_line(&lines, &places[index].row(result)).await?;
            }
        });
        let mut response = Response::new(Body::new(LineBody(body)));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        response
    }
}

/// A body of JSON lines that grows as rows are made.
struct LineBody(mpsc::Receiver<Bytes>);

impl HttpBody for LineBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

/// Writes a record as a line; an error where the client has hung up.
async fn send_line(lines: &mpsc::Sender<Bytes>, record: &impl Serialize) -> Result<(), SendError<Bytes>> {
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    lines.send(Bytes::from(line)).await
}
