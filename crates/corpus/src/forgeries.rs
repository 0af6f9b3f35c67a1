//! Forgeries: attempts to be judged correct without being so, one Markdown file each, and the problems they attack.
//!
//! The tests of the verifier run them all; a batch may carry some as canaries. A file says which ending it must get, so a
//! judge that is talked into a pass is found by the corpus and not by a training run. `task-corpus/forgeries/README.md`
//! is the format. Invariants: no file may ask for `accepted`; what is said about split trust is said about shared trust too.

mod parse;

use std::collections::BTreeMap;
use std::path::Path;

use veriplay_core::{Problem, Status};

use crate::CorpusError;
use crate::files::{FORGERIES, TextFile, list_files};

/// One attempt to be judged correct without being so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgery {
    /// The file's name without its ending.
    pub name: String,
    /// What it tries and why that works elsewhere: the prose, blocks left out.
    pub statement: String,
    /// What it is an example of: `8.1/4` is a row of the catalogue in the README, `3.6` its second list, `new` neither.
    pub rows: Vec<String>,
    /// The attempt: a whole program, or the predicted text.
    pub attempt: String,
    /// What must become of it, one a problem and way of judging.
    pub expected: Vec<Expected>,
}

/// What must become of a forgery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Name of the attacked problem.
    pub problem: String,
    /// How it is judged.
    pub judging: Judging,
    /// The ending it must have.
    pub ending: Ending,
    /// Judges that take its value for right by the rule of their origin: it must be accepted by these alone.
    pub by_rule: Vec<String>,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judging {
    /// The host compares values or texts.
    Host,
    /// Test code in an instance of its own.
    Split,
    /// Test code in the program's own instance.
    Shared,
}

/// How judging a forgery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this verdict; never Accepted.
    Status(Status),
    /// Without a verdict.
    Dropped,
    /// Accepted: there is no defence. Only where program and tests share an instance.
    Undefended,
}

/// A problem that forgeries attack.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The file's name without its ending.
    pub name: String,
    /// The problem; the judge it names is one of many that are tried.
    pub problem: Problem,
    /// An attempt that is right.
    pub honest: String,
    /// Whether split trust cannot judge that attempt: its tests need what cannot cross between two instances.
    pub unjudgeable: bool,
}

/// Forgeries and what they attack.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgeryCorpus {
    /// By name.
    pub targets: BTreeMap<String, Target>,
    /// Sorted by name.
    pub forgeries: Vec<Forgery>,
}

/// The forgeries the binary carries: those of `task-corpus/forgeries/`.
///
/// # Panics
/// Never: a test reads them all.
#[must_use]
pub fn built_in_forgeries() -> ForgeryCorpus {
    parse_forgeries(&list_files(&FORGERIES, "md")).expect("the built-in forgeries are checked by a test")
}

/// Parses forgeries, and the problems that they attack: the files in a folder `problems`.
///
/// # Errors
/// The first file that breaks the format, with its line; two files with the same attempt.
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
