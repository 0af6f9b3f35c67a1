//! The attempts file: one JSON object a row, `{"task_id", "attempt_id"?, "completion"}`, or `"program"` in place of
//! `"completion"` (or `"solution"`, as EvalPlus calls it). Other fields are not looked at. Half of a character that a model's text was cut in, a
//! lone surrogate, makes no row invalid: with it in a program, the program does not compile.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use veriplay_core::AttemptText;

use super::InvalidRow;
use super::fields::{Fields, RowFault};
use super::rows::{RawRow, Rows};
use crate::CorpusError;

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// Line it starts in, from 1.
    pub line: usize,
    /// The id of its problem.
    pub task_id: String,
    /// Its own id, where the row has one.
    pub attempt_id: Option<String>,
    /// The text to judge.
    pub text: AttemptText,
}

/// A row that is no attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAttempt {
    /// The id of its problem, where the row has one.
    pub task_id: Option<String>,
    /// Its own id, where the row has one.
    pub attempt_id: Option<String>,
    /// What is wrong with it, and where. Boxed: most rows are attempts.
    pub fault: Box<InvalidRow>,
}

/// An iterator over the attempts of a file, in order. JSONL is never in memory as a whole.
pub struct AttemptRows {
    path: PathBuf,
    rows: Rows,
}

/// Opens a file of attempts: JSONL or one JSON array, plain or gzip; no row longer than `max_row_bytes`.
///
/// # Errors
/// The file cannot be read, or is damaged gzip.
pub fn read_attempts(path: &Path, max_row_bytes: u64) -> Result<AttemptRows, CorpusError> {
    Ok(AttemptRows { path: path.to_owned(), rows: Rows::open(path, max_row_bytes)? })
}

/// As [`read_attempts`], for `bytes` instead of a file; errors name `origin`.
///
/// # Errors
/// The bytes are damaged gzip.
pub fn parse_attempts(origin: &Path, bytes: Vec<u8>, max_row_bytes: u64) -> Result<AttemptRows, CorpusError> {
    Ok(AttemptRows { path: origin.to_owned(), rows: Rows::over(origin, Cursor::new(bytes), max_row_bytes)? })
}

impl Iterator for AttemptRows {
    /// The outer error ends the iteration, the inner one is about a row.
    type Item = Result<Result<AttemptRow, InvalidAttempt>, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some(row.map(|raw| parse(&self.path, raw)))
    }
}

fn parse(path: &Path, raw: RawRow) -> Result<AttemptRow, InvalidAttempt> {
    let RawRow { line, text } = raw;
    let invalid = |fault, task_id, attempt_id| InvalidAttempt {
        task_id,
        attempt_id,
        fault: Box::new(InvalidRow::new(path, line, fault)),
    };
    let fields = text.map_err(|reason| RowFault::new("", reason)).and_then(|text| Fields::parse_lenient(&text));
    let fields = fields.map_err(|fault| invalid(fault, None, None))?;
    match (attempt_id(&fields), fields.id(&["task_id"]), attempt_text(&fields)) {
        (Ok(attempt_id), Ok(task_id), Ok(text)) => Ok(AttemptRow { line, task_id, attempt_id, text }),
        (Err(fault), task_id, _) => Err(invalid(fault, task_id.ok(), None)),
        (Ok(attempt_id), Err(fault), _) => Err(invalid(fault, None, attempt_id)),
        (Ok(attempt_id), Ok(task_id), Err(fault)) => Err(invalid(fault, Some(task_id), attempt_id)),
    }
}

fn attempt_id(fields: &Fields) -> Result<Option<String>, RowFault> {
    fields.get("attempt_id").map(|_| fields.id(&["attempt_id"])).transpose()
}

fn attempt_text(fields: &Fields) -> Result<AttemptText, RowFault> {
    const NAMES: [&str; 3] = ["completion", "program", "solution"];
    fields.check_single(&["completion", "program", "solution", "task_id", "attempt_id"])?;
    let there: Vec<&str> = NAMES.into_iter().filter(|name| fields.get(name).is_some()).collect();
    match there.as_slice() {
        [name @ "completion"] => Ok(AttemptText::Completion(fields.text(name)?.to_owned())),
        [name] => Ok(AttemptText::Program(fields.text(name)?.to_owned())),
        [] => Err(fields.fault("completion", "is missing, and `program` and `solution` too")),
        several => {
            Err(fields.fault(several[1], format!("stands beside `{}`; one of them says what is judged", several[0])))
        }
    }
}
