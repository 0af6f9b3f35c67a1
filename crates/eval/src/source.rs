//! Reads the attempts file: each attempt with its task, its program, and a digest of everything that its verdict depends on.

use std::path::Path;
use std::sync::Arc;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress::{self, counted};
use veriplay_core::{
    AttemptText, Digest, Dropped, Evidence, Extraction, INVALID_ROW_RULE, Status, UNKNOWN_TASK_RULE, Verdict,
    VerdictRow, content_hash,
};
use veriplay_corpus::{AttemptRow, AttemptRows, CorpusError, InvalidAttempt, InvalidRow, RowFault, read_attempts};
use veriplay_verifier::extraction::{Answer, NoAnswer};
use veriplay_verifier::{JudgeConditions, LoadedTask, OpenImage, TaskContext, digest_with_checkers};

use super::faults::RowFaults;
use super::tasks::{TaskSet, context_of, image_of};

/// Attempts at unknown tasks, with no other before them, after which the tasks are said to be those of other attempts.
const PREFLIGHT: u64 = 64;

/// One attempt to judge.
#[derive(Clone)]
pub struct PendingAttempt<T = Arc<LoadedTask>> {
    /// Its task, or the index of it.
    pub task: T,
    /// Name of its task in the set.
    pub task_id: String,
    /// Its name among the attempts at the task.
    pub attempt_id: String,
    /// The program, the prediction or the patch that is judged.
    pub program: String,
    /// What of the response the program is.
    pub extraction: Option<Extraction>,
    /// Digest of task, program, image, limits and seed: attempts with equal digests have equal verdicts.
    pub judged: Digest,
}

/// A row of the attempts file: an attempt, or its verdict where there is nothing to judge or no task to judge it by.
pub type ReadAttempt<T = Arc<LoadedTask>> = Result<PendingAttempt<T>, Box<VerdictRow>>;

impl PendingAttempt {
    /// The attempt `text` at `task`, under the conditions of that digest. A response without an answer has its verdict.
    pub fn new(task: &Arc<LoadedTask>, attempt_id: String, text: AttemptText, conditions: &Digest) -> ReadAttempt {
        let (task_id, answer) = (task.row().task_id().to_owned(), Answer::at_row(task.row(), text));
        let digest_of = |program: &str| content_hash(&(task.digest(), conditions, program));
        Self::with_answer(Arc::clone(task), task_id, attempt_id, answer, digest_of)
    }
}

impl<T> PendingAttempt<T> {
    /// The attempt with this answer, whose digest `digest_of` makes.
    pub(super) fn with_answer(
        task: T,
        task_id: String,
        attempt_id: String,
        answer: Result<Answer, NoAnswer>,
        digest_of: impl FnOnce(&str) -> Digest,
    ) -> ReadAttempt<T> {
        match answer {
            Ok(Answer { program, extraction }) => {
                let judged = digest_of(&program);
                Ok(Self { task, task_id, attempt_id, program, extraction, judged })
            }
            Err(nothing) => {
                let judged = digest_of(&nothing.reason);
                Err(Box::new(VerdictRow::new(task_id, attempt_id, judged, Ok(nothing.into_verdict()))))
            }
        }
    }

    /// Its row.
    pub fn into_row(self, verdict: Result<Verdict, Dropped>) -> VerdictRow {
        let mut row = VerdictRow::new(self.task_id, self.attempt_id, self.judged, verdict);
        row.evidence.extraction = self.extraction.map(Box::new);
        row
    }

    /// What it is an attempt of, and the digest of all that its verdict depends on.
    pub fn identity(&self) -> (&str, &str, &Digest) {
        (&self.task_id, &self.attempt_id, &self.judged)
    }
}

/// The row of what is no attempt.
pub(super) fn invalid_row(row: InvalidAttempt) -> Box<VerdictRow> {
    let InvalidAttempt { task_id, attempt_id, fault } = row;
    unjudgeable(INVALID_ROW_RULE, fault.line, task_id, attempt_id, &fault.fault())
}

/// The row of an attempt at a task that is not there, or whose row has a fault.
pub(super) fn row_at_unknown_task(row: AttemptRow, fault: Option<&str>) -> Box<VerdictRow> {
    let why = match fault {
        Some(fault) => format!("the row of task `{}` is refused: {fault}", row.task_id),
        None => format!("there is no task `{}`", row.task_id),
    };
    unjudgeable(UNKNOWN_TASK_RULE, row.line, Some(row.task_id), row.attempt_id, &why)
}

/// An attempt without a name has that of its line. The file's name is not in the verdict, so that equal rows have equal ones.
fn unjudgeable(
    rule: &str,
    line: usize,
    task_id: Option<String>,
    attempt_id: Option<String>,
    why: &str,
) -> Box<VerdictRow> {
    let detail = format!("line {line} of the attempts: {why}");
    let evidence = Evidence { rule: rule.to_owned(), detail, ..Evidence::default() };
    let verdict = Verdict { status: Status::Unjudgeable, passed: 0, total: 0, evidence };
    let attempt_id = attempt_id.unwrap_or_else(|| format!("line {line}"));
    let judged = content_hash(&verdict);
    Box::new(VerdictRow::new(task_id.unwrap_or_default(), attempt_id, judged, Ok(verdict)))
}

/// All rows of the file, in its order. Those that cannot be judged are reported on stderr, with file and line, and counted.
pub struct AttemptSource<'a> {
    rows: AttemptRows,
    path: &'a Path,
    pub(super) tasks: &'a TaskSet,
    /// The digest of the conditions of attempts at each task.
    conditions: Vec<Digest>,
    /// Number of attempts so far at each task: the name of an attempt that has none.
    seen: Vec<u64>,
    /// Invalid rows.
    pub bad: u64,
    /// Attempts at an unknown task.
    pub unknown: u64,
    faults: RowFaults,
    /// Whether there was an attempt at a known task.
    matched: bool,
    /// The first unknown task, until it is said that the tasks are those of other attempts.
    first_unknown: Option<String>,
    /// Rows so far, of any kind.
    read: u64,
}

impl<'a> AttemptSource<'a> {
    /// Opens the file at `path`, whose rows may have `max_row_bytes` each. Attempts are judged under `conditions`, or under those of
    /// one of the `others` that their task's programs run in.
    pub fn open(
        path: &'a Path,
        max_row_bytes: u64,
        tasks: &'a TaskSet,
        conditions: &JudgeConditions,
        others: &[TaskContext<'_>],
    ) -> Result<Self, Failure> {
        let rows = read_attempts(path, max_row_bytes).or_fail(ExitCode::Input)?;
        let of_task = |task| context_of(others, tasks.task(task).row()).map_or(conditions, |other| other.conditions);
        let conditions = (0..tasks.count()).map(|task| of_task(task).digest()).collect();
        let seen = vec![0; tasks.count()];
        Ok(Self {
            rows,
            path,
            tasks,
            conditions,
            seen,
            bad: 0,
            unknown: 0,
            faults: RowFaults::default(),
            matched: false,
            first_unknown: None,
            read: 0,
        })
    }

    /// The same, where all these images are open, of which programs run in those of the names `programs`. Verdicts by a checker
    /// or an interactor in another image depend on that image, too.
    #[must_use]
    pub fn with_checkers(mut self, programs: &[&str], open: &[OpenImage]) -> Self {
        for (task, conditions) in self.conditions.iter_mut().enumerate() {
            let row = self.tasks.task(task).row();
            if let Some(image) = image_of(row, programs) {
                *conditions = digest_with_checkers(conditions, row, image, open);
            }
        }
        self
    }

    /// The failure of a file that cannot be read to its end.
    fn damaged(&self, error: &CorpusError) -> Failure {
        let cause = match error {
            CorpusError::Io { cause, .. } => cause.to_string(),
            other => other.to_string(),
        };
        let rows = counted(self.read, "row");
        let text = format!("cannot read `{}` behind its first {rows}: {cause}", self.path.display());
        Failure::message(ExitCode::Input, text).hint(
            "the file is damaged or was cut off; the rows before are judged, and with `--out` the same command continues behind them",
        )
    }

    /// Reads all attempts, and counts the rows that there is no task to judge by.
    pub fn read_all(&mut self) -> Result<(Vec<PendingAttempt>, usize), Failure> {
        let (mut attempts, mut without_task) = (Vec::new(), 0);
        for attempt in self.by_ref() {
            match attempt? {
                Ok(attempt) => attempts.push(attempt),
                Err(_) => without_task += 1,
            }
        }
        self.report_counts();
        Ok((attempts, without_task))
    }

    /// Reports how many rows could not be judged beside those that were named. Called after the last row.
    pub(super) fn report_counts(&self) {
        self.faults.report_counts(self.path);
    }

    fn work(&mut self, row: AttemptRow) -> ReadAttempt {
        let Some(task) = self.tasks.index(&row.task_id) else { return Err(self.unknown_task(row)) };
        self.matched = true;
        let index = self.seen[task];
        self.seen[task] += 1;
        let attempt_id = row.attempt_id.unwrap_or_else(|| index.to_string());
        PendingAttempt::new(self.tasks.task(task), attempt_id, row.text, &self.conditions[task])
    }

    fn unknown_task(&mut self, row: AttemptRow) -> Box<VerdictRow> {
        // Escaped: it may hold what a terminal obeys.
        let reason = format!("there is no task `{}` to judge it by", row.task_id.escape_debug());
        let bad = InvalidRow::new(self.path, row.line, RowFault { field: "task_id".to_owned(), reason });
        self.faults.report("there is no task of that name to judge it by", bad);
        if self.unknown == 0 {
            self.first_unknown = Some(row.task_id.escape_debug().to_string());
        }
        self.unknown += 1;
        if self.unknown == PREFLIGHT {
            self.warn_of_other_tasks();
        }
        let fault = self.tasks.fault(&row.task_id);
        row_at_unknown_task(row, fault)
    }

    /// Says that the tasks are those of other attempts, where no attempt so far is at one of them.
    fn warn_of_other_tasks(&mut self) {
        if let Some(wanted) = self.first_unknown.take().filter(|_| !self.matched) {
            progress::say(self.tasks.other_tasks_warning(self.unknown, &wanted));
        }
    }
}

impl Iterator for AttemptSource<'_> {
    type Item = Result<ReadAttempt, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match self.rows.next() {
            None => {
                self.warn_of_other_tasks();
                return None;
            }
            Some(Err(error)) => return Some(Err(self.damaged(&error))),
            Some(Ok(row)) => row,
        };
        self.read += 1;
        Some(Ok(match row {
            Ok(row) => self.work(row),
            Err(bad) => {
                self.faults.report(&bad.fault.fault(), &bad.fault);
                self.bad += 1;
                Err(invalid_row(bad))
            }
        }))
    }
}
