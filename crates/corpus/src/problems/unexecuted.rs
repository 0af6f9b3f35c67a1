//! A problem whose file holds a reference program instead of expected values. EvalPlus publishes so.

use veriplay_core::{CallCase, CallChecks, Checks, Comparison, Problem, Value};

/// A problem whose expected values are what its reference returns. Whoever can run programs runs [`Unexecuted::reference`] on
/// [`Unexecuted::inputs`] and makes it a problem with [`Unexecuted::with_expected`].
#[derive(Debug, Clone, PartialEq)]
pub struct Unexecuted {
    problem: Problem,
    checks: CallChecks,
    inputs: Vec<Vec<Value>>,
    reference: String,
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
    /// `task_id` asks for `function`, to be called on `inputs` in one state; `reference` is a whole program.
    pub(super) fn new(
        task_id: String,
        prompt: String,
        (function, comparison): (String, Comparison),
        inputs: Vec<Vec<Value>>,
        reference: String,
    ) -> Self {
        let checks = CallChecks { function, cases: Vec::new(), fresh: false, comparison };
        let calls = Checks::Calls(checks.clone());
        let problem = Problem { task_id, prelude: String::new(), prompt, checks: calls, limits: None };
        Self { problem, checks, inputs, reference }
    }

    /// The problem without its cases.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The function to call.
    #[must_use]
    pub fn function(&self) -> &str {
        &self.checks.function
    }

    /// Argument lists, in the order of the cases.
    #[must_use]
    pub fn inputs(&self) -> &[Vec<Value>] {
        &self.inputs
    }

    /// Source of the whole program that defines what is right.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// The problem, with what the reference returned for each input.
    ///
    /// # Errors
    /// `expected` has another length than the inputs.
    pub fn with_expected(&self, expected: Vec<Value>) -> Result<Problem, WrongCount> {
        let (found, wanted) = (expected.len(), self.inputs.len());
        if found != wanted {
            return Err(WrongCount { task_id: self.problem.task_id.clone(), found, wanted });
        }
        let cases = self.inputs.iter().cloned().zip(expected).map(|(input, expected)| CallCase { input, expected });
        let checks = CallChecks { cases: cases.collect(), ..self.checks.clone() };
        Ok(Problem { checks: Checks::Calls(checks), ..self.problem.clone() })
    }
}
