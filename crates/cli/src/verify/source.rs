//! Work from the attempts file: each attempt with its task, its program, and a name for all that its verdict depends on.

use std::path::Path;

use veriplay_core::{Digest, Limits, content_hash};
use veriplay_corpus::{AttemptRow, AttemptRows, InvalidRow, read_attempts};

use super::assemble;
use super::tasks::TaskSet;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::progress;

/// One attempt to judge.
#[derive(Debug)]
pub(crate) struct Work {
    /// Index of its task.
    pub(crate) task: usize,
    pub(crate) task_id: String,
    pub(crate) attempt_id: String,
    pub(crate) program: String,
    /// Names task, program, image, limits and seed: equal names have equal verdicts.
    pub(crate) judged: Digest,
}

/// Everything beside task and program that a verdict depends on.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Conditions {
    pub(crate) image: Digest,
    pub(crate) limits: Limits,
    /// Whether a task's reference may raise its limits.
    pub(crate) scaled: bool,
    pub(crate) seed: u64,
    pub(crate) early_stop: bool,
}

/// The attempts that can be judged, in file order. The others are reported on stderr, with file and line, and counted.
pub(crate) struct Source<'a> {
    rows: AttemptRows,
    path: &'a Path,
    tasks: &'a TaskSet,
    conditions: Digest,
    /// Attempts so far at each task: the names of those that have none.
    seen: Vec<u64>,
    /// Rows that are no attempts.
    pub(crate) bad: u64,
    /// Attempts at a task there is not.
    pub(crate) unknown: u64,
}

impl<'a> Source<'a> {
    pub(crate) fn open(
        path: &'a Path,
        max_row_bytes: u64,
        tasks: &'a TaskSet,
        conditions: &Conditions,
    ) -> Result<Self, Failure> {
        let rows = read_attempts(path, max_row_bytes).or_fail(ExitCode::Input)?;
        let (conditions, seen) = (content_hash(conditions), vec![0; tasks.len()]);
        Ok(Self { rows, path, tasks, conditions, seen, bad: 0, unknown: 0 })
    }

    fn work(&mut self, row: AttemptRow) -> Option<Work> {
        let Some(task) = self.tasks.index(&row.task_id) else {
            let reason = format!("there is no task `{}` to judge it by", row.task_id);
            let field = "task_id".to_owned();
            progress::say(InvalidRow { path: self.path.to_owned(), line: row.line, field, reason });
            self.unknown += 1;
            return None;
        };
        let index = self.seen[task];
        self.seen[task] += 1;
        let asked = self.tasks.task(task);
        let program = assemble::program(&asked.row, row.body);
        let judged = content_hash(&(&asked.digest, &self.conditions, &program));
        let attempt_id = row.attempt_id.unwrap_or_else(|| index.to_string());
        Some(Work { task, task_id: row.task_id, attempt_id, program, judged })
    }
}

impl Iterator for Source<'_> {
    type Item = Result<Work, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.rows.next()?.or_fail(ExitCode::Input) {
                Err(failure) => return Some(Err(failure)),
                Ok(Err(bad)) => {
                    progress::say(bad);
                    self.bad += 1;
                }
                Ok(Ok(row)) => {
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

    use super::*;

    #[test]
    fn a_change_of_any_condition_is_another_name() {
        let limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 };
        let first = Conditions { image: Digest::of(b"image"), limits, scaled: true, seed: 0, early_stop: false };
        let with = |limits| Conditions { limits, ..first.clone() };
        let all = [
            first.clone(),
            Conditions { image: Digest::of(b"another image"), ..first.clone() },
            Conditions { seed: 1, ..first.clone() },
            Conditions { scaled: false, ..first.clone() },
            Conditions { early_stop: true, ..first.clone() },
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
