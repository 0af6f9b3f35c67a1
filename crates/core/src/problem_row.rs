//! Rows of sets of problems: some hold the values that they expect, and others the reference program that returns them.

use serde::Serialize;

use crate::{CallCase, CallChecks, Checks, Comparison, LimitOverrides, Problem, Value};

/// A row of a set of problems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ProblemRow {
    /// A problem that can be judged as it is.
    Ready(Problem),
    /// A problem whose expected values must be executed first.
    Unexecuted(UnexecutedProblem),
}

impl ProblemRow {
    /// Its name in the set.
    pub fn task_id(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.task_id,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.task_id,
        }
    }

    /// The row under another name, if there is one.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        let task_id = match &mut self {
            ProblemRow::Ready(problem) => &mut problem.task_id,
            ProblemRow::Unexecuted(unexecuted) => &mut unexecuted.task_id,
        };
        name.into_iter().for_each(|name| *task_id = name);
        self
    }

    /// Gives it limits in place of those that it has.
    pub fn state_limits(&mut self, stated: LimitOverrides) {
        let limits = match self {
            ProblemRow::Ready(problem) => &mut problem.limits,
            ProblemRow::Unexecuted(unexecuted) => &mut unexecuted.limits,
        };
        *limits = stated.or(*limits);
    }

    /// The limits that it states.
    #[must_use]
    pub const fn limits(&self) -> LimitOverrides {
        match self {
            ProblemRow::Ready(problem) => problem.limits,
            ProblemRow::Unexecuted(unexecuted) => unexecuted.limits,
        }
    }

    /// The source that precedes a completion.
    pub fn prompt(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.prompt,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.prompt,
        }
    }

    /// How outputs are compared, where a judge compares them.
    pub fn comparison_mut(&mut self) -> Option<&mut Comparison> {
        match self {
            ProblemRow::Unexecuted(unexecuted) => Some(&mut unexecuted.checks.comparison),
            ProblemRow::Ready(problem) => match &mut problem.checks {
                Checks::Calls(checks) => Some(&mut checks.comparison),
                Checks::Stdio(checks) => Some(&mut checks.comparison),
                Checks::Tests(_) | Checks::Prediction(_) | Checks::Environment(_) => None,
            },
        }
    }

    /// Whether an attempt predicts a value instead of being a program.
    pub const fn is_prediction(&self) -> bool {
        matches!(self, ProblemRow::Ready(Problem { checks: Checks::Prediction(_), .. }))
    }
}

/// A problem whose expected values are what its reference program returns, as EvalPlus publishes them. The caller runs `checks.function` of
/// `reference` on `inputs`, in one state, and completes it with [`UnexecutedProblem::with_expected`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnexecutedProblem {
    /// As [`Problem::task_id`].
    pub task_id: String,
    /// As [`Problem::prompt`].
    pub prompt: String,
    /// The checks, without their cases.
    pub checks: CallChecks,
    /// Argument lists, in the order of the cases.
    pub inputs: Vec<Vec<Value>>,
    /// Source of the reference program.
    pub reference: String,
    /// How a call of the reference gives the expected value.
    pub expects: ExpectedResult,
    /// As [`Problem::limits`].
    pub limits: LimitOverrides,
}

/// How a call of the reference gives the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ExpectedResult {
    /// The returned value is expected.
    Value,
    /// The expected value is whether it returned anything but `None`. The reference may return objects that are no plain values.
    NotNone,
}

/// The number of expected values differs from the number of inputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the reference of `{task_id}` gave {found} values for {wanted} inputs")]
pub struct WrongValueCount {
    /// The problem.
    pub task_id: String,
    /// Number of values.
    pub found: usize,
    /// Number of inputs.
    pub wanted: usize,
}

impl UnexecutedProblem {
    /// Completes the problem with the expected value of each input.
    ///
    /// # Errors
    /// `expected` has another length than the inputs.
    pub fn with_expected(&self, expected: Vec<Value>) -> Result<Problem, WrongValueCount> {
        let (found, wanted) = (expected.len(), self.inputs.len());
        if found != wanted {
            return Err(WrongValueCount { task_id: self.task_id.clone(), found, wanted });
        }
        let cases = self.inputs.iter().cloned().zip(expected).map(|(input, expected)| CallCase::new(input, expected));
        let checks = Checks::Calls(CallChecks { cases: cases.collect(), ..self.checks.clone() });
        Ok(Problem { prompt: self.prompt.clone(), limits: self.limits, ..Problem::new(&self.task_id, checks) })
    }
}
