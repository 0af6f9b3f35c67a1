//! Forgeries: wrong attempts that try to be judged correct, one Markdown file each, and the problems they attack.
//!
//! The tests of the verifier run them all, and a batch may carry some as canaries. A file states the ending that it must get, so that the
//! corpus finds a judge that can be deceived before a training run does. `task-corpus/forgeries/README.md` describes the format.
//! Invariants: no file expects `accepted`; a file that states an ending under split trust states one under shared trust too.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer};
use veriplay_core::{Checks, Problem, Status};

use crate::CorpusError;
use crate::files::{FORGERIES, TextFile, list_files};
use crate::markdown::{MarkdownBlock, MarkdownFile};

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
        let target = parse_target(path, text)?;
        corpus.targets.insert(target.name.clone(), target);
    }
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in attempts {
        let forgery = parse_forgery(path, text, &corpus.targets)?;
        if let Some(earlier) = first.insert(forgery.attempt.clone(), path) {
            return Err(CorpusError::Duplicate { first: earlier.to_owned(), second: path.to_owned() });
        }
        corpus.forgeries.push(forgery);
    }
    Ok(corpus)
}

/// Rows of the catalogue.
const ROWS: u32 = 21;

/// What the `toml` block of a forgery says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgeryHeader {
    rows: Vec<String>,
    #[serde(default)]
    host: BTreeMap<String, ForgeryEnding>,
    #[serde(default)]
    split: BTreeMap<String, ForgeryEnding>,
    #[serde(default)]
    shared: BTreeMap<String, ForgeryEnding>,
    #[serde(default)]
    by_rule: BTreeMap<String, Vec<String>>,
}

impl<'de> Deserialize<'de> for ForgeryEnding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.as_str() {
            "dropped" => Ok(ForgeryEnding::Dropped),
            "undefended" => Ok(ForgeryEnding::Undefended),
            word => {
                let text: StrDeserializer<'_, D::Error> = word.into_deserializer();
                Status::deserialize(text).map(ForgeryEnding::Status)
            }
        }
    }
}

/// What the `toml` block of a problem says besides the Problem record.
#[derive(Debug, Deserialize)]
struct TargetHeader {
    /// Whether split trust cannot judge the honest attempt.
    #[serde(default)]
    unjudgeable: Option<toml::Spanned<bool>>,
}

/// One file: prose, one `toml` block and one `python` or `text` block.
struct ForgerySource<'a> {
    file: MarkdownFile<'a>,
    toml: MarkdownBlock,
    attempt: String,
}

impl<'a> ForgerySource<'a> {
    fn parse(path: &'a str, text: &str) -> Result<Self, CorpusError> {
        let mut file = MarkdownFile::parse(path, text, &["toml", "python", "text"])?;
        file.check_prose()?;
        let toml = file.take_header()?;
        match file.take_only(&["python", "text"])? {
            Some(attempt) => Ok(Self { file, toml, attempt: attempt.text }),
            None => Err(file.error(1, "there is no ```python or ```text block", "add the attempt")),
        }
    }

    /// An error in the `toml` block as a whole.
    fn error(&self, problem: impl Into<String>, hint: &str) -> CorpusError {
        self.file.error(self.toml.line, problem, hint)
    }

    fn parse_header<T: DeserializeOwned>(&self) -> Result<T, CorpusError> {
        self.file.parse_header(&self.toml)
    }
}

/// Parses a problem and a correct attempt at it.
fn parse_target(path: &str, text: &str) -> Result<ForgeryTarget, CorpusError> {
    let mut source = ForgerySource::parse(path, text)?;
    let unjudgeable = take_unjudgeable(&mut source)?;
    let problem: Problem = source.parse_header()?;
    let name = source.file.name.clone();
    if problem.task_id != name {
        return Err(source.error(format!("`task_id` is `{}`", problem.task_id), "name it as the file"));
    }
    if unjudgeable && !matches!(problem.checks, Checks::Tests(_)) {
        return Err(source.error("it is `unjudgeable` without tests", "only test code has a trust to be judged under"));
    }
    Ok(ForgeryTarget { name, problem, honest: source.attempt, unjudgeable })
}

/// Takes the key `unjudgeable` out of the text, so that the rest is the record alone. Its line stays, for the lines of errors.
fn take_unjudgeable(source: &mut ForgerySource<'_>) -> Result<bool, CorpusError> {
    let Some(unjudgeable) = source.parse_header::<TargetHeader>()?.unjudgeable else { return Ok(false) };
    let text = &mut source.toml.text;
    let start = text[..unjudgeable.span().start].rfind('\n').map_or(0, |at| at + 1);
    text.replace_range(start..unjudgeable.span().end, "");
    Ok(unjudgeable.into_inner())
}

/// Parses a forgery of one of `targets`.
fn parse_forgery(path: &str, text: &str, targets: &BTreeMap<String, ForgeryTarget>) -> Result<Forgery, CorpusError> {
    let source = ForgerySource::parse(path, text)?;
    let header: ForgeryHeader = source.parse_header()?;
    check_rows(&source, &header.rows)?;
    check_pairs(&source, &header)?;
    let mut expected = Vec::new();
    for (judging, endings) in
        [(JudgingMode::Host, &header.host), (JudgingMode::Split, &header.split), (JudgingMode::Shared, &header.shared)]
    {
        for (problem, ending) in endings {
            check_ending(&source, targets, problem, judging, *ending)?;
            let by_rule = if judging == JudgingMode::Host { header.by_rule.get(problem) } else { None };
            let by_rule = by_rule.cloned().unwrap_or_default();
            expected.push(ExpectedEnding { problem: problem.clone(), judging, ending: *ending, by_rule });
        }
    }
    let ForgerySource { file, attempt, .. } = source;
    Ok(Forgery { name: file.name, statement: file.prose, rows: header.rows, attempt, expected })
}

fn check_rows(source: &ForgerySource<'_>, rows: &[String]) -> Result<(), CorpusError> {
    let known = |row: &String| {
        let number = row.strip_prefix("8.1/").and_then(|number| number.parse::<u32>().ok());
        row == "3.6" || row == "new" || number.is_some_and(|number| (1..=ROWS).contains(&number))
    };
    match rows.iter().find(|row| !known(row)) {
        Some(row) => {
            Err(source.error(format!("there is no row `{row}`"), "name rows `8.1/1` to `8.1/21`, `3.6` or `new`"))
        }
        None if rows.is_empty() => Err(source.error("`rows` is empty", "say which row it is an example of")),
        None => Ok(()),
    }
}

/// Split and shared trust are told apart file by file, so both must be said.
fn check_pairs(source: &ForgerySource<'_>, header: &ForgeryHeader) -> Result<(), CorpusError> {
    if header.host.is_empty() && header.split.is_empty() {
        return Err(source.error("it attacks no problem", "name one under `[host]` or `[split]`"));
    }
    if !header.split.keys().eq(header.shared.keys()) {
        return Err(source.error("`[split]` and `[shared]` name different problems", "say for each what both give"));
    }
    match header.by_rule.keys().find(|problem| !header.host.contains_key(*problem)) {
        Some(problem) => Err(source.error(format!("`[by_rule]` names `{problem}`"), "name problems of `[host]` alone")),
        None => Ok(()),
    }
}

fn check_ending(
    source: &ForgerySource<'_>,
    targets: &BTreeMap<String, ForgeryTarget>,
    name: &str,
    judging: JudgingMode,
    ending: ForgeryEnding,
) -> Result<(), CorpusError> {
    let Some(target) = targets.get(name) else {
        return Err(source.error(format!("there is no problem `{name}`"), "name a file of `problems`"));
    };
    let of_tests = matches!(target.problem.checks, Checks::Tests(_));
    if of_tests != (judging != JudgingMode::Host) {
        return Err(source.error(format!("`{name}` is not judged that way"), "tests have trust, the rest has a host"));
    }
    match ending {
        ForgeryEnding::Status(Status::Accepted) => {
            Err(source.error(format!("`{name}` is to accept it"), "a forgery is refused, or `undefended` where shared"))
        }
        ForgeryEnding::Undefended if judging != JudgingMode::Shared => {
            Err(source.error(format!("`{name}` is `undefended`"), "only shared trust may have no defence"))
        }
        _ => Ok(()),
    }
}
