//! Errors of corpus data, with file and line.

use std::path::PathBuf;

/// An error in corpus data or in reading it.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A name is unknown.
    #[error("there is no {what} `{name}`\nhint: take one of {known}")]
    Unknown {
        /// The kind of name, such as `family` or `mix`.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A hand-written file breaks its format.
    #[error("{path}:{line}: {problem}\nhint: {hint}")]
    InvalidFile {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong or missing.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// The folder of an environment cannot be one.
    #[error("environment `{path}`: {problem}\nhint: {hint}")]
    Environment {
        /// The folder or file.
        path: String,
        /// What is wrong or missing.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// Two files hold the same program.
    #[error("`{first}` and `{second}` hold the same program\nhint: delete one of them or change its program")]
    Duplicate {
        /// The earlier file in name order.
        first: String,
        /// The later one.
        second: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {cause}\nhint: check that the path exists and that you may read it")]
    Io {
        /// The path.
        path: PathBuf,
        /// Why the operating system refused. The message shows it, so it is no `source()`: reporters that print the chain would repeat it.
        cause: std::io::Error,
    },
}

impl CorpusError {
    /// A hand-written file breaks its format.
    pub(crate) fn invalid_file(path: &str, line: usize, problem: impl Into<String>, hint: &str) -> Self {
        Self::InvalidFile { path: path.to_owned(), line, problem: problem.into(), hint: hint.to_owned() }
    }

    /// For `map_err` on a file-system call.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| CorpusError::Io { path, cause }
    }

    /// A name that is not among `known`.
    pub(crate) fn unknown(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = impl std::fmt::Display>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
        CorpusError::Unknown { what, name: name.to_owned(), known: known.join(", ") }
    }
}
