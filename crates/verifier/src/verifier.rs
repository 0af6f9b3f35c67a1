//! Judging in a program of one's own: rows of public sets, and what a model wrote about them.

use veriplay_core::{AttemptText, Dropped, Execute, LimitOverrides, Limits, ProblemRow, Verdict};

use crate::extraction::Answer;
use crate::problems::ProblemError;
use crate::runner::on_all_cores;
use crate::tasks::{JudgeConditions, LoadedTask, TaskContext, TaskOverrides};

/// Judges completions at rows of public sets, as `veriplay verify` does.
///
/// Its verdicts are a function of the row, the completion and the conditions, on any number of threads. `examples/judge_public_rows.rs` is a
/// whole program.
pub struct Verifier<'a> {
    execute: &'a dyn Execute,
    image: &'a str,
    conditions: JudgeConditions,
    limits: LimitOverrides,
}

impl<'a> Verifier<'a> {
    /// A verifier whose jobs `execute` runs in the image of this name: `sandbox.image().name()` of the one that `conditions` were made for.
    pub fn new(execute: &'a dyn Execute, image: &'a str, conditions: JudgeConditions) -> Self {
        Self { execute, image, conditions, limits: LimitOverrides::default() }
    }

    /// The same with these limits for each job: of every task, whatever its row states and its reference needs. An attempt may run a job for
    /// each case; [`JudgeConditions::early_stop`] ends it at the first that fails.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        (self.conditions.limits, self.conditions.scaled) = (limits, false);
        self.limits = LimitOverrides::from(limits);
        self
    }

    /// The task of a row, for all attempts at it.
    ///
    /// # Errors
    /// Attempts at it cannot be judged: it has no test, a judge that does not fit, or test code that asserts nothing.
    pub fn task(&self, mut row: ProblemRow) -> Result<LoadedTask, ProblemError> {
        let overrides = TaskOverrides { limits: self.limits, ..TaskOverrides::default() };
        overrides.apply(&mut row).expect("limits apply to every row");
        LoadedTask::new(row)
    }

    /// Judges a completion, out of which the program is taken, or a whole program. [`Verdict::counts`] says whether a reward may be made of it.
    ///
    /// # Errors
    /// A fault of the host: there is no verdict, and no reward. The task does not keep it, so the call may be tried again.
    pub fn judge(&self, task: &LoadedTask, attempt: AttemptText) -> Result<Verdict, Dropped> {
        let answer = match Answer::at_row(task.row(), attempt) {
            Ok(answer) => answer,
            Err(none) => return Ok(none.into_verdict()),
        };
        let mut verdict = task.judge(&TaskContext::new(self.execute, self.image, &self.conditions), &answer.program)?;
        verdict.evidence.extraction = answer.extraction.map(Box::new);
        Ok(verdict)
    }

    /// Judges attempts in order, on the threads of the current rayon pool: all cores, or those of the pool that `install`s the call.
    pub fn judge_all(&self, attempts: &[(&LoadedTask, AttemptText)]) -> Vec<Result<Verdict, Dropped>> {
        on_all_cores(attempts, |(task, attempt)| self.judge(task, attempt.clone()))
    }
}
