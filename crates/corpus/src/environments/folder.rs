//! The environments that a configuration names: built-in ones, and folders of the user's own.

use std::path::Path;

use super::templates::{EnvironmentTemplates, TaskGenerator, TemplateTrial};
use super::{
    EnvironmentCorpus, built_in_environment_names, find_environment_name, parse_environment, read_built_in_file,
};
use crate::CorpusError;
use crate::random::seeded_stream;

/// The documentation that errors name.
const HINT: &str = "the page \"Plug-ins in Python, and your own trainer\" of the documentation has an example, and leads to what each file holds";
/// The longest name, in bytes. It stands in every prompt.
const LONGEST_NAME: usize = 40;

/// An environment with all that tasks in it are made of.
#[derive(Debug, Clone)]
pub struct EnvironmentFolder {
    /// The environment and its hand-written tasks.
    pub corpus: EnvironmentCorpus,
    /// Whether it is the user's own. What is built in, tests have put through the gate.
    pub is_own: bool,
    pub(super) templates: EnvironmentTemplates,
}

/// Draws of each template to try it. A world may refuse many of them: what is out of stock is not sold.
const TRIALS: usize = 32;

impl EnvironmentFolder {
    /// What each of its templates makes by itself: the same whenever it is asked for.
    pub fn template_trials(&self) -> Vec<TemplateTrial> {
        self.templates.draw_trials(TRIALS, &mut seeded_stream(0, "trials of templates"))
    }
}

/// Opens an environment: a built-in one by its name, or a folder by its path. A path has a `/`, as `./shop` does; the folder's name is the
/// environment's.
///
/// # Errors
/// An unknown name, with the known ones; a folder that cannot be read, or a file of it that breaks its format.
///
/// # Panics
/// Never: a test opens all built-in environments.
pub fn open_environment(entry: &str) -> Result<EnvironmentFolder, CorpusError> {
    if entry.contains('/') {
        return open_folder(Path::new(entry));
    }
    let name = find_environment_name(entry)?;
    let read = |file: &str| read_built_in_file(name, file);
    let path = format!("{name}/tasks.toml");
    let corpus = parse_environment(name, read("environment.py"), (&path, read("tasks.toml")))?;
    let templates = EnvironmentTemplates::parse(name, read("templates.toml")).expect("a test reads all templates");
    Ok(EnvironmentFolder { corpus, is_own: false, templates })
}

/// `tasks.toml` may be missing: templates alone make tasks.
fn open_folder(folder: &Path) -> Result<EnvironmentFolder, CorpusError> {
    let refuse = |path: &Path, problem: String| {
        let (path, hint) = (path.display().to_string(), HINT.to_owned());
        CorpusError::Environment { path, problem, hint }
    };
    let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_environment_name(name));
    let name = name.ok_or_else(|| {
        let want = "the name of the folder is not lower-case letters, digits and `_`, from a letter on";
        refuse(folder, format!("{want}, at most {LONGEST_NAME} of them"))
    })?;
    if built_in_environment_names().contains(&name) {
        return Err(refuse(folder, format!("`{name}` is the name of a built-in environment; rename the folder")));
    }
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).map_err(CorpusError::io(&path))
    };
    let tasks_path = folder.join("tasks.toml");
    let tasks = if tasks_path.exists() { read("tasks.toml")? } else { String::new() };
    let corpus = parse_environment(name, &read("environment.py")?, (&tasks_path.display().to_string(), &tasks))?;
    let templates = EnvironmentTemplates::parse(name, &read("templates.toml")?)
        .map_err(|problem| refuse(&folder.join("templates.toml"), problem))?;
    Ok(EnvironmentFolder { corpus, is_own: true, templates })
}

fn is_environment_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= LONGEST_NAME
        && name.bytes().all(is_part)
}

impl TaskGenerator {
    /// A generator for the environments of these names ([`open_environment`]).
    ///
    /// # Errors
    /// When a name is unknown, or there is none.
    pub fn by_name<S: AsRef<str>>(names: &[S]) -> Result<Self, CorpusError> {
        let folders = names.iter().map(|name| open_environment(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
        Self::new(&folders)
    }

    /// A generator for these environments.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(folders: &[EnvironmentFolder]) -> Result<Self, CorpusError> {
        if folders.is_empty() {
            return Err(CorpusError::unknown("environment", "", [""; 0]));
        }
        Ok(Self { environments: folders.iter().map(|folder| folder.templates.clone()).collect() })
    }
}
