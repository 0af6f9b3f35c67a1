//! The attempts file: one JSON object a row, `{"task_id", "attempt_id"?, "completion"}`, or `"program"` in place of
//! `"completion"` (or `"solution"`, as EvalPlus calls it). Other fields are not looked at. Half of a character that a model's text was cut in, a
//! lone surrogate, makes no row invalid: with it in a program, the program does not compile.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::InvalidRow;
use super::fields::{FieldError, Fields};
use super::rows::{RawRow, Rows};
use crate::CorpusError;

/// The text to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptBody {
    /// A model's continuation of the prompt.
    Completion(String),
    /// A whole program.
    Program(String),
}

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
    pub body: AttemptBody,
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
    type Item = Result<Result<AttemptRow, InvalidRow>, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some(row.map(|raw| {
            let line = raw.line;
            parse(raw).map_err(|fault| InvalidRow::new(&self.path, line, fault))
        }))
    }
}

fn parse(raw: RawRow) -> Result<AttemptRow, FieldError> {
    let fields = Fields::parse_lenient(&raw.text.map_err(|reason| FieldError::new("", reason))?)?;
    let attempt_id = match fields.get("attempt_id") {
        Some(_) => Some(fields.id(&["attempt_id"])?),
        None => None,
    };
    Ok(AttemptRow { line: raw.line, task_id: fields.id(&["task_id"])?, attempt_id, body: body(&fields)? })
}

fn body(fields: &Fields) -> Result<AttemptBody, FieldError> {
    const NAMES: [&str; 3] = ["completion", "program", "solution"];
    let there: Vec<&str> = NAMES.into_iter().filter(|name| fields.get(name).is_some()).collect();
    match there.as_slice() {
        [name @ "completion"] => Ok(AttemptBody::Completion(fields.text(name)?.to_owned())),
        [name] => Ok(AttemptBody::Program(fields.text(name)?.to_owned())),
        [] => Err(fields.fault("completion", "is missing, and `program` and `solution` too")),
        several => {
            Err(fields.fault(several[1], format!("stands beside `{}`; one of them says what is judged", several[0])))
        }
    }
}
