//! Tool environments with hand-written tasks, and a corpus of attempts to cheat there.
//!
//! A folder of `task-corpus/environments/` holds `environment.py`, `tasks.toml` and `templates.toml`; the README there describes them. A
//! folder of the user's own is the same ([`open_environment`]). A hand-written task is not trusted: it passes the same gate as a
//! challenger's. Invariant: no cheat expects to be accepted.

pub mod cheats;
mod folder;
pub mod templates;

pub use folder::{EnvironmentFolder, open_environment};

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Environment};

use crate::CorpusError;
use crate::files::{ENVIRONMENTS, TextFile};

/// An environment and its hand-written tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentCorpus {
    /// Named as its folder.
    pub environment: Environment,
    /// In the order of their file.
    pub tasks: Vec<HandWrittenTask>,
}

/// A task written by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandWrittenTask {
    /// Named `<environment>/<name>`.
    pub task: CodeTask,
    /// Further codes that must not be accepted. Unlike failure cases they may be far from the solution, or crash.
    pub wrong: Vec<String>,
}

/// A row of a file of artifacts, for `veriplay verify --format cat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeTaskRow {
    /// [`veriplay_core::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The artifact.
    pub code_task: CodeTask,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    #[serde(default)]
    task: Vec<TaskEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskEntry {
    name: String,
    instruction: String,
    verify: String,
    solution: String,
    failures: Vec<String>,
    #[serde(default)]
    wrong: Vec<String>,
}

/// The built-in environments: those of `task-corpus/environments/`, sorted by name.
///
/// # Panics
/// Never: a test reads them all.
pub fn built_in_environments() -> Vec<EnvironmentCorpus> {
    let open = |name: &str| open_environment(name).expect("a test opens the built-in environments").corpus;
    built_in_environment_names().into_iter().map(open).collect()
}

/// The names of the built-in environments, sorted.
pub fn built_in_environment_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = ENVIRONMENTS.dirs().filter_map(|dir| dir.path().to_str()).collect();
    names.sort_unstable();
    names
}

fn read_built_in_file(environment: &str, file: &str) -> &'static str {
    let text = ENVIRONMENTS.get_file(format!("{environment}/{file}")).and_then(|file| file.contents_utf8());
    text.unwrap_or_else(|| panic!("environment `{environment}` has no file `{file}`"))
}

/// The built-in environment of that name.
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub fn environment_by_name(name: &str) -> Result<Environment, CorpusError> {
    let name = find_environment_name(name)?;
    Ok(Environment { name: name.to_owned(), source: read_built_in_file(name, "environment.py").to_owned() })
}

fn find_environment_name(name: &str) -> Result<&'static str, CorpusError> {
    let names = built_in_environment_names();
    let found = names.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| CorpusError::unknown("environment", name, names))
}

/// Parses an environment. Errors name the path of its tasks.
///
/// # Errors
/// When a task is incomplete, with its line.
pub fn parse_environment(
    name: &str,
    source: &str,
    (path, tasks): TextFile<'_>,
) -> Result<EnvironmentCorpus, CorpusError> {
    let wrong = |at: usize, problem: String| {
        let line = tasks.get(..at).map_or(0, |before| before.matches('\n').count()) + 1;
        CorpusError::invalid_file(path, line, problem, "task-corpus/environments/README.md says what a task holds")
    };
    let read: TaskFile = toml::from_str(tasks)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', "; ")))?;
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = read.task.iter().find(|task| !seen.insert(task.name.as_str())) {
        let at = tasks.rfind(&format!("name = \"{}\"", twice.name)).unwrap_or(0);
        return Err(wrong(at, format!("a second task `{}`", twice.name)));
    }
    let environment = Environment { name: name.to_owned(), source: source.to_owned() };
    Ok(EnvironmentCorpus { environment, tasks: read.task.into_iter().map(|task| hand_task(name, task)).collect() })
}

fn hand_task(environment: &str, task: TaskEntry) -> HandWrittenTask {
    let TaskEntry { name, instruction, verify, solution, failures, wrong } = task;
    let (task_id, environment) = (format!("{environment}/{name}"), environment.to_owned());
    let instruction = instruction.trim().to_owned();
    HandWrittenTask { task: CodeTask { task_id, environment, instruction, verify, solution, failures }, wrong }
}
