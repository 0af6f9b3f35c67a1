//! The records of a run of tests, as the guest reports them. What it says is untrusted: an answer of another form counts as none.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Value};

/// What `run_pytest.py` puts before the reason of a file that is skipped as a whole.
pub(super) const SKIPPED_FILE: &str = "skipped: ";

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It and its fixtures passed.
    Passed,
    /// It failed.
    Failed,
    /// A fixture failed.
    Error,
    /// It was skipped.
    Skipped,
    /// It failed, as its mark expects.
    Xfailed,
    /// It passed, although its mark expects a failure.
    Xpassed,
    /// It stopped the interpreter, or exceeded a limit.
    Stopped,
    /// pytest reported no result.
    Missing,
}

/// Names by the module they were taken of.
pub type StarredNames = BTreeMap<String, Vec<String>>;

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRecord {
    /// pytest's id.
    pub id: String,
    /// Its result.
    pub result: TestResult,
    /// The reason, for people.
    pub text: String,
    /// What the package did to objects of the test and to names that it read, each with the call that did it: `2 parcel.labels.put 0`.
    /// Known of runs in two instances.
    pub changes: Vec<String>,
}

/// A run of one test file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRun {
    /// One record per test, in the order of pytest, with distinct ids.
    pub tests: Vec<TestRecord>,
    /// Why there are no records at all.
    pub broken: Option<String>,
    /// Whether it is broken by an error while pytest collected it, as of a module that is not there, and not by what stops the interpreter.
    pub uncollected: bool,
    /// The names that `import *` took of each module of the package. Known of runs in two instances.
    pub starred: StarredNames,
    /// Digests of its jobs.
    pub jobs: Vec<Digest>,
    /// The fuel of all its jobs.
    pub fuel: u64,
    /// Whether a job met its wall-clock deadline, so that another run may have other records.
    pub met_deadline: bool,
}

/// The records of a test file, and the functions that its run entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileCoverage {
    /// Entered functions of the repository outside the test file.
    pub(crate) functions: Vec<Function>,
    pub(crate) tests: Vec<TestRecord>,
}

/// A function, or the body of a class or module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its file.
    pub path: String,
    /// Its qualified name, as `__qualname__`; `<module>` for the body of a module.
    pub name: String,
}

/// Why a call has no answer about tests.
pub(super) enum AnswerError {
    /// pytest cannot collect the file.
    Broken(String),
    /// There is no answer, or it cannot be parsed.
    Stopped(String),
}

pub(super) fn first_duplicate(tests: &[TestRecord]) -> Option<&str> {
    let mut seen = HashSet::new();
    tests.iter().map(|test| test.id.as_str()).find(|id| !seen.insert(*id))
}

pub(super) fn stopped_record(id: &str, text: String) -> TestRecord {
    TestRecord { id: id.to_owned(), result: TestResult::Stopped, text, changes: Vec::new() }
}

/// Splits an answer that is not `broken` into its two parts.
fn parse_answer(answer: &Value) -> Result<(&str, &[Value]), AnswerError> {
    match tuple(answer) {
        Some([Value::Str(word), Value::Str(why)]) if word == "broken" => Err(AnswerError::Broken(why.clone())),
        Some([Value::Str(word), Value::List(items)]) => Ok((word, items)),
        _ => Err(AnswerError::Stopped("an answer that is no record".to_owned())),
    }
}

pub(super) fn parse_ids(answer: &Value) -> Result<Vec<String>, AnswerError> {
    let (_, items) = parse_answer(answer)?;
    items
        .iter()
        .map(text)
        .collect::<Option<_>>()
        .ok_or_else(|| AnswerError::Stopped("an id that is no text".to_owned()))
}

pub(super) fn parse_records(answer: &Value) -> Result<Vec<TestRecord>, AnswerError> {
    let items = match parse_answer(answer)? {
        ("split", [Value::List(items), _]) => items,
        (_, items) => items,
    };
    let records: Option<Vec<TestRecord>> = items.iter().map(parse_record).collect();
    records.ok_or_else(|| AnswerError::Stopped("a record that is none".to_owned()))
}

/// The names that `import *` took, of a run in two instances.
pub(super) fn parse_starred(answer: &Value) -> Result<StarredNames, AnswerError> {
    let ("split", [_, Value::List(rows)]) = parse_answer(answer)? else { return Ok(StarredNames::new()) };
    let names: Option<StarredNames> = rows.iter().map(parse_starred_row).collect();
    names.ok_or_else(|| AnswerError::Stopped("names that are no texts".to_owned()))
}

fn parse_starred_row(row: &Value) -> Option<(String, Vec<String>)> {
    let [Value::Str(module), names] = tuple(row)? else { return None };
    Some((module.clone(), texts(names)?))
}

pub(super) fn parse_coverage(answer: &Value) -> Option<FileCoverage> {
    let Ok(("covered", [Value::List(rows), Value::List(functions)])) = parse_answer(answer) else { return None };
    let functions = functions.iter().map(parse_function).collect::<Option<Vec<_>>>()?;
    Some(FileCoverage { functions, tests: rows.iter().map(parse_record).collect::<Option<Vec<_>>>()? })
}

fn parse_function(item: &Value) -> Option<Function> {
    let [Value::Str(path), Value::Str(name)] = tuple(item)? else { return None };
    Some(Function { path: path.clone(), name: name.clone() })
}

fn parse_record(item: &Value) -> Option<TestRecord> {
    let [Value::Str(id), Value::Str(word), Value::Str(text), changes] = tuple(item)? else { return None };
    let result = match word.as_str() {
        "passed" => TestResult::Passed,
        "failed" => TestResult::Failed,
        "error" => TestResult::Error,
        "skipped" => TestResult::Skipped,
        "xfailed" => TestResult::Xfailed,
        "xpassed" => TestResult::Xpassed,
        "missing" => TestResult::Missing,
        _ => return None,
    };
    Some(TestRecord { id: id.clone(), result, text: text.clone(), changes: texts(changes)? })
}

/// The parts of a tuple.
pub(crate) fn tuple(value: &Value) -> Option<&[Value]> {
    if let Value::Tuple(parts) = value { Some(parts) } else { None }
}

/// The items of a list of texts.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    if let Value::List(items) = value { items.iter().map(text).collect() } else { None }
}

fn text(value: &Value) -> Option<String> {
    if let Value::Str(text) = value { Some(text.clone()) } else { None }
}
