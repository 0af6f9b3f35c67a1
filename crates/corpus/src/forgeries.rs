//! Forgeries: wrong attempts that try to be judged correct, one Markdown file each, and the problems they attack.
//!
//! The tests of the verifier run them all, and a batch may carry some as canaries. A file states the ending that it must get, so that the
//! corpus finds a judge that can be deceived before a training run does. `task-corpus/forgeries/README.md` describes the format.
//! Invariants: no file expects `accepted`; a file that states an ending under split trust states one under shared trust too.

mod parse;

use std::collections::BTreeMap;
use std::path::Path;

use veriplay_core::{Problem, Status};

use crate::CorpusError;
use crate::files::{FORGERIES, TextFile, list_files};

/// A wrong attempt that tries to be judged correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgery {
    /// The file's name without its ending.
    pub name: String,
    /// The prose without blocks: what it tries, and why that works elsewhere.
    pub statement: String,
    /// The rows of the catalogue it is an example of: `8.1/4` is a row in the README, `3.6` its second list, `new` neither.
    pub rows: Vec<String>,
    /// The attempt: a whole program, or the predicted text.
    pub attempt: String,
    /// The endings it must get, one for each problem and mode of judging.
    pub expected: Vec<ExpectedEnding>,
}

/// The ending that a forgery must get at one problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedEnding {
    /// Name of the attacked problem.
    pub problem: String,
    /// The mode of judging.
    pub judging: JudgingMode,
    /// The ending it must have.
    pub ending: ForgeryEnding,
    /// Judges whose published rule accepts its value. These, and no others, must accept it.
    pub by_rule: Vec<String>,
}

/// Where a forgery is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JudgingMode {
    /// The host compares values or texts.
    Host,
    /// Test code in an instance of its own.
    Split,
    /// Test code in the program's own instance.
    Shared,
}

/// How judging a forgery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeryEnding {
    /// It gets this status, which is never Accepted.
    Status(Status),
    /// It gets no verdict.
    Dropped,
    /// It is accepted, because there is no defence. Only where program and tests share an instance.
    Undefended,
}

/// A problem that forgeries attack.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgeryTarget {
    /// The file's name without its ending.
    pub name: String,
    /// The problem. Other judges than the one it names are tried too.
    pub problem: Problem,
    /// A correct attempt.
    pub honest: String,
    /// Whether split trust cannot judge that attempt, because its tests need what cannot cross between two instances.
    pub unjudgeable: bool,
}

/// Forgeries and what they attack.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgeryCorpus {
    /// By name.
    pub targets: BTreeMap<String, ForgeryTarget>,
    /// Sorted by name.
    pub forgeries: Vec<Forgery>,
}

/// The built-in forgeries: those of `task-corpus/forgeries/`.
///
/// # Panics
/// Never: a test reads them all.
pub fn built_in_forgeries() -> ForgeryCorpus {
    parse_forgeries(&list_files(&FORGERIES, "md")).expect("the built-in forgeries are checked by a test")
}

/// Parses forgeries, and the problems that they attack: the files in a folder `problems`.
///
/// # Errors
/// When a file breaks the format, with its line, or two files have the same attempt.
pub fn parse_forgeries(files: &[TextFile<'_>]) -> Result<ForgeryCorpus, CorpusError> {
    let is_problem = |path: &str| Path::new(path).parent().is_some_and(|folder| folder.ends_with("problems"));
    let (problems, attempts): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is_problem(path));
    let mut corpus = ForgeryCorpus { targets: BTreeMap::new(), forgeries: Vec::new() };
    for (path, text) in problems {
        let target = parse::parse_target(path, text)?;
        corpus.targets.insert(target.name.clone(), target);
    }
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in attempts {
        let forgery = parse::parse_forgery(path, text, &corpus.targets)?;
        if let Some(earlier) = first.insert(forgery.attempt.clone(), path) {
            return Err(CorpusError::Duplicate { first: earlier.to_owned(), second: path.to_owned() });
        }
        corpus.forgeries.push(forgery);
    }
    Ok(corpus)
}
