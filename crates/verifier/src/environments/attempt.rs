//! Judges whether an executor did what a task asks, by one program (`veriplay verify`) or by the calls of an episode.

use veriplay_core::{
    Dropped, Environment, EnvironmentChecks, Execute, Limits, REFERENCE_RULE, Status, ToolCall, Value, Verdict,
};

use super::jobs::{self, CodeRequest, Compiled};
use crate::runner::{Decision, Runner};

const VERIFY: &str = "verify";
/// The rule of rejections where the verification function did not complete.
const UNVERIFIED: &str = "verifier_failed";
/// The rule of verdicts on calls that could not be replayed.
const NOT_REPLAYED: &str = "replay";

/// The calls and the answer of an episode.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeRequest<'a> {
    /// The environment of the episode.
    pub environment: &'a Environment,
    /// The task's verification function.
    pub verify: &'a str,
    /// All calls of its turns, in order.
    pub calls: &'a [ToolCall],
    /// The last answer.
    pub answer: Option<&'a Value>,
    /// The name of the image.
    pub image: &'a str,
    /// Limits of every job.
    pub limits: Limits,
    /// Seeds the verification function's job.
    pub seed: u64,
}

/// Judges an episode: Accepted, WrongAnswer, or the failure of its replay.
pub fn judge_episode(execute: &dyn Execute, request: &EpisodeRequest<'_>) -> Result<Verdict, Dropped> {
    let mut runner = Runner::new(execute);
    let decision = match jobs::compile_environment(&mut runner, request.environment, request.image, request.limits)? {
        Ok(compiled) => judge_calls(&mut runner, &compiled, request)?,
        Err((status, detail)) => Decision::by_rule(status, NOT_REPLAYED, detail),
    };
    Ok(decision.into_verdict(runner.evidence))
}

/// Judges one program. A refusal holds only where the task accepts its own solution: else its verification function is broken or wrong, and the
/// program may be right.
pub(crate) fn judge_code(
    runner: &mut Runner<'_>,
    checks: &EnvironmentChecks,
    code: &CodeRequest<'_>,
) -> Result<Decision, Dropped> {
    let CodeRequest { environment, image, limits, .. } = *code;
    let compiled = match jobs::compile_environment(runner, environment, image, limits)? {
        Ok(compiled) => compiled,
        Err((status, detail)) => return Ok(Decision::by_rule(status, NOT_REPLAYED, detail)),
    };
    let decision = judge_run(runner, &compiled, &checks.verify, code)?;
    let refused = decision.status == Status::WrongAnswer;
    let Some(solution) = checks.solution.as_deref().filter(|_| refused) else { return Ok(decision) };
    let own = judge_run(runner, &compiled, &checks.verify, &CodeRequest { code: solution, ..*code })?;
    Ok(match own.status {
        Status::Accepted => decision,
        // A deadline depends on the machine, so the task is not to blame either.
        Status::DeadlineExceeded => own,
        _ => {
            let detail = format!("the task does not accept its own solution: {}", own.detail);
            Decision::by_rule(Status::Unjudgeable, REFERENCE_RULE, detail)
        }
    })
}

/// Runs one program and judges its calls and its answer.
fn judge_run(
    runner: &mut Runner<'_>,
    compiled: &Compiled<'_>,
    verify: &str,
    code: &CodeRequest<'_>,
) -> Result<Decision, Dropped> {
    let CodeRequest { environment, image, limits, seed, .. } = *code;
    let outcome = jobs::run_compiled(runner, compiled, code.history, code.code, seed)?;
    if let Some((status, detail)) = outcome.failure {
        return Ok(Decision::by_rule(status, "", detail));
    }
    let (calls, answer) = (&outcome.calls, outcome.answer.as_ref());
    judge_calls(runner, compiled, &EpisodeRequest { environment, verify, calls, answer, image, limits, seed })
}

fn judge_calls(
    runner: &mut Runner<'_>,
    compiled: &Compiled<'_>,
    request: &EpisodeRequest<'_>,
) -> Result<Decision, Dropped> {
    let EpisodeRequest { verify, calls, answer, image, limits, seed, .. } = *request;
    let (before, after) = match jobs::replay_calls(runner, compiled, calls)? {
        Ok(states) => states,
        Err((status, detail)) => return Ok(Decision::by_rule(status, NOT_REPLAYED, detail)),
    };
    let answer = answer.cloned().unwrap_or(Value::None);
    Ok(match run_verification(runner, verify, [before, after, answer], image, limits, seed)? {
        Ok(true) => Decision::on_one(Status::Accepted, ""),
        Ok(false) => Decision::by_rule(Status::WrongAnswer, "", "the verification function says no"),
        // A deadline depends on the machine, so the code is not to blame.
        Err((Status::DeadlineExceeded, detail)) => Decision::by_rule(Status::DeadlineExceeded, UNVERIFIED, detail),
        Err((_, detail)) => Decision::by_rule(Status::WrongAnswer, UNVERIFIED, detail),
    })
}

/// Runs the verification function on `[before, after, answer]`, in an instance of its own.
pub(super) fn run_verification(
    runner: &mut Runner<'_>,
    verify: &str,
    arguments: [Value; 3],
    image: &str,
    limits: Limits,
    seed: u64,
) -> Result<Result<bool, (Status, String)>, Dropped> {
    let outcome = runner.run(&jobs::call_job(image, verify, VERIFY, arguments.to_vec(), limits, seed))?;
    Ok(jobs::returned_value(&outcome, &limits).and_then(|value| match value {
        Value::Bool(said) => Ok(said),
        other => Err((Status::RuntimeError, format!("the verification function returned a {}", other.type_name()))),
    }))
}
