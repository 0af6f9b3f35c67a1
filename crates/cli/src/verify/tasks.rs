//! The tasks: the rows of their file, with the overrides of the command line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use veriplay_core::{
    CancellationToken, Checks, Comparison, Digest, Dropped, ExecuteError, LimitOverrides, Problem, Trust, Value,
    content_hash, record_weight,
};
use veriplay_corpus::{
    InvalidRow, ProblemFormat, ProblemRow, ReadOptions, UnexecutedProblem, matching_formats, read_problems,
};
use veriplay_verifier::judges::{OutputKind, choose_judge, judge_by_name};
use veriplay_verifier::{check_problem, check_tests};

use super::faults::RowFaults;
use super::reference::{self, ProblemError, VerifyContext};
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::progress::counted;

/// A judge that is chosen beside the tasks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(crate) enum ChosenJudge {
    /// For every task whose outputs the judge takes, also where the row names one.
    Every(Comparison),
    /// For tasks whose rows name none, and whose outputs the judge takes.
    Unnamed(Comparison),
}

/// Overrides from the command line or a request.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub(crate) struct TaskOverrides {
    pub(crate) judge: Option<ChosenJudge>,
    pub(crate) trust: Option<Trust>,
    pub(crate) limits: LimitOverrides,
}

impl TaskOverrides {
    /// Whether the judge for every task takes the outputs of this one.
    fn has_judge_for(&self, row: &mut ProblemRow) -> bool {
        match (overridable_fields(row).1, &self.judge) {
            (Some((kind, _)), Some(ChosenJudge::Every(chosen))) => {
                judge_by_name(&chosen.judge).is_some_and(|judge| judge.supports(kind))
            }
            _ => false,
        }
    }

    /// Changes the limits, judge and trust of a row.
    ///
    /// # Errors
    /// An override that does not apply to it.
    pub(crate) fn apply(&self, row: &mut ProblemRow) -> Result<(), Failure> {
        let task_id = row.task_id().to_owned();
        let (limits, comparison, trust) = overridable_fields(row);
        // Where the row states none, the limits of the command are the overrides already.
        *limits = limits.replaced_by(self.limits);
        match (comparison, &self.judge) {
            (_, None) | (None, Some(ChosenJudge::Unnamed(_))) => {}
            (Some((_, own)), Some(ChosenJudge::Every(chosen))) => own.choose(chosen),
            (Some((kind, own)), Some(ChosenJudge::Unnamed(chosen))) => choose_judge(own, chosen, kind),
            (None, Some(ChosenJudge::Every(_))) => {
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

/// A comparison, and what it compares.
type ComparedOutputs<'a> = (OutputKind, &'a mut Comparison);

/// The limits, judge and trust of a row.
fn overridable_fields(row: &mut ProblemRow) -> (&mut LimitOverrides, Option<ComparedOutputs<'_>>, Option<&mut Trust>) {
    match row {
        ProblemRow::Unexecuted(UnexecutedProblem { limits, checks, .. }) => {
            (limits, Some((OutputKind::Values, &mut checks.comparison)), None)
        }
        ProblemRow::Ready(Problem { limits, checks, .. }) => match checks {
            Checks::Calls(calls) => (limits, Some((OutputKind::Values, &mut calls.comparison)), None),
            Checks::Stdio(stdio) => (limits, Some((OutputKind::Texts, &mut stdio.comparison)), None),
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
    pub(super) row: Arc<ProblemRow>,
    /// Digest of the row, overrides included.
    pub(super) digest: Digest,
    reference: ReferenceRun,
}

impl LoadedTask {
    /// The task of a row with overrides applied.
    pub(crate) fn new(row: impl Into<Arc<ProblemRow>>) -> Self {
        let row = row.into();
        Self { digest: content_hash(&*row), row, reference: ReferenceRun::default() }
    }

    /// The same task, whose reference has not run yet.
    pub(crate) fn without_problem(&self) -> Self {
        Self { row: Arc::clone(&self.row), digest: self.digest.clone(), reference: ReferenceRun::default() }
    }

    /// About the memory of the problem that its reference made, once it has run.
    pub(crate) fn executed_weight(&self) -> Option<u64> {
        match self.reference.result.get() {
            Some(Ok(problem)) => Some(*self.reference.weight.get_or_init(|| record_weight(problem))),
            _ => None,
        }
    }

    /// Whether its reference met a fault of the host, which it keeps.
    pub(crate) fn met_host_fault(&self) -> bool {
        matches!(self.reference.result.get(), Some(Err(ProblemError::Host(_))))
    }

    /// The problem. The first call runs the reference, where the file has one instead of expected values; concurrent calls wait for it until
    /// they are cancelled.
    ///
    /// # Errors
    /// A host fault, a call that is cancelled, or a reference without usable values, which is a fault of the task.
    pub(crate) fn problem(&self, context: &VerifyContext<'_>) -> Result<&Problem, ProblemError> {
        match &*self.row {
            ProblemRow::Ready(problem) => Ok(problem),
            ProblemRow::Unexecuted(unexecuted) => {
                self.reference.result(context.cancellation, || reference::execute_reference(context, unexecuted))
            }
        }
    }
}

/// How often whoever waits for a reference looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// The run of a reference, for all attempts at its task. The first who asks for its result runs it; where that one is cancelled, the next.
#[derive(Default)]
struct ReferenceRun {
    result: OnceLock<Result<Problem, ProblemError>>,
    weight: OnceLock<u64>,
    is_running: Mutex<bool>,
    ended: Condvar,
}

/// The right to run a reference. It ends after the result is there, or without one by a panic.
struct Turn<'a>(&'a ReferenceRun);

impl ReferenceRun {
    fn result(
        &self,
        cancellation: Option<&CancellationToken>,
        run: impl FnOnce() -> Result<Problem, ProblemError>,
    ) -> Result<&Problem, ProblemError> {
        let _turn = match self.result.get() {
            Some(_) => None,
            None => self.take_turn(cancellation)?,
        };
        if let Some(found) = self.result.get() {
            return found.as_ref().map_err(Clone::clone);
        }
        match run() {
            Err(error @ ProblemError::Host(_)) if cancellation.is_some_and(CancellationToken::is_cancelled) => {
                Err(error)
            }
            found => self.result.get_or_init(|| found).as_ref().map_err(Clone::clone),
        }
    }

    /// Waits for the result, or for the turn to run the reference.
    fn take_turn(&self, cancellation: Option<&CancellationToken>) -> Result<Option<Turn<'_>>, ProblemError> {
        let mut is_running = self.lock();
        loop {
            if self.result.get().is_some() {
                return Ok(None);
            }
            if cancellation.is_some_and(CancellationToken::is_cancelled) {
                return Err(ProblemError::Host(Dropped { why: ExecuteError::Cancelled.to_string() }));
            }
            if !*is_running {
                *is_running = true;
                return Ok(Some(Turn(self)));
            }
            is_running = self.ended.wait_timeout(is_running, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // One flag is always consistent.
        self.is_running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.ended.notify_all();
    }
}

/// All tasks of a file.
pub(crate) struct TaskSet {
    file: TaskFile,
    tasks: Vec<Arc<LoadedTask>>,
    by_id: HashMap<String, usize>,
    /// What is wrong with rows that are no task, by their names.
    faults_by_id: HashMap<String, String>,
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
        let mut file = read_problems(path, format, options).or_fail(ExitCode::Input)?;
        let mut set = Self {
            file: TaskFile { path: path.to_owned(), format: format.name, options: *options },
            tasks: Vec::with_capacity(file.rows.len()),
            by_id: HashMap::new(),
            faults_by_id: HashMap::new(),
            bad: 0,
            faults: RowFaults::default(),
        };
        file.bad.iter().for_each(|bad| set.report_bad_row(bad));
        let mut first_bad = file.bad.first().map(ToString::to_string);
        // In a file of several kinds a judge is for those that it takes. One that takes none of them is refused.
        let is_judge_of_some = file.rows.iter_mut().any(|(_, row)| overrides.has_judge_for(row));
        let without_judge = TaskOverrides { judge: None, ..overrides.clone() };
        for (line, mut row) in file.rows {
            let is_left_out = is_judge_of_some && !overrides.has_judge_for(&mut row);
            let overrides = if is_left_out { &without_judge } else { overrides };
            overrides.apply(&mut row)?;
            match check_row(&row) {
                Ok(()) => set.push(row),
                Err(reason) => {
                    let task_id = Some(row.task_id().to_owned());
                    let bad = InvalidRow { path: path.to_owned(), line, task_id, field: String::new(), reason };
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
        tracing::info!(tasks = set.tasks.len(), bad_rows = set.bad, "tasks read");
        Ok(set)
    }

    fn report_bad_row(&mut self, bad: &InvalidRow) {
        self.faults.report(&bad.fault(), bad);
        self.bad += 1;
        if let Some(task_id) = &bad.task_id {
            self.faults_by_id.entry(task_id.clone()).or_insert_with(|| bad.fault());
        }
    }

    /// What is wrong with the row of that name, where it is no task.
    pub(super) fn fault(&self, task_id: &str) -> Option<&str> {
        self.faults_by_id.get(task_id).map(String::as_str)
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
            "warning: none of the first {} is at a task of `{}`: they name `{wanted}`, and its first task is `{first}`\n\
             hint: give the file of their tasks as `--tasks`{format}",
            counted(count, "attempt"),
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
        ProblemRow::Ready(problem) => check_problem(problem).and_then(|()| check_tests(problem)),
        ProblemRow::Unexecuted(unexecuted) => {
            let nothing = vec![Value::None; unexecuted.inputs.len()];
            let problem = unexecuted.with_expected(nothing).map_err(|error| error.to_string())?;
            check_problem(&problem)
        }
    };
    checked.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn fault(why: &str) -> ProblemError {
        ProblemError::Host(Dropped { why: why.to_owned() })
    }

    fn cancelled() -> CancellationToken {
        let token = CancellationToken::new();
        token.cancel();
        token
    }

    #[test]
    fn who_waits_for_a_reference_stops_when_cancelled_and_the_reference_goes_on() {
        let ((begun, has_begun), (end, ends)) = (channel(), channel());
        let run = &ReferenceRun::default();
        let (first, second) = std::thread::scope(|scope| {
            let reference = move || {
                begun.send(()).expect("the test waits for it");
                ends.recv().expect("the test ends it");
                Err(fault("its own"))
            };
            let first = scope.spawn(move || run.result(None, reference).cloned());
            has_begun.recv().expect("it begins");
            let second = run.result(Some(&cancelled()), || panic!("it runs already")).cloned();
            end.send(()).expect("it waits");
            (first.join().expect("it does not panic"), second)
        });
        assert_eq!((first, second), (Err(fault("its own")), Err(fault("the job was cancelled"))));
        // A result that is there is no wait.
        assert_eq!(run.result(Some(&cancelled()), || panic!("it has run")), Err(fault("its own")));
    }

    #[test]
    fn a_cancelled_attempt_does_not_begin_a_reference_and_a_panic_leaves_it_to_the_next() {
        let run = ReferenceRun::default();
        assert_eq!(run.result(Some(&cancelled()), || panic!("it begins")), Err(fault("the job was cancelled")));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = run.result(None, || panic!("a bug"));
        }));
        assert!(panicked.is_err());
        let token = CancellationToken::new();
        let ends_cancelled = || {
            token.cancel();
            Err(fault("the job was cancelled"))
        };
        assert_eq!(run.result(Some(&token), ends_cancelled), Err(fault("the job was cancelled")));
        assert_eq!(run.result(None, || Err(fault("its own"))), Err(fault("its own")));
    }
}
