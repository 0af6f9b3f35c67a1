//! Readers of problems and attempts: our own rows, and public sets as they are published.
//!
//! Each format is one file and one line in [`PROBLEM_FORMATS`]. Invariants: no part of a row is evaluated or unpickled; an invalid row is
//! reported with its line and field, and the others are read; only the named file is read, and databases of the folder that the options name.

mod apps;
mod attempts;
mod auto;
mod bird;
mod cat;
mod code_contests;
mod codeforces;
mod cruxeval;
mod databases;
mod evalplus;
mod fields;
mod humaneval;
mod humaneval_x;
mod kodcode;
mod livecodebench;
mod mbpp;
mod mbpp_plus;
mod multipl_e;
mod pickle;
mod pyjson;
mod row_options;
mod row_tests;
mod rows;
mod spider;
mod test_cases;
mod veriplay;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use veriplay_core::{Language, Predicted, ProblemRow, ScannedLanguage, Value};

use crate::CorpusError;
use fields::{Fields, field_text};
use rows::Rows;

pub use attempts::{AttemptRow, AttemptRows, InvalidAttempt, parse_attempts, read_attempts};
pub use databases::DatabaseFolder;
pub use fields::RowFault;

/// All formats of problems.
pub const PROBLEM_FORMATS: &[ProblemFormat] = &[
    veriplay::FORMAT,
    humaneval::FORMAT,
    mbpp::FORMAT,
    evalplus::FORMAT,
    livecodebench::FORMAT,
    cruxeval::FORMAT,
    apps::FORMAT,
    code_contests::FORMAT,
    codeforces::FORMAT,
    kodcode::FORMAT,
    multipl_e::FORMAT,
    humaneval_x::FORMAT,
    spider::FORMAT,
    bird::FORMAT,
    cat::FORMAT,
    auto::FORMAT,
];

/// A format of problems.
#[derive(Debug, Clone, Copy)]
pub struct ProblemFormat {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Whether an object is a row of it, by fields that no other format has.
    recognises: fn(&Fields) -> bool,
    parse: fn(&mut RowInput<'_>) -> Result<ProblemRow, RowFault>,
    statement: fn(&Fields) -> Result<ProblemStatement, RowFault>,
}

impl ProblemFormat {
    /// Reads a row, and the judge and limits that it names.
    fn read(&self, input: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
        let mut row = (self.parse)(input)?;
        // Other rows are records of our own, or were read in `auto`, where the object with the tests was looked at.
        if let Some(Ok(fields)) = input.fields.get() {
            if let Some(judge) = row_options::named_judge(fields)? {
                row_options::choose(&mut row, &judge)?;
            }
            if let Some(language) = row_options::named_language(fields) {
                row_options::write_in(&mut row, language)?;
            }
            row.state_limits(row_options::stated_limits(fields)?);
        }
        Ok(row)
    }
}

/// What a set asks of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemStatement {
    /// To continue this source text.
    Continuation(String),
    /// To write a program for a task in words.
    Instruction {
        /// The task.
        text: String,
        /// Tests that the set shows.
        tests: Vec<String>,
        /// Source text that the program begins with. Empty where it may begin with anything.
        starter_code: String,
    },
    /// To predict the output of `f(input)`, or an input that gives the output. All three are source text.
    Prediction {
        /// It defines `f`.
        program: String,
        /// The arguments.
        input: String,
        /// What `f` returns for them.
        output: String,
    },
}

impl ProblemStatement {
    /// The task in words that the field `text` has, and the starter code of the field `starter`, where the set has one.
    fn instruction(fields: &Fields, text: &str, starter: Option<&str>) -> Result<Self, RowFault> {
        let starter = starter.map_or(Ok(""), |name| fields.text_or_empty(name))?;
        let text = fields.filled_text(text)?.to_owned();
        Ok(Self::Instruction { text, tests: Vec::new(), starter_code: starter.to_owned() })
    }
}

/// The input of a format's parser.
struct RowInput<'a> {
    text: &'a str,
    /// What the text holds, read once.
    fields: OnceCell<Result<Fields, RowFault>>,
    /// Index of the row in the file, from 0. It names rows without a name.
    index: usize,
    /// Whether sets whose rows all have names may have one without.
    may_be_nameless: bool,
    options: &'a ReadOptions,
}

impl<'a> RowInput<'a> {
    fn new(text: &'a str, index: usize, options: &'a ReadOptions) -> Self {
        Self { text, fields: OnceCell::new(), index, may_be_nameless: false, options }
    }

    /// A row that a trainer carries, of any set, which may have lost its name.
    fn of_trainer(text: &'a str, index: usize, options: &'a ReadOptions) -> Self {
        Self { may_be_nameless: true, ..Self::new(text, index, options) }
    }

    /// The row that a trainer carries, which has been read from `text`.
    fn of_pairs(text: &'a str, pairs: Vec<(Value, Value)>, index: usize, options: &'a ReadOptions) -> Self {
        Self { fields: OnceCell::from(Ok(Fields::of_pairs(pairs))), ..Self::of_trainer(text, index, options) }
    }

    fn fields(&self) -> Result<&Fields, RowFault> {
        self.fields.get_or_init(|| Fields::parse(self.text)).as_ref().map_err(Clone::clone)
    }

    /// Its fields, of which a format moves out what it makes its checks of.
    fn fields_mut(&mut self) -> Result<&mut Fields, RowFault> {
        self.fields()?;
        let fields = self.fields.get_mut().expect("they were read");
        fields.as_mut().map_err(|error| error.clone())
    }

    fn into_fields(self) -> Result<Fields, RowFault> {
        self.fields()?;
        self.fields.into_inner().expect("they were read")
    }

    /// The name of a row whose set gives each row one: the first of `names` that is there.
    fn name(&self, names: &[&str]) -> Result<String, RowFault> {
        if self.may_be_nameless { self.id(names) } else { self.fields()?.id(names) }
    }

    /// The row's name: the first of `names` that is there, else its index.
    fn id(&self, names: &[&str]) -> Result<String, RowFault> {
        let fields = self.fields()?;
        match fields.id(names) {
            Err(error) if fields.has(names[0]) => Err(error),
            Err(_) => Ok(self.index.to_string()),
            id => id,
        }
    }
}

/// Options for reading problems.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// What attempts at `cruxeval` rows predict.
    pub predict: Predicted,
    /// The most bytes of one row, of one array, and of one row's decompressed tests.
    pub max_row_bytes: u64,
    /// The most that the values in one row's decompressed tests may [weigh](veriplay_core::text_weight).
    pub max_row_weight: u64,
    /// The folder in which rows find databases. Without one, rows that need it are refused.
    pub databases: Option<DatabaseFolder>,
    /// The language of programs at rows of a file that name none. Without one it is Python.
    pub language: Option<&'static ScannedLanguage>,
}

impl Default for ReadOptions {
    /// Predicted outputs, rows of at most 1 GiB and of any weight, no databases, Python; the largest published row has about 100 MiB.
    fn default() -> Self {
        let (predict, max_row_bytes, max_row_weight) = (Predicted::Output, 1 << 30, u64::MAX);
        Self { predict, max_row_bytes, max_row_weight, databases: None, language: None }
    }
}

/// The content of a file of problems.
#[derive(Debug, Default)]
pub struct ProblemFile {
    /// The rows in file order, each with the line it starts in. Task ids are unique.
    pub rows: Vec<(usize, ProblemRow)>,
    /// The invalid rows.
    pub bad: Vec<InvalidRow>,
}

/// An invalid row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {}{reason}", field_text(field), path = path.display())]
pub struct InvalidRow {
    /// The file.
    pub path: PathBuf,
    /// Line the row starts in, from 1.
    pub line: usize,
    /// The row's own name, where that can be read.
    pub task_id: Option<String>,
    /// Path of the field it is about, such as `metadata.func_name`; empty for the row as a whole.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl InvalidRow {
    /// The row that begins in that line of the file, without a name.
    pub fn new(path: &Path, line: usize, fault: RowFault) -> Self {
        Self { path: path.to_owned(), line, task_id: None, field: fault.field, reason: fault.reason }
    }

    /// The message without file and line: rows with the same fault have the same.
    pub fn fault(&self) -> String {
        format!("{}{}", field_text(&self.field), self.reason)
    }
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

/// The formats in which one of the first rows of the file is a problem, in the order of [`PROBLEM_FORMATS`]; `auto`, which reads the rows of most others, only
/// where no other does.
///
/// # Errors
/// The file cannot be read.
pub fn matching_formats(path: &Path, options: &ReadOptions) -> Result<Vec<&'static str>, CorpusError> {
    /// A bad row or two hide no format.
    const ROWS: usize = 3;
    let rows: Vec<_> = Rows::open(path, options.max_row_bytes)?.take(ROWS).collect::<Result<_, _>>()?;
    let texts: Vec<String> = rows.into_iter().filter_map(|row| row.text.ok()).collect();
    let reads = |format: &&ProblemFormat| {
        texts.iter().enumerate().any(|(index, text)| format.read(&mut RowInput::new(text, index, options)).is_ok())
    };
    let mut formats: Vec<&str> = PROBLEM_FORMATS.iter().filter(reads).map(|format| format.name).collect();
    if formats.len() > 1 {
        formats.retain(|name| *name != auto::FORMAT.name);
    }
    Ok(formats)
}

/// Reads a file of problems: JSONL or one JSON array, plain or gzip. Bad rows, and rows that repeat a task id, are reported
/// in [`ProblemFile::bad`] and left out.
///
/// # Errors
/// The file cannot be read, or is damaged gzip.
pub fn read_problems(path: &Path, format: &ProblemFormat, options: &ReadOptions) -> Result<ProblemFile, CorpusError> {
    collect_problems(path, Rows::open(path, options.max_row_bytes)?, format, options)
}

/// A task of a file, and what it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedTask {
    /// Its name in the set.
    pub task_id: String,
    /// What it asks, or why the row does not say so.
    pub statement: Result<ProblemStatement, InvalidRow>,
}

/// The tasks of a file with what they ask, in file order. Rows that [`read_problems`] reports are left out.
///
/// # Errors
/// The file cannot be read.
pub fn read_statements(
    path: &Path,
    format: &ProblemFormat,
    options: &ReadOptions,
) -> Result<Vec<StatedTask>, CorpusError> {
    let mut statements = Vec::new();
    for (index, raw) in Rows::open(path, options.max_row_bytes)?.enumerate() {
        let raw = raw?;
        let Ok(text) = raw.text else { continue };
        let Ok(row) = format.read(&mut RowInput::new(&text, index, options)) else { continue };
        // Reading the row has moved fields out.
        let statement = Fields::parse(&text).and_then(|fields| (format.statement)(&fields));
        let statement = statement.map_err(|fault| InvalidRow::new(path, raw.line, fault));
        statements.push(StatedTask { task_id: row.task_id().to_owned(), statement });
    }
    Ok(statements)
}

/// As [`read_problems`], for `bytes` instead of a file; errors name `origin`.
///
/// # Errors
/// The bytes are damaged gzip.
pub fn parse_problems(
    origin: &Path,
    bytes: Vec<u8>,
    format: &ProblemFormat,
    options: &ReadOptions,
) -> Result<ProblemFile, CorpusError> {
    collect_problems(origin, Rows::over(origin, Cursor::new(bytes), options.max_row_bytes)?, format, options)
}

/// Reads the text of one row, which may have several lines, and be longer than [`ReadOptions::max_row_bytes`].
///
/// # Errors
/// The field that is wrong, by its path in the row, and what is wrong with it.
pub fn parse_problem(text: &str, format: &ProblemFormat, options: &ReadOptions) -> Result<ProblemRow, RowFault> {
    format.read(&mut RowInput::new(text, 0, options))
}

fn collect_problems(
    path: &Path,
    rows: Rows,
    format: &ProblemFormat,
    options: &ReadOptions,
) -> Result<ProblemFile, CorpusError> {
    let mut file = ProblemFile::default();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (index, raw) in rows.enumerate() {
        let raw = raw?;
        let row = match &raw.text {
            Ok(text) => {
                format.read(&mut RowInput::new(text, index, options)).and_then(|row| in_language(row, text, options))
            }
            Err(reason) => Err(RowFault::new("", reason)),
        };
        match row.and_then(|row| new_id(&mut lines, row, raw.line)) {
            Ok(row) => file.rows.push((raw.line, row)),
            Err(fault) => {
                let task_id = raw.text.ok().and_then(|text| Fields::parse(&text).ok()?.id(&auto::NAMES).ok());
                file.bad.push(InvalidRow { task_id, ..InvalidRow::new(path, raw.line, fault) });
            }
        }
    }
    Ok(file)
}

/// The row, whose programs are in the language of the options if its text names none.
fn in_language(mut row: ProblemRow, text: &str, options: &ReadOptions) -> Result<ProblemRow, RowFault> {
    let Some(language) = options.language.filter(|_| !row_options::names_python(text)) else { return Ok(row) };
    row_options::write_in(&mut row, language).map_err(|_| {
        let named = language.names()[0];
        let reason = format!(
            "names no language, and has tests that are Python's: programs in `{named}` are judged by inputs and outputs of scripts"
        );
        RowFault::new("", reason)
    })?;
    Ok(row)
}

fn new_id(lines: &mut HashMap<String, usize>, row: ProblemRow, line: usize) -> Result<ProblemRow, RowFault> {
    match lines.get(row.task_id()) {
        Some(first) => Err(RowFault::new("task_id", format!("`{}` stands in line {first} already", row.task_id()))),
        None => {
            lines.insert(row.task_id().to_owned(), line);
            Ok(row)
        }
    }
}
