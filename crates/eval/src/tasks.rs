//! The tasks: the rows of their file, with the overrides of the command line.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress::counted;
use veriplay_core::ProblemRow;
use veriplay_corpus::{InvalidRow, ProblemFormat, ReadOptions, RowFault, matching_formats, read_problems};
use veriplay_verifier::{
    LoadedTask, OpenImage, ProblemError, TaskContext, TaskOverrides, UselessOverride, check_checker_images,
    check_image, check_memory, checker_images,
};

use super::faults::RowFaults;

/// All tasks of a file.
pub struct TaskSet {
    file: TaskFile,
    tasks: Vec<Arc<LoadedTask>>,
    /// The line in which the row of each begins.
    lines: Vec<usize>,
    by_id: HashMap<String, usize>,
    /// What is wrong with rows that are no task, by their names.
    faults_by_id: HashMap<String, String>,
    /// Rows that are no task.
    pub bad: u64,
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
    pub fn read(
        path: &Path,
        format: &ProblemFormat,
        options: &ReadOptions,
        overrides: &TaskOverrides,
        layout_hint: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut file = read_problems(path, format, options).or_fail(ExitCode::Input)?;
        let mut set = Self {
            file: TaskFile { path: path.to_owned(), format: format.name, options: options.clone() },
            tasks: Vec::with_capacity(file.rows.len()),
            lines: Vec::with_capacity(file.rows.len()),
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
            overrides.apply(&mut row).map_err(|useless| refuse_override(&useless))?;
            let row = Arc::new(row);
            match LoadedTask::new(Arc::clone(&row)) {
                Ok(task) => set.push(Arc::new(task), line),
                Err(error) => {
                    let bad = refused_row(path, line, &row, &error);
                    set.report_bad_row(&bad);
                    first_bad.get_or_insert_with(|| bad.to_string());
                }
            }
        }
        set.faults.report_counts(path);
        if set.tasks.is_empty() {
            let hint = layout_hint.map_or_else(|| set.file.format_hint(), str::to_owned);
            return Err(set.without_task(first_bad).hint(hint));
        }
        tracing::info!(tasks = set.tasks.len(), bad_rows = set.bad, "tasks read");
        Ok(set)
    }

    /// Refuses a file with a task whose programs run in none of the images of these names.
    pub fn check_images(&self, images: &[&str]) -> Result<(), Failure> {
        let wrong = self.tasks.iter().find_map(|task| misfit(task.row(), images));
        wrong.map_or(Ok(()), |error| {
            let hint = "name an image of each language, as in `veriplay verify --image python,cpp`";
            Err(Failure::message(ExitCode::Input, error).hint(hint))
        })
    }

    /// The images beside these, in which programs run, that the checkers and interactors of tasks run in.
    pub fn checker_images(&self, images: &[&str]) -> Vec<&'static str> {
        let needed = self.tasks.iter().flat_map(|task| checker_images_of(task.row(), images));
        needed.filter(|needed| !images.contains(needed)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Refuses a file with a task whose checker or interactor runs in another image than these, of which one is that of its programs.
    pub fn check_checkers(&self, images: &[&str]) -> Result<(), Failure> {
        let check = |row| check_checker_images(row, image_of(row, images)?, images).err();
        let wrong = self.tasks.iter().find_map(|task| check(task.row()));
        wrong.map_or(Ok(()), |error| Err(Failure::message(ExitCode::Input, error).hint("leave the task out")))
    }

    /// Refuses each task whose jobs may have less memory than one of the `open` images needs which it runs in. Its programs run in one of these contexts.
    pub fn refuse_small_memory(&mut self, contexts: &[TaskContext<'_>], open: &[OpenImage]) -> Result<(), Failure> {
        let (tasks, lines) = (mem::take(&mut self.tasks), mem::take(&mut self.lines));
        let (mut faults, mut first_bad) = (RowFaults::default(), None);
        self.by_id.clear();
        for (task, line) in tasks.into_iter().zip(lines) {
            let Err(error) = check_memory_of(task.row(), contexts, open) else {
                self.push(task, line);
                continue;
            };
            let bad = refused_row(&self.file.path, line, task.row(), &error);
            faults.report("its jobs may have less memory than an image needs itself", &bad);
            self.count_bad_row(&bad);
            first_bad.get_or_insert_with(|| bad.to_string());
        }
        faults.report_counts(&self.file.path);
        match self.tasks.is_empty() {
            true => Err(self.without_task(first_bad).hint("set `memory_bytes` of their limits to more")),
            false => Ok(()),
        }
    }

    /// The failure of a file without a task, whose first row that is none is described.
    fn without_task(&self, first_bad: Option<String>) -> Failure {
        let why = first_bad.map_or_else(|| "it has no row".to_owned(), |bad| format!("the first row is bad: {bad}"));
        let what = format!("`{}` holds no task that can be judged; {why}", self.file.path.display());
        Failure::message(ExitCode::Input, what)
    }

    fn report_bad_row(&mut self, bad: &InvalidRow) {
        self.faults.report(&bad.fault(), bad);
        self.count_bad_row(bad);
    }

    fn count_bad_row(&mut self, bad: &InvalidRow) {
        self.bad += 1;
        if let Some(task_id) = &bad.task_id {
            self.faults_by_id.entry(task_id.clone()).or_insert_with(|| bad.fault());
        }
    }

    /// What is wrong with the row of that name, where it is no task.
    pub(super) fn fault(&self, task_id: &str) -> Option<&str> {
        self.faults_by_id.get(task_id).map(String::as_str)
    }

    fn push(&mut self, task: Arc<LoadedTask>, line: usize) {
        self.by_id.insert(task.row().task_id().to_owned(), self.tasks.len());
        self.tasks.push(task);
        self.lines.push(line);
    }

    /// What is said where the first `count` attempts, and the attempt at `wanted` among them, are at none of the tasks.
    pub(super) fn other_tasks_warning(&self, count: u64, wanted: &str) -> String {
        let first = self.tasks.first().map_or("", |task| task.row().task_id());
        let format = self.file.other_formats().map_or_else(String::new, |others| format!(", or read it with {others}"));
        format!(
            "warning: none of the first {} is at a task of `{}`: they name `{wanted}`, and its first task is `{first}`\n\
             hint: give the file of their tasks as `--tasks`{format}",
            counted(count, "attempt"),
            self.file.path.display()
        )
    }

    /// How many tasks there are.
    pub fn count(&self) -> usize {
        self.tasks.len()
    }

    /// Index of the task of that name.
    pub fn index(&self, task_id: &str) -> Option<usize> {
        self.by_id.get(task_id).copied()
    }

    /// The task at `index`.
    pub fn task(&self, index: usize) -> &Arc<LoadedTask> {
        &self.tasks[index]
    }
}

/// The row that begins in this line of a file, and why attempts at it cannot be judged.
fn refused_row(path: &Path, line: usize, row: &ProblemRow, error: &ProblemError) -> InvalidRow {
    let fault = RowFault { field: String::new(), reason: error.to_string() };
    InvalidRow { task_id: Some(row.task_id().to_owned()), ..InvalidRow::new(path, line, fault) }
}

/// Checks that jobs of the row may have the memory that its images need. Its programs run in one of these contexts.
fn check_memory_of(row: &ProblemRow, contexts: &[TaskContext<'_>], open: &[OpenImage]) -> Result<(), ProblemError> {
    let Some(context) = context_of(contexts, row) else { return Ok(()) };
    let limits = row.limits().apply(context.conditions.limits);
    check_memory(row, context.image, limits.memory_bytes, open)
}

/// Why programs of the row do not run in the first of these images, where they run in none.
fn misfit(row: &ProblemRow, images: &[&str]) -> Option<ProblemError> {
    let mut checks = images.iter().map(|image| check_image(row, image));
    let first = checks.next()?.err()?;
    checks.all(|check| check.is_err()).then_some(first)
}

/// That of the images in which programs of the row run.
pub(super) fn image_of<'i>(row: &ProblemRow, images: &[&'i str]) -> Option<&'i str> {
    images.iter().copied().find(|image| check_image(row, image).is_ok())
}

/// The images of the row's checker and interactor, where those are others than that of its programs, which is one of these.
fn checker_images_of(row: &ProblemRow, images: &[&str]) -> Vec<&'static str> {
    image_of(row, images).map(|image| checker_images(row, image)).unwrap_or_default()
}

/// The context in which programs of the row run, where it is one of these.
pub(super) fn context_of<'c, 'a>(contexts: &'c [TaskContext<'a>], row: &ProblemRow) -> Option<&'c TaskContext<'a>> {
    contexts.iter().find(|context| check_image(row, context.image).is_ok())
}

/// The failure of a command whose option does not apply to one of its tasks.
fn refuse_override(useless: &UselessOverride) -> Failure {
    Failure::message(ExitCode::Input, useless.to_string()).hint(format!("omit `--{}`", useless.option))
}
