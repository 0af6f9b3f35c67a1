//! SandboxFusion's `POST /submit`: a completion at a problem that comes with the request, judged as its `CommonOJDataset` or
//! `AutoEvalDataset` does.
//!
//! The program of an `AutoEvalDataset` runs together with its tests, as the protocol has it: it can read and forge them. The native endpoint
//! does not have that weakness. Code that extracts programs (`custom_extract_logic`) is refused: the original runs it in the server.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{CancellationToken, Comparison, Execute, ExecuteError, Job, Language, Limits, Outcome};
use veriplay_verifier::extraction::{Continues, Entry, NoAnswer, Wanted, extract_in};
use veriplay_verifier::judge_by_name;
use veriplay_verifier::judges::{JudgeContext, JudgeFinding, OutputKind, ScriptRun};
use veriplay_verifier::languages::is_python;

use super::Routes;
use super::run_code::{RunCodeResponse, RunRequest, decode_base64};
use crate::answer::{OUTPUT_ROOM, json_response};
use crate::body::RequestBody;
use crate::client::Caller;
use crate::compat::{Fields, Rejection, client_deadline, read_judge, read_request, until_serving};
use crate::queue::Admission;
use crate::service::{Service, Settings};

/// Seconds of limits that the request leaves out.
const RUN_SECONDS: f64 = 20.0;
const COMPILE_SECONDS: f64 = 40.0;
/// The judge of standard output, unless `config.extra.judge` names another.
const JUDGE: &str = "sandbox_fusion";
/// The judge that runs a program, which this endpoint has no limits for.
const CHECKER: &str = "checker";
/// Names of the class that runs a program with its tests.
const AUTO_EVAL: [&str; 4] = ["AutoEvalDataset", "AutoEvalV4Dataset", "AutoEvalV5Dataset", "AutoEvalV6Dataset"];
const INSERT: &str = "#<INSERT>";
/// Characters of a case's texts in the answer, where the case passed.
const SHOWN: usize = 1000;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(submit))
}

/// The request, for the description of the interface.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct SubmitRequest {
    /// Any name; `config.dataset_type` says how it is judged.
    dataset: String,
    #[schema(value_type = String)]
    id: Value,
    /// What a model wrote.
    completion: String,
    /// `dataset_type`, `language`, `provided_data`, `run_timeout`, `compile_timeout`, `extra`.
    #[schema(value_type = Object)]
    config: Value,
}

/// The answer.
#[derive(Default, Serialize, ToSchema)]
struct SubmitResponse {
    #[schema(value_type = String)]
    id: Value,
    accepted: bool,
    extracted_code: String,
    full_code: Option<String>,
    test_code: Option<String>,
    tests: Vec<TestResponse>,
    /// Always `null`, as in the original.
    #[schema(value_type = Option<String>)]
    extracted_type: (),
    #[schema(value_type = Option<Object>)]
    extra: Option<Value>,
    /// The rule that found the code and its bytes in the completion, or the reason why there is none.
    #[schema(value_type = Object)]
    extraction: Value,
}

/// One case.
#[derive(Serialize, ToSchema)]
struct TestResponse {
    passed: bool,
    exec_info: RunCodeResponse,
    #[schema(value_type = Option<Object>)]
    test_info: Option<Value>,
}

/// Judge a completion at a problem, as SandboxFusion does
#[utoipa::path(post, path = "/submit", tag = "SandboxFusion", request_body = SubmitRequest, responses(
    (status = 200, body = SubmitResponse),
    (status = 400, description = "The data set is not known, or its data is not in the request"),
    (status = 422, description = "A field is wrong: FastAPI's list of errors"),
    (status = 504, description = "Not judged before the client's time limit, or the host failed: try again"),
))]
async fn submit(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, Rejection> {
    let settings = service.settings.clone();
    let arrived = body.arrived();
    let default = client_deadline(arrived, COMPILE_SECONDS, RUN_SECONDS);
    let read = move |fields: &mut Fields<'_>| Submission::read(fields, &settings);
    let request = read_request(&service, &headers, body, default, read).await?;
    let problem = Problem::read(&request, &service.settings)?;
    let runs = problem.cases.len().max(1) as f64;
    let run_seconds = (request.run_seconds * runs).min(service.settings.most_seconds);
    let deadline = Some(client_deadline(arrived, request.compile_seconds, run_seconds));
    until_serving(&service, deadline).await?;
    let request_id = caller.request_id.clone();
    let judge = move |service: &Service, cancellation: &CancellationToken| {
        let judged = problem.judge(&ProgramRunner { service, cancellation, request_id: &request_id }, &request);
        // What was cancelled has no answer.
        (judged.is_ok() || !cancellation.is_cancelled()).then_some(judged)
    };
    let judged =
        service.run_one(caller.client, Admission::Always, deadline, judge).await.map_err(Rejection::too_late)?;
    judged.map(|response| json_response(StatusCode::OK, &response))
}

/// A request whose fields are right.
struct Submission {
    dataset: String,
    id: Value,
    completion: String,
    config: Map<String, Value>,
    compile_seconds: f64,
    run_seconds: f64,
}

impl Submission {
    fn read(fields: &mut Fields<'_>, settings: &Settings) -> Self {
        let dataset = fields.text("dataset");
        let id = fields.required("id").unwrap_or_default();
        if !(id.is_string() || id.is_i64() || id.is_u64()) {
            fields.not_a_text(&["id"], &id);
        }
        let completion = fields.text("completion");
        let config = match fields.required("config") {
            Some(Value::Object(config)) => config,
            Some(other) => {
                fields.wrong(&["config"], "model_attributes_type", "Input should be a valid dictionary", &other);
                Map::new()
            }
            None => Map::new(),
        };
        let mut limit = |name: &str, default: f64| match config.get(name).map(|value| (value, value.as_f64())) {
            None | Some((Value::Null, _)) => default,
            Some((_, Some(0.0))) => default,
            Some((_, Some(seconds))) if seconds > 0.0 && seconds <= settings.most_seconds => seconds,
            Some((value, _)) => {
                let msg = format!("Input should be a number of seconds up to {}", settings.most_seconds);
                fields.wrong(&["config", name], "float_type", msg, value);
                default
            }
        };
        let compile_seconds = limit("compile_timeout", COMPILE_SECONDS.min(settings.most_seconds));
        let run_seconds = limit("run_timeout", RUN_SECONDS.min(settings.most_seconds));
        Self { dataset, id, completion, config, compile_seconds, run_seconds }
    }

    fn config_text(&self, name: &str) -> Option<&str> {
        self.config.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> bool {
        self.config.get("extra").and_then(|extra| extra.get(name)).is_some_and(is_true)
    }

    fn run(
        &self,
        language: &'static dyn Language,
        code: String,
        stdin: String,
        files: Vec<(String, Vec<u8>)>,
    ) -> RunRequest {
        let (compile_seconds, run_seconds) = (self.compile_seconds, self.run_seconds);
        RunRequest { language, code, stdin, compile_seconds, run_seconds, memory_mib: -1, files, fetch: Vec::new() }
    }
}

/// As Python's `bool` has it.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn refuse(why: impl Into<String>) -> Rejection {
    Rejection::text(StatusCode::BAD_REQUEST, why)
}

struct Case {
    stdin: String,
    stdout: String,
    info: Value,
}

struct Problem {
    language: &'static dyn Language,
    /// Of `CommonOJDataset`. Empty for a problem with test code.
    cases: Vec<Case>,
    comparison: Comparison,
    tests: Option<TestCode>,
}

/// Test code that is appended to the program.
struct TestCode {
    code: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Problem {
    fn read(request: &Submission, settings: &Settings) -> Result<Self, Rejection> {
        let Some(class) = request.config_text("dataset_type") else {
            return Err(refuse(format!("no eval class found for dataset {}", request.dataset)));
        };
        if class == "CommonOJDataset" {
            return Self::common_oj(request, settings);
        }
        match AUTO_EVAL.contains(&class) {
            true => Self::auto_eval(request, settings),
            false => Err(refuse(format!("eval class {class} not found"))),
        }
    }

    fn common_oj(request: &Submission, settings: &Settings) -> Result<Self, Rejection> {
        let named = request.config_text("language");
        let named = named.ok_or_else(|| refuse("config.language field must exist for CommonOJDataset, got None"))?;
        let language = served_language(settings, "language", named)?;
        if request.config.get("custom_extract_logic").is_some_and(|logic| !logic.is_null()) {
            return Err(refuse("custom_extract_logic is not supported: it would run in the service"));
        }
        let Some(Value::Array(tests)) = provided(request, "test")? else {
            return Err(refuse("provided_data.test should be a list of cases"));
        };
        let case = |info: Value| {
            let text = |side: &str, name: &str| info[side][name].as_str().map(str::to_owned);
            let (stdin, stdout) = (text("input", "stdin")?, text("output", "stdout")?);
            Some(Case { stdin, stdout, info })
        };
        let cases = tests.into_iter().map(case).collect::<Option<Vec<_>>>();
        let cases = cases.ok_or_else(|| refuse("each case should have input.stdin and output.stdout"))?;
        let chosen = request.config.get("extra").map(|extra| &extra["judge"]).filter(|chosen| !chosen.is_null());
        let comparison = match chosen.map(|chosen| read_judge(chosen).and_then(check_text_judge)) {
            None => Comparison::by(JUDGE),
            Some(comparison) => comparison.map_err(|why| refuse(format!("config.extra.judge: {why}")))?,
        };
        if cases.is_empty() {
            return Err(refuse("provided_data.test has no case, so that every program would be accepted"));
        }
        Ok(Self { language, cases, comparison, tests: None })
    }

    fn auto_eval(request: &Submission, settings: &Settings) -> Result<Self, Rejection> {
        let labels = provided(request, "labels")?.unwrap_or_default();
        let named = labels["programming_language"].as_str().unwrap_or("None");
        let language = served_language(settings, "labels.programming_language", named)?;
        if let Some(other) = labels["execution_language"].as_str().filter(|other| !language.names().contains(other)) {
            return Err(refuse(format!("labels.execution_language {other} is not {named}")));
        }
        let of_python =
            ["append_flag", "repr_code"].into_iter().find(|name| request.flag(name) && !is_python(language));
        if let Some(name) = of_python {
            return Err(refuse(format!("config.extra.{name} writes Python, and the language is {named}")));
        }
        let test = provided(request, "test")?.unwrap_or_default();
        let Some(code) = test["code"].as_str() else {
            return Err(refuse("provided_data.test.code should be a string"));
        };
        if code.trim().is_empty() {
            return Err(refuse("provided_data.test.code is blank, so that every program would be accepted"));
        }
        let asset = match &test["asset"] {
            Value::String(text) => serde_json::from_str(text)
                .map_err(|error| refuse(format!("provided_data.test.asset is no JSON: {error}")))?,
            other => other.clone(),
        };
        let files = asset.as_object().cloned().unwrap_or_default();
        let decode = |(path, content): (String, Value)| match content.as_str().and_then(decode_base64) {
            Some(bytes) => Ok((path, bytes)),
            None => Err(refuse(format!("provided_data.test.asset: the content of `{path}` is not base64"))),
        };
        let files = files.into_iter().map(decode).collect::<Result<_, _>>()?;
        Ok(Self {
            language,
            cases: Vec::new(),
            comparison: Comparison::by(JUDGE),
            tests: Some(TestCode { code: code.to_owned(), files }),
        })
    }

    fn judge(&self, runner: &ProgramRunner<'_>, request: &Submission) -> Result<SubmitResponse, Rejection> {
        let entry = self.tests.as_ref().map_or(Entry::Script, |tests| Entry::Source(&tests.code));
        let wanted = Wanted { prompt: "", entry, continues: Continues::Prose };
        let found = match extract_in(self.language, &wanted, &request.completion) {
            Ok(found) => found,
            // No case is run.
            Err(NoAnswer { reason, .. }) => {
                let (id, extraction) = (request.id.clone(), json!({"reason": reason}));
                return Ok(SubmitResponse { id, extraction, ..SubmitResponse::default() });
            }
        };
        let extraction = json!(found.extraction);
        // In the original a block ends before the line's end.
        let code = found.text.strip_suffix('\n').unwrap_or(&found.text).to_owned();
        let response = match &self.tests {
            None => self.judge_cases(runner, request, code),
            Some(tests) => tests.judge(runner, self.language, request, code),
        }?;
        Ok(SubmitResponse { id: request.id.clone(), extraction, ..response })
    }

    fn judge_cases(
        &self,
        runner: &ProgramRunner<'_>,
        request: &Submission,
        code: String,
    ) -> Result<SubmitResponse, Rejection> {
        let (run_all, in_full) = (request.flag("run_all_cases"), request.flag("return_full_case"));
        let (mut tests, mut room) = (Vec::new(), OUTPUT_ROOM);
        for case in &self.cases {
            let mut exec_info =
                runner.run(&request.run(self.language, code.clone(), case.stdin.clone(), Vec::new()))?;
            let passed = exec_info.succeeded() && same_output(&self.comparison, &case.stdout, exec_info.stdout());
            exec_info.cut(&mut room);
            let info = if passed && !in_full { shortened(&case.info) } else { case.info.clone() };
            tests.push(TestResponse { passed, exec_info, test_info: Some(info) });
            if !passed && !run_all {
                break;
            }
        }
        let accepted = tests.iter().all(|test| test.passed);
        Ok(SubmitResponse { accepted, extracted_code: code, tests, ..SubmitResponse::default() })
    }
}

impl TestCode {
    fn judge(
        &self,
        runner: &ProgramRunner<'_>,
        language: &'static dyn Language,
        request: &Submission,
        code: String,
    ) -> Result<SubmitResponse, Rejection> {
        let code = if is_python(language) { without_entry_point(&code) } else { code };
        let mut full_code = append_test(&code, &self.code, request.flag("repr_code"));
        let flag = request.flag("append_flag").then(|| completion_flag(runner.service));
        if let Some(flag) = &flag {
            full_code += &format!("\n\nprint(\"{flag}\")");
        }
        let job = request.run(language, full_code.clone(), String::new(), self.files.clone());
        let mut exec_info = runner.run(&job)?;
        let complete = flag.is_none_or(|flag| exec_info.stdout().contains(&flag));
        let accepted = exec_info.succeeded() && complete;
        let mut room = OUTPUT_ROOM;
        exec_info.cut(&mut room);
        let tests = vec![TestResponse { passed: accepted, exec_info, test_info: None }];
        let (full_code, extra) = (Some(full_code), Some(json!({})));
        Ok(SubmitResponse { accepted, extracted_code: code, full_code, tests, extra, ..SubmitResponse::default() })
    }
}

/// The language that `field` calls by `named`.
fn served_language(settings: &Settings, field: &str, named: &str) -> Result<&'static dyn Language, Rejection> {
    settings.language(named).ok_or_else(|| {
        let served = settings.language_names().join(", ");
        refuse(format!("{field} {named} is not supported, only {served}"))
    })
}

/// A member of the data in the request, which may be its JSON text.
fn provided(request: &Submission, name: &str) -> Result<Option<Value>, Rejection> {
    let Some(Value::Object(data)) = request.config.get("provided_data") else {
        return Err(refuse("request.config.provided_data should be a dict with str -> str | int"));
    };
    match data.get(name) {
        Some(Value::String(text)) => {
            let read = serde_json::from_str(text).map(Some);
            read.map_err(|error| refuse(format!("provided_data.{name} is no JSON: {error}")))
        }
        other => Ok(other.cloned()),
    }
}

struct ProgramRunner<'a> {
    service: &'a Service,
    cancellation: &'a CancellationToken,
    request_id: &'a str,
}

impl ProgramRunner<'_> {
    fn run(&self, request: &RunRequest) -> Result<RunCodeResponse, Rejection> {
        let ran = self.service.run_job(&request.job(self.service), self.cancellation);
        let fuel_per_second = request.fuel_per_second(&self.service.settings);
        RunCodeResponse::from_run(ran, request.language, fuel_per_second, self.request_id.to_owned())
    }
}

/// A judge of texts that runs no program.
fn check_text_judge(chosen: Comparison) -> Result<Comparison, String> {
    let judge =
        judge_by_name(&chosen.judge).filter(|judge| judge.supports(OutputKind::Texts) && judge.name() != CHECKER);
    let Some(judge) = judge else { return Err(format!("judge `{}` is not for this endpoint", chosen.judge)) };
    judge.check_options(&chosen, OutputKind::Texts).map_err(|why| format!("judge `{}`: {why}", chosen.judge))?;
    Ok(chosen)
}

/// Whether the judge calls the outputs the same.
fn same_output(comparison: &Comparison, expected: &str, actual: &str) -> bool {
    /// The judge of this endpoint runs no jobs.
    struct NoJobs;
    impl Execute for NoJobs {
        fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
            Err(ExecuteError::Host("the judges of `/submit` run no jobs".to_owned()))
        }
    }
    let run = ScriptRun { task_id: JUDGE, stdin: "", expected, actual: actual.as_bytes(), comparison };
    let mut context = JudgeContext::new(&NoJobs, "", Limits::small(), 0);
    let found = judge_by_name(&comparison.judge).map(|judge| judge.compare_script(&mut context, &run));
    matches!(found, Some(Ok(JudgeFinding::Right)))
}

/// A case with its long texts cut in the middle.
fn shortened(info: &Value) -> Value {
    match info {
        Value::String(text) if text.chars().count() > SHOWN => {
            let chars: Vec<char> = text.chars().collect();
            let (half, rest) = (SHOWN / 2, chars.len() - SHOWN / 2);
            Value::String(chars[..half].iter().chain(&['.'; 3]).chain(&chars[rest..]).collect())
        }
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}

/// The program up to its entry point or its examples.
fn without_entry_point(code: &str) -> String {
    ["if __name__ == \"__main__\":", "# Example usage"].iter().fold(code.to_owned(), |code, mark| {
        code.find(mark).map_or_else(|| code.clone(), |at| code[..at].trim().to_owned())
    })
}

/// The program with its test: in the place that the test names, else before it.
fn append_test(code: &str, test: &str, as_literal: bool) -> String {
    let literal =
        |code: &str| if as_literal { veriplay_core::Value::Str(code.to_owned()).to_string() } else { code.to_owned() };
    let mut parts = test.split(INSERT);
    match (parts.next(), parts.next()) {
        (Some(before), Some(after)) => format!("{before}{}{after}", literal(code)),
        _ => {
            let code = code.split("if __name__ ==").next().unwrap_or_default();
            format!("{}\n{test}", literal(code))
        }
    }
}

/// A text printed behind the tests, another in each call: a program that ends early does not print it. As in the original it is in the
/// program's own constants, so that one which looks for it finds it.
fn completion_flag(service: &Service) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let text = format!("{} {}", service.new_request_id(), now.as_nanos());
    blake3::hash(text.as_bytes()).to_hex()[..20].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_compared_as_the_original_does() {
        for (expected, actual) in [("4", "4.0000000001\n"), ("Yes\n", "YES"), ("a \nb", "a\n b\n")] {
            assert!(same_output(&Comparison::by(JUDGE), expected, actual), "{expected:?} {actual:?}");
        }
        for (expected, actual) in [("4", "4.001"), ("a\nb", "a"), ("1 2", "1.0 2.0"), ("x", "")] {
            assert!(!same_output(&Comparison::by(JUDGE), expected, actual), "{expected:?} {actual:?}");
        }
    }

    #[test]
    fn a_test_is_put_where_it_says() {
        assert_eq!(append_test("x = 1", "assert x", false), "x = 1\nassert x");
        assert_eq!(append_test("x = 1", "a\n#<INSERT>\nb", false), "a\nx = 1\nb");
        assert_eq!(append_test("x", "run(#<INSERT>)", true), "run('x')");
        assert_eq!(append_test("x\nif __name__ == '__main__':\n    y", "t", false), "x\n\nt");
    }

    #[test]
    fn entry_points_and_examples_are_left_out() {
        assert_eq!(without_entry_point("x\n\nif __name__ == \"__main__\":\n    y"), "x");
        assert_eq!(without_entry_point("x\n# Example usage\ny"), "x");
        assert_eq!(without_entry_point("x\ny"), "x\ny");
    }

    #[test]
    fn long_texts_of_a_case_are_cut_in_the_middle() {
        let info = json!({"input": {"stdin": "é".repeat(2000)}, "output": {"stdout": "short"}});
        let shown = shortened(&info);
        assert_eq!(shown["input"]["stdin"].as_str().map(|text| text.chars().count()), Some(1003));
        assert_eq!(shown["output"], info["output"]);
    }
}
