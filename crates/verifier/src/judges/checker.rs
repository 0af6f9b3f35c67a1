//! Judge `checker`: a special-judge program of the problem's own decides.
//!
//! # What it decides
//! The problem's checker decides. Its source defines `check(input, expected, actual)`; it is called with plain
//! values: the tuple of arguments, the expected and the returned value, or three texts (standard input, expected and
//! actual output). `True` is right, `False` is wrong.
//!
//! # Why
//! Some questions have many right answers: any topological order, any shortest path. It runs in an instance of its own,
//! behind the program's job: it sees the expected value, the program never does and shares nothing with it.
//!
//! # How it can be gamed
//! Only by a value that the checker itself takes for right. A checker that raises, returns anything but a bool or meets a
//! limit has not judged. Where it judges the expected answer in the actual one's place, the attempt has broken it, and is
//! wrong. Where it does not, the task is broken: its attempts are unjudgeable, by the rule `reference`, and count for nothing.
//!
//! # Example
//! `def check(input, expected, actual): return sorted(actual) == sorted(expected)` takes `[2, 1]` for `[1, 2]` and refuses
//! `[1]`; for `None` it raises, and the attempt is wrong.

use veriplay_core::{Comparison, Dropped, Job, Value};

use super::{Judge, JudgeContext, JudgeFinding, OutputKind, ReturnedCall, ScriptRun};
use crate::runner::{NoValue, configure_job, decode_call, job_failure};

/// What a checker defines.
const FUNCTION: &str = "check";

/// The judge.
pub(super) struct Checker;

impl Judge for Checker {
    fn name(&self) -> &'static str {
        "checker"
    }

    fn supports(&self, _kind: OutputKind) -> bool {
        true
    }

    fn check_options(&self, comparison: &Comparison) -> Result<(), &'static str> {
        match &comparison.checker {
            Some(source) if !source.trim().is_empty() => Ok(()),
            _ => Err("it needs the source of a checker"),
        }
    }

    fn compare_call(&self, context: &mut JudgeContext<'_>, call: &ReturnedCall<'_>) -> Result<JudgeFinding, Dropped> {
        let Some(actual) = call.actual else {
            return Ok(call.compare_by(|_, _| false));
        };
        let arguments = vec![Value::Tuple(call.input.to_vec()), call.expected.clone(), actual.clone()];
        Ok(match decided(context, call.comparison, arguments)? {
            Ok(right) => call.compare_by(|_, _| right),
            Err(why) => JudgeFinding::Undecided(why),
        })
    }

    fn compare_script(&self, context: &mut JudgeContext<'_>, run: &ScriptRun<'_>) -> Result<JudgeFinding, Dropped> {
        let Ok(actual) = std::str::from_utf8(run.actual) else {
            return Ok(run.compare_by(|_, _| false));
        };
        let arguments = vec![Value::str(run.stdin), Value::str(run.expected), Value::str(actual)];
        Ok(match decided(context, run.comparison, arguments)? {
            Ok(right) => run.compare_by(|_, _| right),
            Err(why) => JudgeFinding::Undecided(why),
        })
    }
}

/// What the checker says, or why it does not decide even about the expected answer. One that does decide about that is broken by the
/// attempt, which is then wrong: else a program could be left out instead of refused.
fn decided(
    context: &mut JudgeContext<'_>,
    comparison: &Comparison,
    arguments: Vec<Value>,
) -> Result<Result<bool, String>, Dropped> {
    let expected = vec![arguments[0].clone(), arguments[1].clone(), arguments[1].clone()];
    match verdict(context, comparison, arguments)? {
        Err(undecided) => Ok(verdict(context, comparison, expected)?.map(|_| false).map_err(|_| undecided)),
        right => Ok(right),
    }
}

/// Runs the checker once.
fn verdict(
    context: &mut JudgeContext<'_>,
    comparison: &Comparison,
    arguments: Vec<Value>,
) -> Result<Result<bool, String>, Dropped> {
    let source = comparison.checker.as_deref().unwrap_or_default();
    let JudgeContext { image, limits, seed, .. } = *context;
    let outcome = context.runner.run(&configure_job(image, limits, seed, Job::call(source, FUNCTION, arguments)))?;
    let returned = match (job_failure(&outcome), outcome.calls.as_slice()) {
        (Some((_, detail)), _) => Err(detail),
        (None, [call]) => decode_call(call, &context.limits).map_err(NoValue::text),
        (None, calls) => Err(format!("{} results for one call", calls.len())),
    };
    Ok(match returned {
        Ok(Value::Bool(right)) => Ok(right),
        Ok(other) => Err(format!("it returned a value of type `{}`, which is no bool of Python's", other.type_name())),
        Err(detail) => Err(detail),
    })
}
