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
//! limit has not judged: that attempt is Dropped, with the checker named, and never right or wrong. So a checker should
//! return False for whatever it cannot read; one that raises lets an attempt out of a failing verdict, though into none.
//!
//! # Example
//! `def check(input, expected, actual): return sorted(actual) == sorted(expected)` takes `[2, 1]` for `[1, 2]` and refuses
//! `[1]`; for `None` it raises, and the attempt is Dropped.

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
        let right = decided(context, call.task_id, call.comparison, arguments)?;
        Ok(call.compare_by(|_, _| right))
    }

    fn compare_script(&self, context: &mut JudgeContext<'_>, run: &ScriptRun<'_>) -> Result<JudgeFinding, Dropped> {
        let Ok(actual) = std::str::from_utf8(run.actual) else {
            return Ok(run.compare_by(|_, _| false));
        };
        let arguments = vec![Value::str(run.stdin), Value::str(run.expected), Value::str(actual)];
        let right = decided(context, run.task_id, run.comparison, arguments)?;
        Ok(run.compare_by(|_, _| right))
    }
}

/// What the checker says. One that decides about the expected answer and not about the attempt's is broken by the attempt,
/// which is then wrong: else a program could have itself dropped instead of refused.
fn decided(
    context: &mut JudgeContext<'_>,
    task_id: &str,
    comparison: &Comparison,
    arguments: Vec<Value>,
) -> Result<bool, Dropped> {
    let expected = vec![arguments[0].clone(), arguments[1].clone(), arguments[1].clone()];
    verdict(context, task_id, comparison, arguments).or_else(|dropped| {
        let works = verdict(context, task_id, comparison, expected).is_ok();
        if works { Ok(false) } else { Err(dropped) }
    })
}

/// Runs the checker once.
fn verdict(
    context: &mut JudgeContext<'_>,
    task_id: &str,
    comparison: &Comparison,
    arguments: Vec<Value>,
) -> Result<bool, Dropped> {
    let undecided = |what: String| Dropped { why: format!("the checker of `{task_id}` did not decide: {what}") };
    let source = comparison.checker.as_deref().ok_or_else(|| undecided("there is none".to_owned()))?;
    let JudgeContext { image, limits, seed, .. } = *context;
    let outcome = context.runner.run(&configure_job(image, limits, seed, Job::call(source, FUNCTION, arguments)))?;
    if let Some((_, detail)) = job_failure(&outcome) {
        return Err(undecided(detail));
    }
    let [call] = outcome.calls.as_slice() else {
        return Err(undecided(format!("{} results for one call", outcome.calls.len())));
    };
    match decode_call(call, &context.limits).map_err(NoValue::text) {
        Ok(Value::Bool(right)) => Ok(right),
        Ok(other) => Err(undecided(format!("it returned a {} instead of a bool", other.type_name()))),
        Err(detail) => Err(undecided(detail)),
    }
}
