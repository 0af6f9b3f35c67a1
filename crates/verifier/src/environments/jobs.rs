//! The jobs of an environment: runs of code with the environment as callee, replays of calls, and descriptions.

use std::borrow::Cow;

use veriplay_core::{
    CallResult, Callee, Dropped, Environment, Evidence, Execute, Job, Limits, Outcome, Status, ToolCall, Value,
};
use veriplay_image_python::programs::environments::{CODE, COMPILER, REPLAY, RUN, TOOL_ENV};

use crate::plain::plain;
use crate::repository::tuple;
use crate::runner::{self, Runner, decode_call, job_failure};

/// Seeds every instance of an environment, so that tools that draw would draw the same in a replay.
const SEED: u64 = 0;

/// Why something did not complete.
pub(super) type Failure = (Status, String);

/// Code to run in an environment.
#[derive(Debug, Clone, Copy)]
pub struct CodeRequest<'a> {
    /// The environment.
    pub environment: &'a Environment,
    /// Earlier calls of the same episode. The environment starts in the state that they leave.
    pub history: &'a [ToolCall],
    /// A whole program, with the tools and `answer` as functions.
    pub code: &'a str,
    /// The name of the image.
    pub image: &'a str,
    /// Limits of every job.
    pub limits: Limits,
    /// Seeds the code's job.
    pub seed: u64,
}

/// The outcome of code in an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeOutcome {
    /// Why it did not complete, if it did not.
    pub failure: Option<(Status, String)>,
    /// Its calls of tools, in order. Empty when its job was stopped: the job then reports nothing, and the state is unchanged.
    pub calls: Vec<ToolCall>,
    /// The last answer, if any.
    pub answer: Option<Value>,
    /// What it printed.
    pub stdout: String,
    /// Whether `stdout` was cut at the limit.
    pub truncated: bool,
    /// The jobs and their cost.
    pub evidence: Evidence,
}

/// The description of an environment, for prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentDescription {
    /// Its documentation.
    pub text: String,
    /// Its tools.
    pub tools: Vec<ToolDescription>,
    /// The state before any call. Challengers, whose verification functions read states, are told its layout.
    pub initial: Value,
}

/// The description of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// Name, parameters and types.
    pub signature: String,
    /// Its documentation.
    pub documentation: String,
}

/// Runs code in an environment. A pure function of the request and the image.
pub fn run_code(execute: &dyn Execute, request: &CodeRequest<'_>) -> Result<CodeOutcome, Dropped> {
    let mut runner = Runner::new(execute);
    let outcome = match compile_environment(&mut runner, request.environment, request.image, request.limits)? {
        Ok(compiled) => run_compiled(&mut runner, &compiled, request.history, request.code, request.seed)?,
        Err(failure) => CodeOutcome::without_report(failure),
    };
    Ok(CodeOutcome { evidence: runner.evidence, ..outcome })
}

impl CodeOutcome {
    fn without_report(failure: Failure) -> Self {
        let (calls, stdout, evidence) = (Vec::new(), String::new(), Evidence::default());
        Self { failure: Some(failure), calls, answer: None, stdout, truncated: false, evidence }
    }
}

/// The sources as bytecode of the image's interpreter.
pub(super) struct Compiled<'a> {
    image: &'a str,
    limits: Limits,
    /// The bytecode of the tool server and of the environment.
    opened: Value,
    /// The same, compressed for the text of a program, where each character costs more fuel than decompression does.
    packed: Value,
    runner: Value,
}

/// Compiles an environment, in a job without untrusted input that is equal for equal environments.
pub(super) fn compile_environment<'a>(
    runner: &mut Runner<'_>,
    environment: &Environment,
    image: &'a str,
    limits: Limits,
) -> Result<Result<Compiled<'a>, Failure>, Dropped> {
    let sources = [TOOL_ENV, environment.source.as_str(), CODE].map(Value::str).to_vec();
    let outcome = runner.run(&call_job(image, COMPILER, "compiled", sources, limits, SEED))?;
    Ok(returned_value(&outcome, &limits).and_then(|value| match tuple(&value) {
        Some([opened @ Value::Bytes(_), packed @ Value::Str(_), runner @ Value::Bytes(_)]) => {
            let [opened, packed, runner] = [opened, packed, runner].map(Value::clone);
            Ok(Compiled { image, limits, opened, packed, runner })
        }
        _ => Err((Status::RuntimeError, format!("the environment was compiled to a {}", value.type_name()))),
    }))
}

/// As [`run_code`] in a compiled environment. The evidence is in `runner`.
pub(super) fn run_compiled(
    runner: &mut Runner<'_>,
    compiled: &Compiled<'_>,
    history: &[ToolCall],
    code: &str,
    seed: u64,
) -> Result<CodeOutcome, Dropped> {
    let Compiled { image, limits, .. } = *compiled;
    let served = "call, tools, _, _ =";
    let program = format!("{}del _, _open\n", environment_program(compiled, history, served));
    let arguments = vec![compiled.runner.clone(), Value::str(code)];
    let callee = Some(Callee { program, seed: SEED, ..Callee::default() });
    let outcome = runner.run(&Job { callee, ..call_job(image, RUN, "run", arguments, limits, seed) })?;
    let reported = parse_report(&outcome, &limits).unwrap_or_else(CodeOutcome::without_report);
    let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
    Ok(CodeOutcome { stdout, truncated: outcome.truncated, ..reported })
}

/// The states before any call and after the calls `made`. `Err` inside says why the replay did not complete.
pub(super) fn replay_calls(
    runner: &mut Runner<'_>,
    compiled: &Compiled<'_>,
    made: &[ToolCall],
) -> Result<Result<(Value, Value), Failure>, Dropped> {
    let Compiled { image, limits, .. } = *compiled;
    let arguments = vec![compiled.opened.clone(), history_value(made)];
    let outcome = runner.run(&call_job(image, REPLAY, "replay", arguments, limits, SEED))?;
    Ok(returned_value(&outcome, &limits).and_then(|value| match tuple(&value) {
        Some([before, after]) => Ok((before.clone(), after.clone())),
        _ => Err((Status::RuntimeError, format!("the environment gave a {}", value.type_name()))),
    }))
}

/// Why an environment has no description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// The host failed.
    #[error(transparent)]
    Host(#[from] Dropped),
    /// Its module does not do what an environment has to.
    #[error("environment `{name}` is invalid: {detail}")]
    Invalid {
        /// Its name.
        name: String,
        /// What it did instead.
        detail: String,
    },
}

/// Describes an environment.
pub fn describe_environment(
    execute: &dyn Execute,
    environment: &Environment,
    image: &str,
    limits: Limits,
) -> Result<EnvironmentDescription, DescribeError> {
    let mut runner = Runner::new(execute);
    let invalid = |(_, detail): Failure| DescribeError::Invalid { name: environment.name.clone(), detail };
    let compiled = compile_environment(&mut runner, environment, image, limits)?.map_err(invalid)?;
    let program = environment_program(&compiled, &[], "_, tools, _, about =");
    let mut ask = |function: &str| -> Result<Value, DescribeError> {
        let outcome = runner.run(&call_job(image, &program, function, Vec::new(), limits, SEED))?;
        returned_value(&outcome, &limits).map_err(invalid)
    };
    let (text, tools) = (ask("about")?, ask("tools")?);
    let none = || invalid((Status::RuntimeError, "it does not say what it is and which tools it has".to_owned()));
    let (Value::Str(text), Value::List(rows)) = (text, tools) else { return Err(none()) };
    let tools = rows.iter().map(parse_tool).collect::<Option<_>>().ok_or_else(none)?;
    let (initial, _) = replay_calls(&mut runner, &compiled, &[])?.map_err(invalid)?;
    Ok(EnvironmentDescription { text, tools, initial })
}

fn parse_tool(row: &Value) -> Option<ToolDescription> {
    let [Value::Str(name), Value::Str(signature), Value::Str(documentation)] = tuple(row)? else { return None };
    Some(ToolDescription { name: name.clone(), signature: signature.clone(), documentation: documentation.clone() })
}

/// A job with one call of `function`.
pub(super) fn call_job(
    image: &str,
    program: &str,
    function: &str,
    arguments: Vec<Value>,
    limits: Limits,
    seed: u64,
) -> Job {
    runner::configure_job(image, limits, seed, Job::call(program, function, arguments))
}

/// A program that serves calls of tools on an environment in the state after `history`, which is a literal in it.
fn environment_program(compiled: &Compiled<'_>, history: &[ToolCall], names: &str) -> String {
    let (packed, history) = (&compiled.packed, history_value(history));
    // NaN is the only value without a literal.
    format!(
        "import binascii, marshal, zlib\nnan = float('nan')\n\
         _tool_env, _environment = marshal.loads(zlib.decompress(binascii.a2b_base64({packed:#})))\nexec(_tool_env)\n\
         {names} _open(_environment, {history:#})\ndel nan, binascii, marshal, zlib, _tool_env, _environment\n"
    )
}

fn history_value(made: &[ToolCall]) -> Value {
    Value::List(made.iter().map(call_value).collect())
}

fn call_value(call: &ToolCall) -> Value {
    let keywords = call.keywords.iter().map(|(name, value)| (Value::str(name.as_str()), value.clone())).collect();
    Value::Tuple(vec![Value::str(call.name.as_str()), Value::List(call.arguments.clone()), Value::Dict(keywords)])
}

/// Parses the report of code on its own run, which is untrusted.
fn parse_report(outcome: &Outcome, limits: &Limits) -> Result<CodeOutcome, Failure> {
    let value = returned_value(outcome, limits)?;
    let malformed = || (Status::RuntimeError, "the code reports no calls and answer".to_owned());
    let Value::Tuple(parts) = value else { return Err(malformed()) };
    let Ok([Value::List(rows), answer, error]) = <[Value; 3]>::try_from(parts) else { return Err(malformed()) };
    let answer = match answer {
        Value::None => None,
        Value::Tuple(mut given) if given.len() == 1 => given.pop(),
        _ => return Err(malformed()),
    };
    let answer = answer.map(|answer| plain_value(&answer, "the answer")).transpose()?;
    let failure = match error {
        Value::None => None,
        Value::Tuple(parts) => Some(parse_failure(parts).ok_or_else(malformed)?),
        _ => return Err(malformed()),
    };
    let mut calls = rows.into_iter().map(parse_call).collect::<Option<Vec<ToolCall>>>().ok_or_else(malformed)?;
    for call in &mut calls {
        let arguments = call.arguments.iter_mut().chain(call.keywords.iter_mut().map(|(_, value)| value));
        for argument in arguments {
            *argument = plain_value(argument, "an argument of a tool")?;
        }
    }
    let (stdout, evidence) = (String::new(), Evidence::default());
    Ok(CodeOutcome { failure, calls, answer, stdout, truncated: false, evidence })
}

/// A value as the code's own instance reports it, for the environment and the verification function.
fn plain_value(value: &Value, what: &str) -> Result<Value, Failure> {
    let refused = |object| (Status::RuntimeError, format!("{what} is or has {object}; plain values are taken"));
    plain(value).map(Cow::into_owned).map_err(refused)
}

/// The phase in which the code ended, and text for people. What code says of itself changes nothing but the name of a failure.
fn parse_failure(parts: Vec<Value>) -> Option<Failure> {
    let [Value::Str(phase), Value::Str(text)] = <[Value; 2]>::try_from(parts).ok()? else { return None };
    let status = if phase == "compile" { Status::CompileError } else { Status::RuntimeError };
    Some((status, text))
}

fn parse_call(row: Value) -> Option<ToolCall> {
    let Value::Tuple(parts) = row else { return None };
    let [Value::Str(name), Value::List(arguments), Value::Dict(pairs)] = <[Value; 3]>::try_from(parts).ok()? else {
        return None;
    };
    let keyword = |(key, value)| if let Value::Str(key) = key { Some((key, value)) } else { None };
    Some(ToolCall { name, arguments, keywords: pairs.into_iter().map(keyword).collect::<Option<_>>()? })
}

/// The value of a job's only call. A failure of the callee comes first, because it causes that of the job.
pub(super) fn returned_value(outcome: &Outcome, limits: &Limits) -> Result<Value, Failure> {
    let ended = outcome.callee.as_deref().and_then(job_failure).or_else(|| job_failure(outcome));
    if let Some(ended) = ended {
        return Err(ended);
    }
    let none = || (Status::RuntimeError, "no result".to_owned());
    let call: &CallResult = outcome.calls.first().ok_or_else(none)?;
    decode_call(call, limits).map_err(|no_value| (Status::RuntimeError, no_value.text()))
}
