//! The parts of `veriplay verify`: tasks and attempts in, verdicts out in the order of the attempts.
//!
//! [`tasks`] reads the tasks, [`source`] the attempts, which [`standard_input`] keeps where they come from there, and [`faults`] reports rows that
//! are neither; [`stream`] runs [`AttemptJudge`] on all threads and restores the order; [`output`] writes the verdicts, or continues what an earlier
//! run wrote; [`summary`] counts. The command calls them. Invariant: memory is bounded by the tasks and by the window of attempts under way, not by
//! the number of attempts.

pub mod bugs;
mod faults;
mod output;
mod source;
mod standard_input;
mod stream;
mod summary;
mod tasks;
pub mod verdict_cache;

use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_core::VerdictRow;
use veriplay_verifier::TaskContext;

use crate::verdict_cache::VerdictCache;
use stream::run_in_order;
use summary::VerdictTally;

pub use output::{VerdictOutput, end_with_summary};
pub use source::{AttemptSource, PendingAttempt, ReadAttempt};
pub use standard_input::StandardInput;
pub use summary::{VerdictSummary, VerifySummary};
pub use tasks::TaskSet;

/// Judges attempts, on any number of threads. Verdicts that a repetition would give again are cached.
pub struct AttemptJudge<'a> {
    /// Where and how the jobs of all tasks run.
    pub context: TaskContext<'a>,
    /// Verdicts that an earlier run has made.
    pub cache: &'a VerdictCache,
    /// Whether to begin no further attempt. Once true, it stays so.
    pub stop: fn() -> bool,
}

/// A row, and where its verdict is from.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedAttempt {
    /// The row, as `verify --out` writes it.
    pub row: VerdictRow,
    /// Whether the verdict was in the cache. The row is the same either way.
    pub cached: bool,
}

/// Seed of every job of an evaluation: `verify` and the suites have the same, so that their verdicts are.
pub const JUDGE_SEED: u64 = 0;

/// What is said at the first signal.
pub const STOPPING: &str =
    "stopping after the attempts under way, with their verdicts written; press Ctrl-C again to stop at once";

/// The failure of a run that a signal has stopped.
pub fn stopped(out: Option<&Path>) -> Failure {
    let hint = match out {
        Some(_) => "the same command continues behind the verdicts that the file has",
        None => "the same command begins anew; with `--out FILE` it continues behind the verdicts that the file has",
    };
    Failure::message(ExitCode::Interrupted, "stopped by a signal before the last attempt").hint(hint)
}

/// Attempts per thread that are under way or wait for an earlier one: this many short ones finish while a long one runs.
const WINDOW: usize = 64;

impl AttemptJudge<'_> {
    /// Judges all attempts of `source` on `jobs` threads, behind those that `output` has from an earlier run. `each` is called after every
    /// verdict. Every row of the file has one, in its place, also where there is nothing to judge or no task to judge it by. An attempt that
    /// is not begun when it stops has none, and none behind it has one.
    pub fn judge_all(
        &self,
        source: &mut AttemptSource<'_>,
        output: &mut VerdictOutput,
        jobs: usize,
        mut each: impl FnMut() + Send,
    ) -> Result<VerifySummary, Failure> {
        let (mut tally, mut cached) = (VerdictTally::default(), 0);
        let resumed = output.resume(source, |row| {
            tally.add(row);
            each();
        })?;
        tracing::info!(tasks = source.tasks.count(), at_once = jobs, resumed, "judging attempts");
        let (mut gap, mut cut) = (false, false);
        let write = |judged: Option<JudgedAttempt>| {
            gap |= judged.is_none();
            let Some(judged) = judged.filter(|_| !gap) else { return Ok(()) };
            tally.add(&judged.row);
            cached += u64::from(judged.cached);
            each();
            output.write(&judged.row)
        };
        let work = source.by_ref().take_while(|_| {
            cut = (self.stop)();
            !cut
        });
        let judge = |attempt: ReadAttempt| (!(self.stop)()).then(|| self.judge(attempt));
        let ran = run_in_order(work, jobs, jobs.saturating_mul(WINDOW), judge, write);
        let finished = output.finish();
        self.cache.flush();
        source.report_counts();
        ran.and(finished)?;
        let stopped = gap || cut;
        tracing::info!(cached, stopped, "attempts judged");
        let verdicts = tally.summary(source.tasks.count(), source.tasks.bad + source.bad, source.unknown);
        Ok(VerifySummary { verdicts, resumed, cached, stopped })
    }

    /// Judges one attempt, unless it has its verdict.
    pub fn judge(&self, attempt: ReadAttempt) -> JudgedAttempt {
        match attempt {
            Ok(attempt) => self.judge_at_task(attempt),
            Err(row) => JudgedAttempt { row: *row, cached: false },
        }
    }

    /// Judges an attempt at a task.
    pub fn judge_at_task(&self, attempt: PendingAttempt) -> JudgedAttempt {
        if let Some(verdict) = self.cache.get(&attempt.judged) {
            return JudgedAttempt { row: attempt.into_row(Ok(verdict)), cached: true };
        }
        let verdict = attempt.task.judge(&self.context, &attempt.program);
        // An attempt that met the deadline might get another verdict next time. The status does not show it: it is that of the first case
        // that did not pass, and the deadline may have cut off a later one.
        if let Ok(verdict) = &verdict
            && !verdict.evidence.met_deadline
        {
            self.cache.put(&attempt.judged, verdict);
        }
        JudgedAttempt { row: attempt.into_row(verdict), cached: false }
    }
}
