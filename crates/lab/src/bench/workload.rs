//! A real workload: the attempts of a file at the tasks of a file, judged again and again as `verify` judges them, without its cache.
//!
//! All of it is in memory before the first pass, so that a pass only judges. The first pass does not count: it also runs the tasks'
//! reference programs, whose values are kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::progress::counted;
use veriplay_core::{Digest, RowStatus, content_hash};
use veriplay_corpus::{ProblemFormat, ReadOptions};
use veriplay_eval::verdict_cache::VerdictCache;
use veriplay_eval::{AttemptJudge, AttemptSource, JUDGE_SEED, PendingAttempt, TaskSet};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{JudgeConditions, TaskContext, TaskOverrides};

use super::baselines::VERIPLAY;
use super::rounds::{MeasuredJob, Samples, ThreadSamples};
use super::worker::Round;

/// Its name among the jobs of a report.
pub const NAME: &str = "workload";

/// Where a workload comes from.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadFiles<'a> {
    /// The file that the tasks are in.
    pub tasks: &'a Path,
    /// The file of attempts at them.
    pub attempts: &'a Path,
    /// How the rows of tasks are read.
    pub format: &'static ProblemFormat,
}

/// Attempts to judge, and how.
pub struct Workload {
    conditions: JudgeConditions,
    attempts: Vec<PendingAttempt>,
    cache: VerdictCache,
}

/// What was judged.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadReport {
    /// Of the tasks, the attempts and what they are judged under: only equal ones can be compared.
    digest: Digest,
    format: &'static str,
    tasks: usize,
    attempts: usize,
    /// Rows of the attempts file that there is no task to judge by: they are no part of a pass.
    left_out: usize,
    /// Verdicts of one pass by status.
    statuses: StatusCounts,
}

type StatusCounts = BTreeMap<RowStatus, u64>;

#[derive(Default)]
struct Part {
    round: Round,
    statuses: StatusCounts,
}

impl Workload {
    /// Reads both files.
    ///
    /// # Errors
    /// They cannot be read, or no attempt can be judged.
    pub fn read(files: WorkloadFiles<'_>, sandbox: &Sandbox) -> Result<(Self, WorkloadReport), Failure> {
        let options = ReadOptions::default();
        let tasks = TaskSet::read(files.tasks, files.format, &options, &TaskOverrides::default(), None)?;
        tasks.check_images(&[sandbox.image().name()])?;
        tasks.check_checkers(&[sandbox.image().name()])?;
        let (image, limits) = (sandbox.image().digest().clone(), sandbox.image().default_limits());
        let conditions = JudgeConditions { image, limits, scaled: true, seed: JUDGE_SEED, early_stop: false };
        let mut source = AttemptSource::open(files.attempts, options.max_row_bytes, &tasks, &conditions, &[])?;
        let (attempts, left_out) = source.read_all()?;
        if attempts.is_empty() {
            let text = format!("no attempt of `{}` can be judged", files.attempts.display());
            return Err(Failure::message(ExitCode::Input, text).hint("`--tasks` names the tasks that they are for"));
        }
        let identities: Vec<_> = attempts.iter().map(PendingAttempt::identity).collect();
        let report = WorkloadReport {
            digest: content_hash(&identities),
            format: files.format.name,
            tasks: tasks.count(),
            attempts: attempts.len(),
            left_out,
            statuses: StatusCounts::new(),
        };
        Ok((Self { conditions, attempts, cache: VerdictCache::none() }, report))
    }

    /// Judges all attempts in `rounds` passes that count with each number of threads, and fills in the report. `tick` is called after each
    /// pass.
    ///
    /// # Errors
    /// Attempts were dropped through a fault of the host, or a pass gave other verdicts than the first.
    pub fn measure(
        &self,
        sandbox: &Sandbox,
        threads: &[usize],
        rounds: usize,
        report: &mut WorkloadReport,
        tick: &dyn Fn(),
    ) -> Result<MeasuredJob, Failure> {
        let context = TaskContext::new(sandbox, sandbox.image().name(), &self.conditions);
        let judge = AttemptJudge { context, others: &[], cache: &self.cache, stop: || false };
        let mut table: Vec<(usize, Samples)> = threads.iter().map(|&threads| (threads, Samples::default())).collect();
        for round in 0..=rounds {
            for (threads, samples) in &mut table {
                let pass = self.pass(&judge, *threads);
                check_statuses(&mut report.statuses, &pass.statuses)?;
                if round > 0 {
                    samples.add(&[pass.round]);
                }
                tick();
            }
        }
        let row = |(threads, samples)| ThreadSamples { threads, baselines: vec![(VERIPLAY.to_owned(), samples)] };
        Ok(MeasuredJob { job: NAME, by_threads: table.into_iter().map(row).collect() })
    }

    fn pass(&self, judge: &AttemptJudge<'_>, threads: usize) -> Part {
        let (next, started) = (AtomicUsize::new(0), Instant::now());
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.part(judge, &next))).collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
        });
        let mut whole = Part::default();
        for part in parts {
            whole.round.ns.extend(part.round.ns);
            part.statuses.into_iter().for_each(|(status, count)| *whole.statuses.entry(status).or_default() += count);
        }
        whole.round.elapsed = started.elapsed();
        whole
    }

    /// One thread of a pass: judges the next attempt until there is none.
    fn part(&self, judge: &AttemptJudge<'_>, next: &AtomicUsize) -> Part {
        let mut part = Part::default();
        while let Some(attempt) = self.attempts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (attempt, started) = (attempt.clone(), Instant::now());
            let status = judge.judge_at_task(attempt).row.status;
            part.round.ns.push(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
            *part.statuses.entry(status).or_default() += 1;
        }
        part
    }
}

/// Keeps the verdicts of the first pass, and compares those of others with them.
fn check_statuses(first: &mut StatusCounts, pass: &StatusCounts) -> Result<(), Failure> {
    let dropped: u64 = pass.iter().filter(|(status, _)| matches!(status, RowStatus::Dropped(_))).map(|(_, n)| n).sum();
    if dropped > 0 {
        let text = format!("{} dropped through a fault of the host", counted(dropped, "attempt"));
        return Err(
            Failure::message(ExitCode::Host, text).hint("`veriplay verify` of the same files gives the reasons")
        );
    }
    if first.is_empty() {
        first.clone_from(pass);
    }
    if first == pass {
        return Ok(());
    }
    let text =
        format!("a pass gave other verdicts than the first: {} instead of {}", counts_text(pass), counts_text(first));
    Err(Failure::message(ExitCode::Host, text).hint("an attempt met the wall-clock deadline in one pass only"))
}

fn counts_text(statuses: &StatusCounts) -> String {
    statuses.iter().map(|(status, count)| format!("{status} {count}")).collect::<Vec<_>>().join(", ")
}

impl WorkloadReport {
    /// Seconds of the median pass with one thread.
    pub fn pass_seconds(&self, measured: &MeasuredJob) -> f64 {
        let samples = measured.with_threads(1).and_then(|row| row.samples_of(VERIPLAY));
        samples.and_then(Samples::median_per_s).map_or(0.0, |per_s| self.attempts as f64 / per_s)
    }

    /// Which workload it is.
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// For people.
    pub fn text(&self) -> String {
        let left_out =
            if self.left_out == 0 { String::new() } else { format!(", {} left out", counted(self.left_out, "row")) };
        let statuses = counts_text(&self.statuses);
        let (attempts, tasks) = (counted(self.attempts, "attempt"), counted(self.tasks, "task"));
        format!("{attempts} at {tasks} in format {}{left_out}: {statuses}", self.format)
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::Status;

    use super::*;

    #[test]
    fn a_pass_with_other_verdicts_is_no_measurement() {
        let counts = |accepted| StatusCounts::from([(RowStatus::Judged(Status::Accepted), accepted)]);
        let mut first = StatusCounts::new();
        check_statuses(&mut first, &counts(3)).expect("it is the first");
        check_statuses(&mut first, &counts(3)).expect("it is the same");
        let failure = check_statuses(&mut first, &counts(2)).expect_err("it differs");
        assert!(failure.to_string().contains("accepted 2 instead of accepted 3"), "{failure}");
    }
}
