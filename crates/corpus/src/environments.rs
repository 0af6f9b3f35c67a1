//! Environments of tools with tasks written by hand, and the corpus of attempts to cheat there.
//!
//! The game `self_challenge`, `veriplay verify --format cat` and the tests call this. A folder of
//! `task-corpus/environments/` holds `environment.py` and `tasks.toml`; its README is the format of both. A hand-written
//! task is not trusted: it passes the same gate as a challenger's. Invariant: no cheat may ask to be accepted.

pub mod cheats;
mod embedded;
pub mod templates;

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Environment};

use crate::CorpusError;

/// An environment with its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentCorpus {
    /// Named as its folder.
    pub environment: Environment,
    /// In the order of their file.
    pub tasks: Vec<HandTask>,
}

/// A task written by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandTask {
    /// Named `<environment>/<name>`.
    pub task: CodeTask,
    /// Further codes that must not be accepted; unlike failure cases they may be far from the solution, or crash.
    pub wrong: Vec<String>,
}

/// A row of a file of artifacts, as `veriplay verify --format cat` reads it.
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
struct TaskText {
    task: Vec<OneTask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneTask {
    name: String,
    instruction: String,
    verify: String,
    solution: String,
    failures: Vec<String>,
    #[serde(default)]
    wrong: Vec<String>,
}

/// The environments the binary carries: those of `task-corpus/environments/`, sorted by name.
///
/// # Panics
/// Never: a test reads them all.
#[must_use]
pub fn embedded_environments() -> Vec<EnvironmentCorpus> {
    let read =
        |(name, source, tasks): &(&str, &str, &str)| corpus_of(name, source, &format!("{name}/tasks.toml"), tasks);
    embedded::FOLDERS
        .iter()
        .map(read)
        .collect::<Result<_, _>>()
        .expect("the embedded environments are checked by a test")
}

/// The names of the embedded environments, in the order of the list, for the test that compares them with the directory.
#[must_use]
pub fn embedded_environment_names() -> Vec<&'static str> {
    embedded::FOLDERS.iter().map(|(name, _, _)| *name).collect()
}

/// The embedded environment of that name.
///
/// # Errors
/// There is none; the error names those there are.
pub fn environment_by_name(name: &str) -> Result<Environment, CorpusError> {
    let found = embedded::FOLDERS.iter().find(|(known, _, _)| *known == name);
    let unknown = || {
        let known: Vec<String> = embedded_environment_names().into_iter().map(str::to_owned).collect();
        CorpusError::unknown("environment", name, known.iter())
    };
    let (name, source, _) = found.ok_or_else(unknown)?;
    Ok(Environment { name: (*name).to_owned(), source: (*source).to_owned() })
}

/// Reads the folders of `dir`, sorted by name.
///
/// # Errors
/// The first folder that is not complete, with file and line; a file that cannot be read.
pub fn read_environments(dir: &Path) -> Result<Vec<EnvironmentCorpus>, CorpusError> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(CorpusError::io("read", dir))? {
        let path = entry.map_err(CorpusError::io("read", dir))?.path();
        folders.extend(path.is_dir().then_some(path));
    }
    folders.sort();
    folders.iter().map(|folder| read_folder(folder)).collect()
}

fn read_folder(folder: &Path) -> Result<EnvironmentCorpus, CorpusError> {
    let read = |file: &str| {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).map_err(CorpusError::io("read", &path))?;
        Ok::<_, CorpusError>((path.display().to_string(), text))
    };
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let ((_, source), (path, tasks)) = (read("environment.py")?, read("tasks.toml")?);
    corpus_of(&name, &source, &path, &tasks)
}

fn corpus_of(name: &str, source: &str, path: &str, tasks: &str) -> Result<EnvironmentCorpus, CorpusError> {
    let wrong = |at: usize, problem: String| CorpusError::Seed {
        path: path.to_owned(),
        line: tasks.get(..at).map_or(0, |before| before.matches('\n').count()) + 1,
        problem,
        hint: "task-corpus/environments/README.md says what a task holds".to_owned(),
    };
    let read: TaskText = toml::from_str(tasks)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', "; ")))?;
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = read.task.iter().find(|task| !seen.insert(task.name.as_str())) {
        let at = tasks.rfind(&format!("name = \"{}\"", twice.name)).unwrap_or(0);
        return Err(wrong(at, format!("a second task `{}`", twice.name)));
    }
    let environment = Environment { name: name.to_owned(), source: source.to_owned() };
    Ok(EnvironmentCorpus { environment, tasks: read.task.into_iter().map(|task| hand_task(name, task)).collect() })
}

fn hand_task(environment: &str, task: OneTask) -> HandTask {
    let OneTask { name, instruction, verify, solution, failures, wrong } = task;
    let (task_id, environment) = (format!("{environment}/{name}"), environment.to_owned());
    let instruction = instruction.trim().to_owned();
    HandTask { task: CodeTask { task_id, environment, instruction, verify, solution, failures }, wrong }
}
