//! Readers of problems and attempts: our own rows and the public sets as they are published. `veriplay verify` calls them.
//!
//! Each format is one file and one line in [`PROBLEM_FORMATS`]. Invariants: nothing of a row is ever evaluated or unpickled;
//! a bad row is reported with its line and field and the rest goes on; nothing is read but the file that was named.

mod apps;
mod attempts;
mod cat;
mod cruxeval;
mod evalplus;
mod fields;
mod humaneval;
mod livecodebench;
mod mbpp;
mod mbpp_plus;
mod pickle;
mod pyjson;
mod rows;
mod unexecuted;
mod veriplay;

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use serde::Serialize;
use veriplay_core::{Checks, Predicted, Problem};

use crate::CorpusError;
use fields::Fault;
use rows::Rows;

pub use attempts::{AttemptBody, AttemptRow, AttemptRows, parse_attempts, read_attempts};
pub use unexecuted::{Expects, Unexecuted, WrongCount};

/// All formats of problems.
pub const PROBLEM_FORMATS: &[ProblemFormat] = &[
    veriplay::FORMAT,
    humaneval::FORMAT,
    mbpp::FORMAT,
    evalplus::FORMAT,
    livecodebench::FORMAT,
    cruxeval::FORMAT,
    apps::FORMAT,
    cat::FORMAT,
];

/// One way problems are written down.
#[derive(Debug, Clone, Copy)]
pub struct ProblemFormat {
    /// What `--format` calls it.
    pub name: &'static str,
    parse: fn(&RowText<'_>) -> Result<ProblemRow, Fault>,
}

/// What a format's reader gets of a row.
struct RowText<'a> {
    text: &'a str,
    /// Index of the row in the file, from 0: the name of a row without one.
    index: usize,
    options: &'a ReadOptions,
}

/// How problems are read.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// What attempts at `cruxeval` rows name.
    pub predict: Predicted,
    /// Bytes of one row at most, of one array, and of what one row's compressed tests become.
    pub max_row_bytes: u64,
}

impl Default for ReadOptions {
    /// Outputs, and rows of at most 1 GiB: the largest published row has some 100 MiB.
    fn default() -> Self {
        Self { predict: Predicted::Output, max_row_bytes: 1 << 30 }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ProblemRow {
    /// A problem that can be judged as it is.
    Ready(Problem),
    /// A problem whose expected values must be executed first.
    Unexecuted(Unexecuted),
}

impl ProblemRow {
    /// The set's own name for it.
    #[must_use]
    pub fn task_id(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.task_id,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.task_id,
        }
    }

    /// What is put before a completion.
    #[must_use]
    pub fn prompt(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.prompt,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.prompt,
        }
    }

    /// Whether an attempt names a value instead of being a program.
    #[must_use]
    pub const fn is_prediction(&self) -> bool {
        matches!(self, ProblemRow::Ready(Problem { checks: Checks::Prediction(_), .. }))
    }
}

/// What a file of problems holds.
#[derive(Debug, Default)]
pub struct ProblemFile {
    /// The rows, in file order, each task id once, each with the line it starts in.
    pub rows: Vec<(usize, ProblemRow)>,
    /// Rows that could not be read; the others could.
    pub bad: Vec<BadRow>,
}

/// A row that is not what its file should hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {}{reason}", field_text(field), path = path.display())]
pub struct BadRow {
    /// The file.
    pub path: PathBuf,
    /// Line the row starts in, from 1.
    pub line: usize,
    /// Path of the field it is about, such as `metadata.func_name`; empty for the row as a whole.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl BadRow {
    fn new(path: &Path, line: usize, fault: Fault) -> Self {
        Self { path: path.to_owned(), line, field: fault.field, reason: fault.reason }
    }
}

fn field_text(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("field `{field}`: ") }
}

/// The format of that name.
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub fn problem_format(name: &str) -> Result<&'static ProblemFormat, CorpusError> {
    let known: Vec<String> = PROBLEM_FORMATS.iter().map(|format| format.name.to_owned()).collect();
    let found = PROBLEM_FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| CorpusError::unknown("format of problems", name, known.iter()))
}

/// Reads a file of problems: JSONL or one JSON array, plain or gzip. Bad rows, and rows that repeat a task id, are reported
/// in [`ProblemFile::bad`] and left out.
///
/// # Errors
/// The file cannot be read, or is damaged gzip.
pub fn read_problems(path: &Path, format: &ProblemFormat, options: &ReadOptions) -> Result<ProblemFile, CorpusError> {
    problems_of(path, Rows::open(path, options.max_row_bytes)?, format, options)
}

/// As [`read_problems`], of `bytes` in place of a file; errors name `origin`.
///
/// # Errors
/// The bytes are damaged gzip.
pub fn parse_problems(
    origin: &Path,
    bytes: Vec<u8>,
    format: &ProblemFormat,
    options: &ReadOptions,
) -> Result<ProblemFile, CorpusError> {
    problems_of(origin, Rows::over(origin, Cursor::new(bytes), options.max_row_bytes)?, format, options)
}

fn problems_of(
    path: &Path,
    rows: Rows,
    format: &ProblemFormat,
    options: &ReadOptions,
) -> Result<ProblemFile, CorpusError> {
    let mut file = ProblemFile::default();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (index, raw) in rows.enumerate() {
        let raw = raw?;
        let row = raw.text.map_err(|reason| Fault::new("", reason));
        let row = row.and_then(|text| (format.parse)(&RowText { text: &text, index, options }));
        match row.and_then(|row| new_id(&mut lines, row, raw.line)) {
            Ok(row) => file.rows.push((raw.line, row)),
            Err(fault) => file.bad.push(BadRow::new(path, raw.line, fault)),
        }
    }
    Ok(file)
}

fn new_id(lines: &mut HashMap<String, usize>, row: ProblemRow, line: usize) -> Result<ProblemRow, Fault> {
    match lines.get(row.task_id()) {
        Some(first) => Err(Fault::new("task_id", format!("`{}` stands in line {first} already", row.task_id()))),
        None => {
            lines.insert(row.task_id().to_owned(), line);
            Ok(row)
        }
    }
}
