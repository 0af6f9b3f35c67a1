//! The native endpoint `POST /v1/run`: one program, what it read, and what came of it. It judges nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{CancellationToken, Entry, ExecuteError, Job, RunReport, Value, is_plain_relative};

use super::Routes;
use super::operations::check_serving;
use crate::answer::{OUTPUT_ROOM, cut_output, json_response};
use crate::body::{RequestBody, parse_body, parse_record, read_body};
use crate::client::Caller;
use crate::judge::JudgeFacts;
use crate::limits::LimitsRequest;
use crate::objects::{Object, count, object, optional_count, optional_object};
use crate::problem::Problem;
use crate::queue::{Admission, Unfinished};
use crate::service::{Service, finished};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(run))
}

/// One job.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunRequest {
    /// The program.
    program: String,
    /// What it reads from standard input.
    #[serde(default)]
    stdin: String,
    /// Call a function of the program and report its value, instead of running it as a script.
    #[serde(default, deserialize_with = "optional_object")]
    call: Option<CallRequest>,
    /// Files in the working directory.
    #[serde(default)]
    files: BTreeMap<String, FileRequest>,
    /// Limits, where they are not the image's own.
    #[serde(default, deserialize_with = "object")]
    limits: LimitsRequest,
    /// Seed of the random source and the clock.
    #[serde(default, deserialize_with = "count")]
    seed: u64,
    /// Milliseconds after which the answer is 504.
    #[serde(default, deserialize_with = "optional_count")]
    deadline_ms: Option<u64>,
}

/// A call.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CallRequest {
    /// A function that the program defines.
    function: String,
    /// Its arguments, as Python literals: `[1, 2], 'a'`.
    #[serde(default)]
    arguments: String,
}

/// A file's content.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected a text, or an object with the key `base64`")]
enum FileRequest {
    /// As text.
    Text(String),
    /// As bytes.
    Bytes(#[serde(deserialize_with = "object")] EncodedFile),
}

/// Bytes.
#[derive(Debug, Clone, Deserialize, ToSchema)]
struct EncodedFile {
    /// The content in base64.
    base64: String,
}

/// The answer: what `veriplay run --json` prints.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
struct RunResponse {
    schema_version: u32,
    /// `returned`, `raised`, `compile_error`, `missing_entry`, `unencodable`, `trapped`, `fuel_exhausted`, `memory_exceeded`,
    /// `output_exceeded` or `deadline_exceeded`.
    exit: String,
    /// The called function's value as Python text; `null` for a script.
    value: Option<String>,
    /// The error: `kind` and `message`.
    #[schema(value_type = Option<Object>)]
    error: Option<()>,
    /// The limit that stopped the program, or `null`: `fuel`, `memory_bytes`, `output_bytes`, `file_bytes` or `deadline_ns`. `output_exceeded` stands
    /// for `output_bytes` and `file_bytes`.
    limit: Option<String>,
    stdout: String,
    stderr: String,
    /// Whether stdout or stderr was cut.
    truncated: bool,
    /// Wasm fuel used.
    fuel: u64,
    /// The largest size of linear memory, in bytes.
    peak_memory_bytes: u64,
}

/// Run one program
#[utoipa::path(post, path = "/v1/run", tag = "native", request_body = RunRequest, responses(
    (status = 200, body = RunResponse),
    (status = 400, body = Problem, description = "The body is not JSON"),
    (status = 408, body = Problem, description = "The body did not arrive in time"),
    (status = 413, body = Problem), (status = 422, body = Problem),
    (status = 429, body = Problem, description = "The queue is full: Retry-After"),
    (status = 502, body = Problem, description = "The sandbox failed, not the program"),
    (status = 503, body = Problem, description = "Starting or stopping: Retry-After"),
    (status = 504, body = Problem, description = "The deadline passed first"),
))]
async fn run(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, Problem> {
    check_serving(&service)?;
    Problem::check_json(&headers)?;
    let arrived = body.arrived();
    let body = read_body(body, &service.settings, None).await?;
    let Object(request) = parse_body(body, parse_record::<Object<RunRequest>>).await??;
    let judge = service.judge().ok_or_else(|| Problem::unavailable("the image is being loaded"))?;
    let deadline = request.deadline_ms.map(|ms| arrived + Duration::from_millis(ms));
    let job = request.into_job(judge.facts())?;
    let limits = job.limits;
    let run = move |service: &Service, cancellation: &CancellationToken| finished(service.run_job(&job, cancellation));
    let ran = service.run_one(caller.client, Admission::Bounded, deadline, run).await.map_err(unfinished)?;
    match ran {
        Ok(mut outcome) => {
            let mut room = OUTPUT_ROOM;
            outcome.truncated |=
                cut_output(&mut outcome.stdout, &mut room) | cut_output(&mut outcome.stderr, &mut room);
            Ok(json_response(StatusCode::OK, &RunReport::new(outcome, &limits)))
        }
        Err(ExecuteError::BadJob(why)) => Err(Problem::invalid("", why)),
        // One that is cancelled has no answer.
        Err(ExecuteError::Host(_) | ExecuteError::UnknownImage(_) | ExecuteError::Cancelled) => Err(Problem::fault()),
    }
}

fn unfinished(unfinished: Unfinished) -> Problem {
    match unfinished {
        Unfinished::Full(full) => Problem::queue_full(full.to_string()),
        Unfinished::Deadline => Problem::deadline("the job had not ended after `deadline_ms`"),
        Unfinished::Stopped => Problem::unavailable("the service is stopping"),
        Unfinished::Lost => Problem::bug(),
    }
}

impl RunRequest {
    fn into_job(self, facts: &JudgeFacts) -> Result<Job, Problem> {
        let limits = self.limits.overrides()?.apply(facts.limits);
        if limits.memory_bytes < facts.image_memory_bytes {
            let why = format!("the image itself needs {} bytes", facts.image_memory_bytes);
            return Err(Problem::invalid("limits.memory_bytes", why));
        }
        facts.check_limits(&limits).map_err(|(field, why)| Problem::invalid(field, why))?;
        let entry = match self.call {
            None => Entry::Script,
            Some(call) => Entry::Calls { function: call.function, arguments: vec![parse_arguments(&call.arguments)?] },
        };
        let files = self.files.into_iter().map(|(path, file)| file.decode(path)).collect::<Result<_, _>>()?;
        let (image, stdin, seed) = (facts.image.clone(), self.stdin.into_bytes(), self.seed);
        Ok(Job { image, entry, stdin, files, limits, seed, ..Job::script(self.program) })
    }
}

fn parse_arguments(text: &str) -> Result<Vec<Value>, Problem> {
    Value::parse_arguments(text).map_err(|error| Problem::invalid("call.arguments", error.to_string()))
}

impl FileRequest {
    fn decode(self, path: String) -> Result<(String, Vec<u8>), Problem> {
        if !is_plain_relative(&path) {
            let why = "the path leaves the working directory, or is not written plainly: write it as `folder/name`";
            return Err(Problem::invalid(format!("files.{path}"), why));
        }
        let content = match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(EncodedFile { base64 }) => BASE64_STANDARD
                .decode(base64)
                .map_err(|error| Problem::invalid(format!("files.{path}"), error.to_string()))?,
        };
        Ok((path, content))
    }
}
