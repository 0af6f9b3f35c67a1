//! SandboxFusion's `POST /run_code` and `GET /v1/ping`, for verl, the `sandbox-fusion` client and others that speak its protocol.
//!
//! `docs/serving.md` has the table of differences from the original. Time limits become fuel, so a program that ends in time ends so on any
//! machine under any load.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{CancellationToken, ExecuteError, Exit, Job, Language, LimitKind, Limits, Outcome, check_path};
use veriplay_sandbox::Toolchain;
use veriplay_verifier::extraction::program_of_code;
use veriplay_verifier::languages::is_python;

use super::Routes;
use crate::answer::{OUTPUT_ROOM, cut_text, json_response};
use crate::body::RequestBody;
use crate::client::Caller;
use crate::compat::{Fields, Rejection, client_deadline, read_request, until_serving};
use crate::queue::Admission;
use crate::service::{Service, Settings, finished};

/// Seconds of a limit that the request leaves out.
const DEFAULT_SECONDS: f64 = 10.0;
/// Bytes that a program may keep in files.
const FILE_BYTES: u64 = 64 << 20;
/// Memory that a program gets in addition to the interpreter's own, whatever the request says.
const LEAST_MEMORY: u64 = 16 << 20;
/// The deadline in times the seconds that the fuel stands for: it is a backstop, far above what fuel allows.
const DEADLINE_FACTOR: f64 = 90.0;
const COMPILER_FUEL_PER_SECOND: f64 = Toolchain::COMPILER_FUEL_PER_SECOND as f64;
/// Padding is optional, as most encoders and decoders have it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(run_code)).routes(routes!(ping))
}

/// The request, for the description of the interface: the fields are read by hand, to refuse as the original does.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct RunCodeRequest {
    /// The program.
    code: String,
    /// One of the served languages, such as `python`.
    language: String,
    /// What it reads from standard input.
    stdin: Option<String>,
    /// Seconds that the client waits longer; of C and C++ the compiler's limit, which becomes fuel.
    compile_timeout: Option<f64>,
    /// Seconds, which become fuel.
    run_timeout: Option<f64>,
    /// MiB, the interpreter's own share included.
    #[serde(rename = "memory_limit_MB")]
    memory_limit_mb: Option<i64>,
    /// Files in the working directory: path and content in base64.
    #[schema(value_type = Object)]
    files: Option<Map<String, Value>>,
    /// Files to return.
    fetch_files: Option<Vec<String>>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct RunCodeResponse {
    /// `Success` where the program ended with code 0, else `Failed`.
    status: &'static str,
    message: &'static str,
    /// `null` for languages without a compiler.
    compile_result: Option<RunResult>,
    /// `null` where the program does not compile.
    run_result: Option<RunResult>,
    #[schema(value_type = Option<String>)]
    executor_pod_name: (),
    /// The fetched files: path and content in base64.
    #[schema(value_type = Object)]
    files: Map<String, Value>,
    /// Id of the request, as in the header `X-Request-Id`.
    request_id: String,
    /// Wasm fuel used.
    fuel: u64,
    /// Whether stdout or stderr was cut.
    truncated: bool,
}

/// How the program ended, or its compiler.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
struct RunResult {
    /// `Finished` or `TimeLimitExceeded`.
    status: &'static str,
    /// The fuel used, as seconds of `run_timeout`, or of `compile_timeout`.
    execution_time: f64,
    return_code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Run a program, as SandboxFusion does
#[utoipa::path(post, path = "/run_code", tag = "SandboxFusion", request_body = RunCodeRequest, responses(
    (status = 200, body = RunCodeResponse),
    (status = 413, description = "The body is too large"),
    (status = 422, description = "A field is wrong: FastAPI's list of errors"),
    (status = 504, description = "Not run before the client's time limit, or the host failed: try again"),
))]
async fn run_code(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, Rejection> {
    let settings = service.settings.clone();
    let arrived = body.arrived();
    let default = client_deadline(arrived, DEFAULT_SECONDS, DEFAULT_SECONDS);
    let read = move |fields: &mut Fields<'_>| RunRequest::read(fields, &settings);
    let request = read_request(&service, &headers, body, default, read).await?;
    let deadline = Some(client_deadline(arrived, request.compile_seconds, request.run_seconds));
    until_serving(&service, deadline).await?;
    let (fuel_per_second, language) = (request.fuel_per_second(&service.settings), request.language);
    let run = move |service: &Service, cancellation: &CancellationToken| {
        finished(service.run_job(&request.job(service), cancellation))
    };
    let ran = service.run_one(caller.client, Admission::Always, deadline, run).await.map_err(Rejection::too_late)?;
    let mut answer = RunCodeResponse::from_run(ran, language, fuel_per_second, caller.request_id)?;
    let mut room = OUTPUT_ROOM;
    answer.cut(&mut room);
    Ok(json_response(StatusCode::OK, &answer))
}

/// Whether the service answers
#[utoipa::path(get, path = "/v1/ping", tag = "SandboxFusion", responses((status = 200, description = "The text `pong`")))]
async fn ping() -> Response {
    json_response(StatusCode::OK, &"pong")
}

/// A request whose fields are right.
pub(super) struct RunRequest {
    pub(super) language: &'static dyn Language,
    pub(super) code: String,
    pub(super) stdin: String,
    pub(super) compile_seconds: f64,
    pub(super) run_seconds: f64,
    pub(super) memory_mib: i64,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) fetch: Vec<String>,
}

impl RunRequest {
    fn read(fields: &mut Fields<'_>, settings: &Settings) -> Self {
        let compile_seconds = fields.seconds("compile_timeout", DEFAULT_SECONDS, settings.most_seconds);
        let run_seconds = fields.seconds("run_timeout", DEFAULT_SECONDS, settings.most_seconds);
        let code = fields.text("code");
        let stdin = fields.optional_text("stdin").unwrap_or_default();
        let name = fields.word("language", &settings.language_names());
        let language = name.and_then(|name| settings.language(name)).unwrap_or(settings.languages[0]);
        let memory_mib = fields.integer("memory_limit_MB", -1);
        let files = read_files(fields);
        let fetch = read_fetch(fields);
        Self { language, code, stdin, compile_seconds, run_seconds, memory_mib, files, fetch }
    }

    /// The fuel of a second of `run_timeout`: that of any second of a limit, and at most what one core burns while the client waits. A compiler has
    /// `compile_timeout` for itself.
    pub(super) fn fuel_per_second(&self, settings: &Settings) -> f64 {
        let compile_seconds = if self.language.is_compiled() { 0.0 } else { self.compile_seconds };
        let until_answer = (compile_seconds + self.run_seconds) * settings.fuel_per_second as f64;
        (until_answer / self.run_seconds).min(Limits::FUEL_PER_SECOND as f64)
    }

    pub(super) fn job(&self, service: &Service) -> Job {
        let (image, least) = service.judge().map_or_else(Default::default, |judge| {
            let (image, memory_bytes) = judge.facts().image_of(self.language);
            (image.to_owned(), memory_bytes + LEAST_MEMORY)
        });
        let settings = &service.settings;
        let asked = u64::try_from(self.memory_mib).ok().filter(|mib| *mib > 0);
        let memory = asked.map_or(settings.most_memory_bytes, |mib| mib.saturating_mul(1 << 20));
        let fuel_per_second = self.fuel_per_second(settings);
        let limits = Limits {
            fuel: ((self.run_seconds * fuel_per_second) as u64).min(*Limits::FUEL.end()),
            memory_bytes: memory.min(settings.most_memory_bytes).max(least),
            output_bytes: settings.most_output_bytes,
            file_bytes: FILE_BYTES,
            deadline_ns: (self.run_seconds.max(1.0) * DEADLINE_FACTOR * 1e9) as u64,
        };
        let stdin = self.stdin.clone().into_bytes();
        let (files, fetch, sleep_fuel) = (self.files.clone(), self.fetch.clone(), fuel_per_second as u64);
        let program = if is_python(self.language) { program_of_code(&self.code) } else { self.code.clone() };
        let compile_fuel = ((self.compile_seconds * COMPILER_FUEL_PER_SECOND) as u64).max(1);
        let compile_fuel = self.language.is_compiled().then_some(compile_fuel);
        Job { image, stdin, files, fetch, limits, sleep_fuel, compile_fuel, ..Job::script(program) }
    }
}

/// The files of a request. Entries of `null` are left out, as in the original. Two things are errors: a path that leaves the working directory,
/// because there is nothing outside of it, and base64 that cannot be decoded, because the program would run without its file.
fn read_files(fields: &mut Fields<'_>) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (path, content) in fields.object("files") {
        let plain = path.strip_prefix("./").unwrap_or(&path);
        match content {
            Value::Null => {}
            _ if check_path(plain).is_err() => {
                let why = "Input should be a relative path inside the working directory";
                fields.wrong(&["files", &path], "value_error", why, &Value::String(path.clone()));
            }
            Value::String(text) => match decode_base64(&text) {
                Some(content) => files.push((plain.to_owned(), content)),
                None => fields.wrong(&["files", &path], "value_error", "Input should be base64", &Value::String(text)),
            },
            other => fields.not_a_text(&["files", &path], &other),
        }
    }
    files
}

/// The files to return. A path that leads out of the working directory leads to nothing, as one of a missing file.
fn read_fetch(fields: &mut Fields<'_>) -> Vec<String> {
    let paths = fields.list("fetch_files");
    fields.texts("fetch_files", paths).into_iter().filter(|path| check_path(path).is_ok()).collect()
}

/// Decodes as Python's `b64decode` does: what is no digit is skipped.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte)).collect();
    BASE64.decode(digits).ok()
}

impl RunCodeResponse {
    pub(super) fn succeeded(&self) -> bool {
        self.run_result.as_ref().is_some_and(|run| run.return_code == Some(0))
    }

    pub(super) fn stdout(&self) -> &str {
        self.run_result.as_ref().map_or("", |run| run.stdout.as_str())
    }

    /// Cuts what it printed to what fits into `room`, which loses as much.
    pub(super) fn cut(&mut self, room: &mut usize) {
        for RunResult { stdout, stderr, .. } in self.compile_result.iter_mut().chain(&mut self.run_result) {
            // Both: the second has what the first leaves.
            self.truncated |= cut_text(stdout, room) | cut_text(stderr, room);
        }
    }

    /// The answer to a job that ran, or the rejection of one that did not.
    pub(super) fn from_run(
        ran: Result<Outcome, ExecuteError>,
        language: &dyn Language,
        fuel_per_second: f64,
        request_id: String,
    ) -> Result<Self, Rejection> {
        match ran {
            Ok(outcome) => Ok(Self::new(outcome, language, fuel_per_second, request_id)),
            Err(ExecuteError::BadJob(why)) => Err(Rejection::text(StatusCode::UNPROCESSABLE_ENTITY, why)),
            // One that is cancelled has no answer.
            Err(ExecuteError::Host(_) | ExecuteError::UnknownImage(_) | ExecuteError::Cancelled) => {
                Err(Rejection::host_fault())
            }
        }
    }

    fn new(outcome: Outcome, language: &dyn Language, fuel_per_second: f64, request_id: String) -> Self {
        let exceeded = outcome.compilation.and_then(|compilation| compilation.exceeded);
        let (status, return_code) = match exceeded {
            Some(LimitKind::Fuel | LimitKind::DeadlineNs) => OUT_OF_TIME,
            _ => ending(&outcome),
        };
        let met_memory = matches!(outcome.exit, Exit::Exceeded { limit: LimitKind::MemoryBytes, .. });
        let is_refused = language.is_compiled() && (outcome.exit == Exit::CompileError || exceeded.is_some());
        let compiler_fuel = outcome.compilation.map_or(0, |compilation| compilation.fuel);
        let compile_time = compiler_fuel as f64 / COMPILER_FUEL_PER_SECOND;
        let Outcome { stdout, stderr, fetched, fuel, truncated, error, .. } = outcome;
        let mut stderr = decode_text(stderr);
        if met_memory {
            stderr += if is_python(language) { "MemoryError\n" } else { "out of memory\n" };
        }
        // A compiler that met its limits has told nothing itself.
        if let (true, true, Some(error)) = (is_refused, stderr.is_empty(), error) {
            stderr = error.message;
        }
        let execution_time = if is_refused { compile_time } else { fuel as f64 / fuel_per_second };
        let ended = RunResult { status, execution_time, return_code, stdout: decode_text(stdout), stderr };
        let (compile_result, run_result) = match (is_refused, language.is_compiled()) {
            (true, _) => (Some(ended), None),
            (false, compiled) => (compiled.then(|| RunResult::compiled(compile_time)), Some(ended)),
        };
        Self {
            status: if return_code == Some(0) { "Success" } else { "Failed" },
            message: "",
            compile_result,
            run_result,
            executor_pod_name: (),
            files: fetched.into_iter().map(|(path, content)| (path, BASE64.encode(content).into())).collect(),
            request_id,
            fuel,
            truncated,
        }
    }
}

impl RunResult {
    /// A compiler that had nothing to say.
    fn compiled(execution_time: f64) -> Self {
        let (stdout, stderr) = (String::new(), String::new());
        Self { status: "Finished", execution_time, return_code: Some(0), stdout, stderr }
    }
}

/// How what met its limit of time has ended.
const OUT_OF_TIME: (&str, Option<i32>) = ("TimeLimitExceeded", None);

/// The protocol's word for how the program ended, and its exit code.
fn ending(outcome: &Outcome) -> (&'static str, Option<i32>) {
    match (&outcome.exit, outcome.process_status()) {
        (Exit::Exceeded { limit: LimitKind::MemoryBytes, .. }, _) => ("Finished", Some(1)),
        (_, None) => OUT_OF_TIME,
        (_, status) => ("Finished", status),
    }
}

/// Output as the original decodes it: all of it, or the error of Python's decoder.
fn decode_text(bytes: Vec<u8>) -> String {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error,
    };
    let (bytes, error) = (error.as_bytes(), error.utf8_error());
    let at = error.valid_up_to();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let starts = matches!(byte, 0xc2..=0xf4);
    let why = match error.error_len() {
        None => "unexpected end of data",
        Some(_) if starts => "invalid continuation byte",
        Some(_) => "invalid start byte",
    };
    format!("[DecodeError] 'utf-8' codec can't decode byte 0x{byte:02x} in position {at}: {why}")
}
