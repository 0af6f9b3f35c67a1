//! A problem whose file holds a reference program instead of expected values. EvalPlus publishes so.

use serde::Serialize;
use veriplay_core::{CallCase, CallChecks, Checks, Limits, Problem, Value};

/// A problem whose expected values are what its reference returns. Whoever can run programs calls `checks.function` of
/// `reference` on `inputs`, in one state, and makes it a problem with [`Unexecuted::with_expected`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unexecuted {
    /// As [`Problem::task_id`].
    pub task_id: String,
    /// As [`Problem::prompt`].
    pub prompt: String,
    /// The checks, without their cases.
    pub checks: CallChecks,
    /// Argument lists, in the order of the cases.
    pub inputs: Vec<Vec<Value>>,
    /// Source of the whole program that defines what is right.
    pub reference: String,
    /// What of a call of the reference is the expected value.
    pub expects: Expects,
    /// As [`Problem::limits`].
    pub limits: Option<Limits>,
}

/// What of a call of the reference is the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Expects {
    /// What it returned.
    Value,
    /// Whether it returned anything but `None`; the reference may return what is no plain value.
    NotNone,
}

/// Another number of expected values than of inputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the reference of `{task_id}` gave {found} values for {wanted} inputs")]
pub struct WrongCount {
    /// The problem.
    pub task_id: String,
    /// Values given.
    pub found: usize,
    /// Inputs there are.
    pub wanted: usize,
}

impl Unexecuted {
    /// The problem, with what is expected for each input.
    ///
    /// # Errors
    /// `expected` has another length than the inputs.
    pub fn with_expected(&self, expected: Vec<Value>) -> Result<Problem, WrongCount> {
        let (found, wanted) = (expected.len(), self.inputs.len());
        if found != wanted {
            return Err(WrongCount { task_id: self.task_id.clone(), found, wanted });
        }
        let cases = self.inputs.iter().cloned().zip(expected).map(|(input, expected)| CallCase { input, expected });
        Ok(Problem {
            task_id: self.task_id.clone(),
            prelude: String::new(),
            prompt: self.prompt.clone(),
            checks: Checks::Calls(CallChecks { cases: cases.collect(), ..self.checks.clone() }),
            limits: self.limits,
        })
    }
}
