//! Reads the attempts file: each attempt with its task, its program, and a digest of everything that its verdict depends on.

use std::path::Path;
use std::sync::Arc;

use veriplay_core::{Digest, Dropped, Verdict, VerdictRow, content_hash};
use veriplay_corpus::{AttemptBody, AttemptRow, AttemptRows, CorpusError, InvalidRow, read_attempts};

use super::assemble;
use super::reference::JudgeConditions;
use super::tasks::{LoadedTask, TaskSet};
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::progress;

/// One attempt to judge.
pub(crate) struct PendingAttempt<T = Arc<LoadedTask>> {
    /// Its task, or the index of it.
    pub(crate) task: T,
    pub(crate) task_id: String,
    pub(crate) attempt_id: String,
    pub(crate) program: String,
    /// Digest of task, program, image, limits and seed: attempts with equal digests have equal verdicts.
    pub(crate) judged: Digest,
}

impl PendingAttempt {
    /// The attempt `body` at `task`, under the conditions of that digest.
    pub(crate) fn new(task: &Arc<LoadedTask>, attempt_id: String, body: AttemptBody, conditions: &Digest) -> Self {
        let program = assemble::assemble_program(&task.row, body);
        let judged = content_hash(&(&task.digest, conditions, &program));
        Self { task: Arc::clone(task), task_id: task.row.task_id().to_owned(), attempt_id, program, judged }
    }
}

impl<T> PendingAttempt<T> {
    /// Its row.
    pub(crate) fn into_row(self, verdict: Result<Verdict, Dropped>) -> VerdictRow {
        VerdictRow::new(self.task_id, self.attempt_id, self.judged, verdict)
    }
}

/// The attempts that can be judged, in file order. Others are reported on stderr, with file and line, and counted.
pub(crate) struct AttemptSource<'a> {
    rows: AttemptRows,
    path: &'a Path,
    pub(super) tasks: &'a TaskSet,
    conditions: Digest,
    /// Number of attempts so far at each task: the name of an attempt that has none.
    seen: Vec<u64>,
    /// Invalid rows.
    pub(crate) bad: u64,
    /// Attempts at an unknown task.
    pub(crate) unknown: u64,
    /// Rows so far, of any kind.
    read: u64,
}

impl<'a> AttemptSource<'a> {
    pub(crate) fn open(
        path: &'a Path,
        max_row_bytes: u64,
        tasks: &'a TaskSet,
        conditions: &JudgeConditions,
    ) -> Result<Self, Failure> {
        let rows = read_attempts(path, max_row_bytes).or_fail(ExitCode::Input)?;
        let (conditions, seen) = (content_hash(conditions), vec![0; tasks.len()]);
        Ok(Self { rows, path, tasks, conditions, seen, bad: 0, unknown: 0, read: 0 })
    }

    /// The failure of a file that cannot be read to its end.
    fn damaged(&self, error: &CorpusError) -> Failure {
        let cause = match error {
            CorpusError::Io { cause, .. } => cause.to_string(),
            other => other.to_string(),
        };
        let text = format!("cannot read `{}` behind its first {} rows: {cause}", self.path.display(), self.read);
        Failure::message(ExitCode::Input, text).hint(
            "the file is damaged or was cut off; the rows before are judged, and with `--out` the same command continues behind them",
        )
    }

    fn work(&mut self, row: AttemptRow) -> Option<PendingAttempt> {
        let Some(task) = self.tasks.index(&row.task_id) else {
            let reason = format!("there is no task `{}` to judge it by", row.task_id);
            let field = "task_id".to_owned();
            progress::say(InvalidRow { path: self.path.to_owned(), line: row.line, field, reason });
            self.unknown += 1;
            return None;
        };
        let index = self.seen[task];
        self.seen[task] += 1;
        let attempt_id = row.attempt_id.unwrap_or_else(|| index.to_string());
        Some(PendingAttempt::new(self.tasks.task(task), attempt_id, row.body, &self.conditions))
    }
}

impl Iterator for AttemptSource<'_> {
    type Item = Result<PendingAttempt, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.rows.next()? {
                Err(error) => return Some(Err(self.damaged(&error))),
                Ok(row) => row,
            };
            self.read += 1;
            match row {
                Err(bad) => {
                    progress::say(bad);
                    self.bad += 1;
                }
                Ok(row) => {
                    if let Some(work) = self.work(row) {
                        return Some(Ok(work));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use veriplay_core::Limits;

    use super::*;

    #[test]
    fn a_change_of_any_condition_changes_the_digest() {
        let limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 };
        let first = JudgeConditions { image: Digest::of(b"image"), limits, scaled: true, seed: 0, early_stop: false };
        let with = |limits| JudgeConditions { limits, ..first.clone() };
        let all = [
            first.clone(),
            JudgeConditions { image: Digest::of(b"another image"), ..first.clone() },
            JudgeConditions { seed: 1, ..first.clone() },
            JudgeConditions { scaled: false, ..first.clone() },
            JudgeConditions { early_stop: true, ..first.clone() },
            with(Limits { fuel: 2, ..limits }),
            with(Limits { memory_bytes: 2, ..limits }),
            with(Limits { output_bytes: 2, ..limits }),
            with(Limits { file_bytes: 2, ..limits }),
            with(Limits { deadline_ns: 2, ..limits }),
        ];
        assert_eq!(all.iter().map(content_hash).collect::<HashSet<_>>().len(), all.len());
        assert_eq!(content_hash(&first), content_hash(&first.clone()));
    }
}
