//! Files and directories that a configuration names, and that whoever writes it may have to fetch or to make first. None of them is opened.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::progress::counted;
use veriplay_repository::{Requirement, find_repository_directory};

/// What a key of a configuration names, and where that is on this machine.
#[derive(Debug)]
pub struct NamedFile {
    key: &'static str,
    name: String,
    path: PathBuf,
    /// How to have it.
    advice: String,
}

impl NamedFile {
    /// What `key` names; `advice` says how to have it.
    pub fn new(key: &'static str, path: &Path, advice: String) -> Self {
        Self { key, name: path.display().to_string(), path: path.to_owned(), advice }
    }

    /// The repositories that a key lists, without the built-in ones.
    pub fn repositories(key: &'static str, names: &[String]) -> Result<Vec<Self>, Failure> {
        let mut found = Vec::new();
        for name in names {
            let Some(path) = find_repository_directory(name)? else { continue };
            let advice = match Requirement::from_str(name) {
                Ok(_) => format!("`veriplay corpus add-repo {name}` fetches it"),
                Err(_) => "put its sources there, or name a package as NAME==VERSION".to_owned(),
            };
            found.push(Self { key, name: name.clone(), path, advice });
        }
        Ok(found)
    }

    /// Whether there is nothing of its name.
    pub fn is_missing(&self) -> bool {
        !self.path.exists()
    }
}

/// Refuses a configuration of whose files some are missing. All of them are named: each may take minutes to fetch or to make.
pub fn refuse_missing(files: &[NamedFile]) -> Result<(), Failure> {
    let missing: Vec<String> =
        files.iter().filter(|file| file.is_missing()).map(|file| format!("\n  {file}")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("{} of the configuration cannot be found:{}", counted(missing.len(), "path"), missing.concat());
    Err(Failure::message(ExitCode::Input, what).hint("relative paths begin at the working directory"))
}

impl Display for NamedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, name, advice, .. } = self;
        write!(f, "`{name}` of `{key}`: {advice}")
    }
}
