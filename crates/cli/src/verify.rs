//! The parts of `veriplay verify`: tasks and attempts in, verdicts out in the order of the attempts.
//!
//! [`tasks`] reads the tasks, [`source`] the attempts; [`stream`] runs [`AttemptJudge`] on all threads and restores the order; [`output`]
//! writes the verdicts, or continues what an earlier run wrote; [`summary`] counts. The command calls them. Invariant: memory is bounded by
//! the tasks and by the window of attempts under way, not by the number of attempts.

mod assemble;
pub(crate) mod bugs;
mod output;
mod reference;
mod scaled_limits;
mod source;
mod stream;
mod summary;
mod tasks;

use veriplay_core::{Dropped, Verdict, VerdictRow};
use veriplay_verifier::{ProblemRequest, judge_program};

use crate::verdict_cache::VerdictCache;
use reference::ProblemError;

pub(crate) use output::VerdictOutput;
pub(crate) use reference::JudgeContext;
pub(crate) use source::{AttemptSource, JudgeConditions, PendingAttempt};
pub(crate) use stream::run_in_order;
pub(crate) use summary::{RunCounts, VerdictTally, VerifySummary};
pub(crate) use tasks::{LoadedTask, TaskOverrides, TaskSet, check_row};

/// Judges attempts, on any number of threads. Verdicts that a repetition would give again are cached.
pub(crate) struct AttemptJudge<'a> {
    pub(crate) context: JudgeContext<'a>,
    pub(crate) cache: &'a VerdictCache,
}

/// A row, and where its verdict is from.
pub(crate) struct JudgedAttempt {
    pub(crate) row: VerdictRow,
    /// Whether the verdict was in the cache. The row is the same either way.
    pub(crate) cached: bool,
}

impl AttemptJudge<'_> {
    /// Judges one attempt.
    pub(crate) fn judge(&self, attempt: PendingAttempt) -> JudgedAttempt {
        if let Some(verdict) = self.cache.get(&attempt.judged) {
            return JudgedAttempt { row: attempt.into_row(Ok(verdict)), cached: true };
        }
        let verdict = self.run_judge(&attempt);
        // An attempt that met the deadline might get another verdict next time. The status does not show it: it is that of the first case
        // that did not pass, and the deadline may have cut off a later one.
        if let Ok(verdict) = &verdict
            && !verdict.evidence.met_deadline
        {
            self.cache.put(&attempt.judged, verdict);
        }
        JudgedAttempt { row: attempt.into_row(verdict), cached: false }
    }

    fn run_judge(&self, attempt: &PendingAttempt) -> Result<Verdict, Dropped> {
        // A reference that met the deadline is a fault of the host: all its attempts are dropped, and nothing is cached.
        let problem = match attempt.task.problem(&self.context) {
            Ok(problem) => problem,
            Err(ProblemError::Task(verdict)) => return Ok(*verdict),
            Err(ProblemError::Host(dropped)) => return Err(dropped),
        };
        let JudgeContext { execute, image, limits, seed, early_stop, .. } = self.context;
        judge_program(execute, &ProblemRequest { problem, program: &attempt.program, image, limits, seed, early_stop })
    }
}
