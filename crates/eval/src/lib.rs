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
    /// Where and how the jobs of tasks run.
    pub context: TaskContext<'a>,
    /// The same for tasks whose programs run in other images.
    pub others: &'a [TaskContext<'a>],
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
        let context = tasks::context_of(self.others, attempt.task.row()).unwrap_or(&self.context);
        let verdict = attempt.task.judge(context, &attempt.program);
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

#[cfg(test)]
mod tests {
    use veriplay_core::{Digest, Execute, ExecuteError, Exit, Job, Limits, Outcome, RowStatus, Status};
    use veriplay_corpus::{ReadOptions, problem_format};
    use veriplay_verifier::{JudgeConditions, OpenImage, TaskOverrides};

    use super::*;

    /// Each program prints the name of its image.
    struct ImageNames;

    impl Execute for ImageNames {
        fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
            Ok(Outcome { stdout: job.image.clone().into_bytes(), ..Outcome::new(Exit::Returned) })
        }
    }

    const TASKS: &str = r#"{"name": "one", "public_tests": {"input": ["1"], "output": ["python"]}}
{"name": "two", "language": "C++", "public_tests": {"input": ["1"], "output": ["cpp"]}}
"#;
    const ATTEMPTS: &str = r#"{"task_id": "one", "program": "p"}
{"task_id": "two", "program": "p"}
"#;

    fn conditions(image: &str) -> JudgeConditions {
        JudgeConditions::new(Digest::of(image.as_bytes()), Limits::small())
    }

    #[test]
    fn each_task_of_a_file_is_judged_in_the_image_of_its_language() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let [tasks, attempts] = ["tasks.jsonl", "attempts.jsonl"].map(|name| folder.path().join(name));
        std::fs::write(&tasks, TASKS).expect("it is written");
        std::fs::write(&attempts, ATTEMPTS).expect("it is written");
        let (format, options) = (problem_format("auto").expect("a format"), ReadOptions::default());
        let tasks = TaskSet::read(&tasks, format, &options, &TaskOverrides::default(), None).expect("tasks");
        assert!(tasks.check_images(&["python"]).is_err() && tasks.check_images(&["python", "cpp"]).is_ok());
        let (python, cpp, cache) = (conditions("python"), conditions("cpp"), VerdictCache::none());
        let others = [TaskContext::new(&ImageNames, "cpp", &cpp)];
        let mut source = AttemptSource::open(&attempts, 1 << 20, &tasks, &python, &others).expect("attempts");
        let (mixed, _) = source.read_all().expect("attempts");
        let mut source = AttemptSource::open(&attempts, 1 << 20, &tasks, &cpp, &[]).expect("attempts");
        let (alone, _) = source.read_all().expect("attempts");
        assert!(mixed[0].judged != alone[0].judged && mixed[1].judged == alone[1].judged);
        let context = TaskContext::new(&ImageNames, "python", &python);
        let judge = AttemptJudge { context, others: &others, cache: &cache, stop: || false };
        for attempt in mixed {
            assert_eq!(judge.judge(Ok(attempt)).row.status, RowStatus::Judged(Status::Accepted));
        }
    }

    fn open_image(name: &str, mib: u64) -> OpenImage {
        OpenImage { name: name.to_owned(), digest: Digest::of(name.as_bytes()), memory_bytes: mib << 20 }
    }

    #[test]
    fn a_task_with_less_memory_than_an_image_needs_is_refused_once_with_its_name_and_both_numbers() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let [path, attempts] = ["tasks.jsonl", "attempts.jsonl"].map(|name| folder.path().join(name));
        let row = |name: &str, comparison: &str| {
            let stdio = format!(r#"{{"cases": [{{"stdin": "1", "stdout": "python"}}], "comparison": {comparison}}}"#);
            let limits = r#"{"memory_bytes": 73400320}"#;
            format!(
                r#"{{"schema_version": 1, "problem": {{"task_id": "{name}", "limits": {limits}, "checks": {{"stdio": {stdio}}}}}}}"#
            )
        };
        let plain = row("one", r#"{"judge": "lines"}"#);
        let checked =
            row("two", r#"{"judge": "checker", "checker_script": "int main() {}", "checker_language": "cpp"}"#);
        std::fs::write(&attempts, ATTEMPTS).expect("it is written");
        let (format, options) = (problem_format("veriplay").expect("a format"), ReadOptions::default());
        let (python, open) = (conditions("python"), [open_image("python", 64), open_image("cpp", 80)]);
        let contexts = [TaskContext::new(&ImageNames, "python", &python)];
        let read = |rows: &str| {
            std::fs::write(&path, rows).expect("it is written");
            TaskSet::read(&path, format, &options, &TaskOverrides::default(), None).expect("tasks")
        };
        let mut tasks = read(&format!("{checked}\n{plain}\n"));
        tasks.refuse_small_memory(&contexts, &open).expect("there is another task");
        assert_eq!((tasks.count(), tasks.bad, tasks.index("one"), tasks.index("two")), (1, 1, Some(0), None));
        let source = AttemptSource::open(&attempts, 1 << 20, &tasks, &python, &[]).expect("attempts");
        let rows: Vec<ReadAttempt> = source.map(|row| row.expect("it is read")).collect();
        assert!(rows[0].is_ok());
        let Err(refused) = &rows[1] else { panic!("it is judged") };
        for told in ["`two` is refused", "73400320", "`cpp`", "83886080", "`memory_bytes`"] {
            assert!(refused.evidence.detail.contains(told), "{told}: {}", refused.evidence.detail);
        }
        let told = read(&checked).refuse_small_memory(&contexts, &open).expect_err("it is the only task").to_string();
        assert!(told.contains("no task that can be judged") && told.contains("tasks.jsonl:1"), "{told}");
        let enough = [open_image("python", 64), open_image("cpp", 70)];
        read(&checked).refuse_small_memory(&contexts, &enough).expect("it may have as much as the image needs");
    }

    #[test]
    fn a_checker_in_another_image_than_programs_is_found_and_a_verdict_depends_on_it() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let [tasks, attempts] = ["tasks.jsonl", "attempts.jsonl"].map(|name| folder.path().join(name));
        let checked = r##"{"id": "two", "official_tests": [{"input": "1", "output": "2"}], "generated_checker": "#include <a>"}"##;
        let plain = r#"{"id": "one", "official_tests": [{"input": "1", "output": "python"}]}"#;
        std::fs::write(&tasks, format!("{plain}\n{checked}\n")).expect("it is written");
        std::fs::write(&attempts, ATTEMPTS).expect("it is written");
        let (format, options) = (problem_format("codeforces").expect("a format"), ReadOptions::default());
        let tasks = TaskSet::read(&tasks, format, &options, &TaskOverrides::default(), None).expect("tasks");
        assert_eq!(tasks.checker_images(&["python"]), ["cpp"]);
        assert!(
            tasks.checker_images(&["python", "cpp"]).is_empty() && tasks.check_checkers(&["python", "cpp"]).is_ok()
        );
        let refused = tasks.check_checkers(&["python"]).expect_err("the checker has no image").to_string();
        assert!(refused.contains("`two`") && refused.contains("`cpp`"), "{refused}");
        let (python, open) = (conditions("python"), [open_image("cpp", 80)]);
        let source = || AttemptSource::open(&attempts, 1 << 20, &tasks, &python, &[]).expect("attempts");
        let (without, _) = source().read_all().expect("attempts");
        let (with, _) = source().with_checkers(&["python"], &open).read_all().expect("attempts");
        assert!(with[0].judged == without[0].judged && with[1].judged != without[1].judged);
    }
}
