//! The tasks: the rows of their file, with the overrides of the command line.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use veriplay_core::{Checks, Comparison, Digest, Limits, Problem, Trust, Value, content_hash};
use veriplay_corpus::{InvalidRow, ProblemFormat, ProblemRow, ReadOptions, UnexecutedProblem, read_problems};
use veriplay_verifier::check_problem;

use super::reference::{self, Bench, NoProblem};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::progress;

/// Overrides of the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    pub(crate) judge: Option<String>,
    pub(crate) trust: Option<Trust>,
    pub(crate) fuel: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

impl Overrides {
    /// `limits`, with the overrides.
    pub(crate) fn limits(&self, limits: Limits) -> Limits {
        Limits {
            fuel: self.fuel.unwrap_or(limits.fuel),
            memory_bytes: self.memory_bytes.unwrap_or(limits.memory_bytes),
            ..limits
        }
    }

    fn apply(&self, row: &mut ProblemRow) -> Result<(), Failure> {
        let task_id = row.task_id().to_owned();
        let (limits, comparison, trust) = places(row);
        *limits = limits.map(|limits| self.limits(limits));
        match (comparison, &self.judge) {
            (_, None) => {}
            (Some(comparison), Some(judge)) => comparison.judge.clone_from(judge),
            (None, Some(_)) => return Err(useless("judge", &task_id, "compares no values or texts by a judge")),
        }
        match (trust, self.trust) {
            (_, None) => {}
            (Some(place), Some(trust)) => *place = trust,
            (None, Some(_)) => return Err(useless("trust", &task_id, "has no test code")),
        }
        Ok(())
    }
}

/// The limits, judge and trust of a row.
fn places(row: &mut ProblemRow) -> (&mut Option<Limits>, Option<&mut Comparison>, Option<&mut Trust>) {
    match row {
        ProblemRow::Unexecuted(UnexecutedProblem { limits, checks, .. }) => {
            (limits, Some(&mut checks.comparison), None)
        }
        ProblemRow::Ready(Problem { limits, checks, .. }) => match checks {
            Checks::Calls(calls) => (limits, Some(&mut calls.comparison), None),
            Checks::Stdio(stdio) => (limits, Some(&mut stdio.comparison), None),
            Checks::Tests(code) => (limits, None, Some(&mut code.trust)),
            Checks::Prediction(_) => (limits, None, None),
            Checks::Environment(_) => (limits, None, None),
        },
    }
}

fn useless(option: &str, task_id: &str, why: &str) -> Failure {
    Failure::message(ExitCode::Input, format!("`--{option}` says nothing about task `{task_id}`, which {why}"))
        .hint(format!("leave `--{option}` out"))
}

/// A task, and the problem it is once its expected values are there.
pub(crate) struct AskedTask {
    pub(super) row: ProblemRow,
    /// Names the row, overrides included.
    pub(super) digest: Digest,
    executed: OnceLock<Result<Problem, NoProblem>>,
}

impl AskedTask {
    /// The problem. The first that asks runs the reference, where the file has one instead of expected values; the others
    /// wait for it.
    ///
    /// # Errors
    /// A host fault, or a reference that does not give what it must, which is a fault of the task.
    pub(crate) fn problem(&self, bench: &Bench<'_>) -> Result<&Problem, NoProblem> {
        match &self.row {
            ProblemRow::Ready(problem) => Ok(problem),
            ProblemRow::Unexecuted(unexecuted) => {
                self.executed.get_or_init(|| reference::executed(bench, unexecuted)).as_ref().map_err(Clone::clone)
            }
        }
    }
}

/// All tasks of a file.
pub(crate) struct TaskSet {
    pub(super) tasks: Vec<AskedTask>,
    by_id: HashMap<String, usize>,
    /// Rows that were reported and left out.
    pub(crate) bad: u64,
}

impl TaskSet {
    /// Reads `path`; bad rows are reported on stderr and counted.
    pub(crate) fn read(
        path: &Path,
        format: &ProblemFormat,
        options: &ReadOptions,
        overrides: &Overrides,
    ) -> Result<Self, Failure> {
        let file = read_problems(path, format, options).or_fail(ExitCode::Input)?;
        let mut set = Self { tasks: Vec::with_capacity(file.rows.len()), by_id: HashMap::new(), bad: 0 };
        file.bad.iter().for_each(|bad| set.refuse(bad));
        for (line, mut row) in file.rows {
            overrides.apply(&mut row)?;
            match check(&row) {
                Ok(()) => set.push(row),
                Err(reason) => set.refuse(&InvalidRow { path: path.to_owned(), line, field: String::new(), reason }),
            }
        }
        if set.tasks.is_empty() {
            let what = format!("`{}` holds no task that can be judged", path.display());
            let hint = format!("it is read as `{}`; `--format` says otherwise", format.name);
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        Ok(set)
    }

    fn refuse(&mut self, bad: &InvalidRow) {
        progress::say(bad);
        self.bad += 1;
    }

    fn push(&mut self, row: ProblemRow) {
        self.by_id.insert(row.task_id().to_owned(), self.tasks.len());
        self.tasks.push(AskedTask { digest: content_hash(&row), row, executed: OnceLock::new() });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Index of the task of that name.
    pub(crate) fn index(&self, task_id: &str) -> Option<usize> {
        self.by_id.get(task_id).copied()
    }

    /// The task at `index`.
    pub(crate) fn task(&self, index: usize) -> &AskedTask {
        &self.tasks[index]
    }
}

/// Whether the row can be judged; for a row without expected values, whatever they will be.
fn check(row: &ProblemRow) -> Result<(), String> {
    let checked = match row {
        ProblemRow::Ready(problem) => check_problem(problem),
        ProblemRow::Unexecuted(unexecuted) => {
            let nothing = vec![Value::None; unexecuted.inputs.len()];
            let problem = unexecuted.with_expected(nothing).map_err(|error| error.to_string())?;
            check_problem(&problem)
        }
    };
    checked.map_err(|error| error.to_string())
}
