//! The tasks: the rows of their file, with the overrides of the command line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use veriplay_core::{Checks, Comparison, Digest, Limits, Problem, Trust, Value, content_hash};
use veriplay_corpus::{
    InvalidRow, ProblemFormat, ProblemRow, ReadOptions, UnexecutedProblem, matching_formats, read_problems,
};
use veriplay_verifier::check_problem;

use super::faults::RowFaults;
use super::reference::{self, ProblemError, VerifyContext};
use crate::exit::{ExitCode, Failure, ResultExt};

/// Overrides from the command line.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub(crate) struct TaskOverrides {
    pub(crate) judge: Option<String>,
    pub(crate) trust: Option<Trust>,
    pub(crate) fuel: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

impl TaskOverrides {
    /// `limits`, with the overrides.
    pub(crate) fn limits(&self, limits: Limits) -> Limits {
        Limits {
            fuel: self.fuel.unwrap_or(limits.fuel),
            memory_bytes: self.memory_bytes.unwrap_or(limits.memory_bytes),
            ..limits
        }
    }

    /// Changes the limits, judge and trust of a row.
    ///
    /// # Errors
    /// An override that does not apply to it.
    pub(crate) fn apply(&self, row: &mut ProblemRow) -> Result<(), Failure> {
        let task_id = row.task_id().to_owned();
        let (limits, comparison, trust) = overridable_fields(row);
        *limits = limits.map(|limits| self.limits(limits));
        match (comparison, &self.judge) {
            (_, None) => {}
            (Some(comparison), Some(judge)) => comparison.judge.clone_from(judge),
            (None, Some(_)) => {
                return Err(useless_override("judge", &task_id, "compares no values or texts by a judge"));
            }
        }
        match (trust, self.trust) {
            (_, None) => {}
            (Some(place), Some(trust)) => *place = trust,
            (None, Some(_)) => return Err(useless_override("trust", &task_id, "has no test code")),
        }
        Ok(())
    }
}

/// The limits, judge and trust of a row.
fn overridable_fields(row: &mut ProblemRow) -> (&mut Option<Limits>, Option<&mut Comparison>, Option<&mut Trust>) {
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

fn useless_override(option: &str, task_id: &str, why: &str) -> Failure {
    Failure::message(ExitCode::Input, format!("`--{option}` does not apply to task `{task_id}`, which {why}"))
        .hint(format!("omit `--{option}`"))
}

/// A task, with its problem once the expected values are known.
pub(crate) struct LoadedTask {
    pub(super) row: ProblemRow,
    /// Digest of the row, overrides included.
    pub(super) digest: Digest,
    executed: OnceLock<Result<Problem, ProblemError>>,
}

impl LoadedTask {
    /// The task of a row with overrides applied.
    pub(crate) fn new(row: ProblemRow) -> Self {
        Self { digest: content_hash(&row), row, executed: OnceLock::new() }
    }

    /// The same task, whose reference has not run yet.
    pub(crate) fn without_problem(&self) -> Self {
        Self { row: self.row.clone(), digest: self.digest.clone(), executed: OnceLock::new() }
    }

    /// The problem. The first call runs the reference, where the file has one instead of expected values; concurrent calls wait for it.
    ///
    /// # Errors
    /// A host fault, or a reference without usable values, which is a fault of the task.
    pub(crate) fn problem(&self, context: &VerifyContext<'_>) -> Result<&Problem, ProblemError> {
        match &self.row {
            ProblemRow::Ready(problem) => Ok(problem),
            ProblemRow::Unexecuted(unexecuted) => self
                .executed
                .get_or_init(|| reference::execute_reference(context, unexecuted))
                .as_ref()
                .map_err(Clone::clone),
        }
    }
}

/// All tasks of a file.
pub(crate) struct TaskSet {
    file: TaskFile,
    tasks: Vec<Arc<LoadedTask>>,
    by_id: HashMap<String, usize>,
    /// Rows that are no task.
    pub(crate) bad: u64,
    faults: RowFaults,
}

/// A file of tasks, and how it is read.
struct TaskFile {
    path: PathBuf,
    format: &'static str,
    options: ReadOptions,
}

impl TaskFile {
    /// `--format` with each other format as which the file can be read. It reads the beginning of the file again.
    fn other_formats(&self) -> Option<String> {
        // A pipe has been read, and opening it again may wait for ever.
        let formats = if self.path.is_file() { matching_formats(&self.path, &self.options) } else { Ok(Vec::new()) };
        let formats = formats.unwrap_or_default();
        let others = formats.into_iter().filter(|format| *format != self.format);
        let options: Vec<String> = others.map(|format| format!("`--format {format}`")).collect();
        (!options.is_empty()).then(|| options.join(" or "))
    }

    /// Advice where no row is a task.
    fn format_hint(&self) -> String {
        match self.other_formats() {
            Some(others) => format!("it was read as `{}`; {others} reads it", self.format),
            None => format!("it was read as `{}`; `--format` names another format", self.format),
        }
    }
}

impl TaskSet {
    /// Reads `path`; bad rows are reported on stderr and counted, those with the same fault together. `layout_hint` is the advice where no row is
    /// a task; without it, which formats read the file.
    pub(crate) fn read(
        path: &Path,
        format: &ProblemFormat,
        options: &ReadOptions,
        overrides: &TaskOverrides,
        layout_hint: Option<&str>,
    ) -> Result<Self, Failure> {
        let file = read_problems(path, format, options).or_fail(ExitCode::Input)?;
        let mut set = Self {
            file: TaskFile { path: path.to_owned(), format: format.name, options: *options },
            tasks: Vec::with_capacity(file.rows.len()),
            by_id: HashMap::new(),
            bad: 0,
            faults: RowFaults::default(),
        };
        file.bad.iter().for_each(|bad| set.report_bad_row(bad));
        let mut first_bad = file.bad.first().map(ToString::to_string);
        for (line, mut row) in file.rows {
            overrides.apply(&mut row)?;
            match check_row(&row) {
                Ok(()) => set.push(row),
                Err(reason) => {
                    let bad = InvalidRow { path: path.to_owned(), line, field: String::new(), reason };
                    set.report_bad_row(&bad);
                    first_bad.get_or_insert_with(|| bad.to_string());
                }
            }
        }
        set.faults.report_counts(path);
        if set.tasks.is_empty() {
            let why =
                first_bad.map_or_else(|| "it has no row".to_owned(), |bad| format!("the first row is bad: {bad}"));
            let what = format!("`{}` holds no task that can be judged; {why}", path.display());
            let hint = layout_hint.map_or_else(|| set.file.format_hint(), str::to_owned);
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        Ok(set)
    }

    fn report_bad_row(&mut self, bad: &InvalidRow) {
        self.faults.report(&bad.fault(), bad);
        self.bad += 1;
    }

    fn push(&mut self, row: ProblemRow) {
        self.by_id.insert(row.task_id().to_owned(), self.tasks.len());
        self.tasks.push(Arc::new(LoadedTask::new(row)));
    }

    /// What is said where the first `count` attempts, and the attempt at `wanted` among them, are at none of the tasks.
    pub(super) fn other_tasks_warning(&self, count: u64, wanted: &str) -> String {
        let first = self.tasks.first().map_or("", |task| task.row.task_id());
        let format = self.file.other_formats().map_or_else(String::new, |others| format!(", or read it with {others}"));
        format!(
            "warning: none of the first {count} attempts is at a task of `{}`: they name `{wanted}`, and its first task is `{first}`\n\
             hint: give the file of their tasks as `--tasks`{format}",
            self.file.path.display()
        )
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
    pub(crate) fn task(&self, index: usize) -> &Arc<LoadedTask> {
        &self.tasks[index]
    }
}

/// Checks that attempts at the row can be judged, whatever the expected values of a row without them will be.
pub(crate) fn check_row(row: &ProblemRow) -> Result<(), String> {
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
