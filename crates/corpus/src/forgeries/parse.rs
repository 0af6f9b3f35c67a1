//! Parses one file of the corpus. A breach of the format is an error with file and line.

use std::collections::BTreeMap;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer};
use veriplay_core::{Checks, Problem, Status};

use super::{ExpectedEnding, Forgery, ForgeryEnding, ForgeryTarget, JudgingMode};
use crate::CorpusError;
use crate::files::file_stem;
use crate::markdown::{self, MarkdownBlock};

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

/// One file: its blocks, and where errors point.
struct ForgerySource<'a> {
    path: &'a str,
    prose: String,
    toml: MarkdownBlock,
    attempt: MarkdownBlock,
}

impl<'a> ForgerySource<'a> {
    /// Prose, one `toml` block and one `python` or `text` block.
    fn parse(path: &'a str, text: &str) -> Result<Self, CorpusError> {
        let fault = |line, problem: String, hint: &str| Err(CorpusError::invalid_file(path, line, problem, hint));
        let (prose, blocks) = match markdown::parse_blocks(text) {
            Ok(parsed) => parsed,
            Err((line, problem)) => return fault(line, problem, "close it with a line of three backquotes"),
        };
        if prose.lines().filter(|line| !line.is_empty()).count() < 2 {
            return fault(1, "there is no prose".to_owned(), "say under a title what this is");
        }
        let (mut toml, mut attempt) = (None, None);
        for block in blocks {
            let place = match block.language.as_str() {
                "toml" => &mut toml,
                "python" | "text" => &mut attempt,
                other => {
                    return fault(block.line, format!("a block of kind `{other}`"), "use `toml`, `python`, `text`");
                }
            };
            if place.is_some() {
                return fault(
                    block.line,
                    format!("a second ```{} block", block.language),
                    "one file holds one attempt",
                );
            }
            *place = Some(block);
        }
        match (toml, attempt) {
            (Some(toml), Some(attempt)) => Ok(Self { path, prose, toml, attempt }),
            (None, _) => fault(1, "there is no ```toml block".to_owned(), "add one as the README says"),
            (_, None) => fault(1, "there is no ```python or ```text block".to_owned(), "add the attempt"),
        }
    }

    /// An error in the `toml` block as a whole.
    fn error(&self, problem: impl Into<String>, hint: &str) -> CorpusError {
        CorpusError::invalid_file(self.path, self.toml.line, problem.into(), hint)
    }

    fn parse_header<T: DeserializeOwned>(&self) -> Result<T, CorpusError> {
        let header = self.toml.parse_toml();
        header.map_err(|(line, problem)| {
            CorpusError::invalid_file(self.path, line, problem, "see the README of the folder for the allowed keys")
        })
    }
}

/// Parses a problem and a correct attempt at it.
pub(super) fn parse_target(path: &str, text: &str) -> Result<ForgeryTarget, CorpusError> {
    let mut source = ForgerySource::parse(path, text)?;
    let unjudgeable = take_unjudgeable(&mut source)?;
    let problem: Problem = source.parse_header()?;
    let name = file_stem(path);
    if problem.task_id != name {
        return Err(source.error(format!("`task_id` is `{}`", problem.task_id), "name it as the file"));
    }
    if unjudgeable && !matches!(problem.checks, Checks::Tests(_)) {
        return Err(source.error("it is `unjudgeable` without tests", "only test code has a trust to be judged under"));
    }
    Ok(ForgeryTarget { name, problem, honest: source.attempt.text, unjudgeable })
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
pub(super) fn parse_forgery(
    path: &str,
    text: &str,
    targets: &BTreeMap<String, ForgeryTarget>,
) -> Result<Forgery, CorpusError> {
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
    let name = file_stem(path);
    Ok(Forgery { name, statement: source.prose, rows: header.rows, attempt: source.attempt.text, expected })
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
