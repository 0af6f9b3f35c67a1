//! The task file: one JSON object a line, `{"schema_version":1,"task":{…}}`.
//!
//! Appending is one write under a lock, so a killed process leaves at most a torn last line. A torn line is reported by
//! the reader and cut off by the next append; nothing else is ever removed. The command line calls this.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_core::{SCHEMA_VERSION, Task};

use crate::CorpusError;

/// Bytes read at once while looking for the last newline.
const BLOCK: u64 = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    schema_version: u32,
    task: Task,
}

#[derive(Serialize)]
struct RowRef<'a> {
    schema_version: u32,
    task: &'a Task,
}

/// What a task file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskFile {
    /// The tasks, in file order, each id once.
    pub tasks: Vec<Task>,
    /// Lines that could not be read; the others could.
    pub problems: Vec<RowProblem>,
    /// Lines left out because an earlier one asks the same.
    pub duplicates: usize,
}

/// A line that is not a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {reason}", path = path.display())]
pub struct RowProblem {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Whether this is a last line that was not written to its end; the next append cuts it off.
    pub torn: bool,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a task file. Bad lines are reported in [`TaskFile::problems`] and left out.
///
/// # Errors
/// The file cannot be read.
pub fn read_tasks(path: &Path) -> Result<TaskFile, CorpusError> {
    let bytes = std::fs::read(path).map_err(CorpusError::io("read", path))?;
    Ok(parse_tasks(path, &bytes))
}

/// As [`read_tasks`], of `bytes` in place of a file; problems name `origin`.
#[must_use]
pub fn parse_tasks(origin: &Path, bytes: &[u8]) -> TaskFile {
    let mut file = TaskFile::default();
    let mut seen = HashSet::new();
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match parse(line) {
            Ok(task) if seen.insert(task.id()) => file.tasks.push(task),
            Ok(_) => file.duplicates += 1,
            Err(reason) => file.problems.push(problem(origin, at + 1, line, reason)),
        }
    }
    file
}

/// Appends `tasks` in one write and flushes them to the disk. The file is made when it is not there. Returns how many
/// bytes of a torn last line were cut off: 0 when the file was whole.
///
/// # Errors
/// The file cannot be opened, locked, read or written.
pub fn append_tasks(path: &Path, tasks: &[Task]) -> Result<u64, CorpusError> {
    let fail = || CorpusError::io("write", path);
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(fail())?;
    // Another process's append must not fall between our look at the tail and our write.
    file.lock().map_err(fail())?;
    let (batch, cut) = mend_tail(&mut file, lines(tasks)).map_err(fail())?;
    file.write_all(&batch).map_err(fail())?;
    file.sync_data().map_err(fail())?;
    Ok(cut)
}

/// Makes the file end where a line ends, and returns what to write: a whole last row without its newline gets the newline
/// at the front of `batch`, a torn one is cut off.
fn mend_tail(file: &mut File, mut batch: Vec<u8>) -> std::io::Result<(Vec<u8>, u64)> {
    let tail = tail(file)?;
    if tail.is_empty() {
        return Ok((batch, 0));
    }
    if parse(&tail).is_ok() {
        batch.insert(0, b'\n');
        return Ok((batch, 0));
    }
    let length = file.metadata()?.len();
    file.set_len(length - tail.len() as u64)?;
    Ok((batch, tail.len() as u64))
}

/// The bytes after the last newline.
fn tail(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut start = file.metadata()?.len();
    let mut tail = Vec::new();
    while start > 0 {
        let length = start.min(BLOCK);
        start -= length;
        file.seek(SeekFrom::Start(start))?;
        let mut block = vec![0; length as usize];
        file.read_exact(&mut block)?;
        if let Some(newline) = block.iter().rposition(|byte| *byte == b'\n') {
            block.drain(..=newline);
            start = 0;
        }
        block.append(&mut tail);
        tail = block;
    }
    Ok(tail)
}

fn lines(tasks: &[Task]) -> Vec<u8> {
    let mut batch = Vec::new();
    for task in tasks {
        let row = RowRef { schema_version: SCHEMA_VERSION, task };
        serde_json::to_writer(&mut batch, &row).expect("a task serialises into memory");
        batch.push(b'\n');
    }
    batch
}

fn parse(line: &[u8]) -> Result<Task, String> {
    let row: Row = serde_json::from_slice(line).map_err(|error| format!("not a task: {error}"))?;
    match row.schema_version {
        SCHEMA_VERSION => Ok(row.task),
        other => Err(format!("schema version `{other}`; this build reads {SCHEMA_VERSION}")),
    }
}

fn problem(path: &Path, line: usize, bytes: &[u8], reason: String) -> RowProblem {
    let torn = !bytes.ends_with(b"\n");
    let reason = if torn { format!("torn line of {} bytes, cut off by the next append", bytes.len()) } else { reason };
    RowProblem { path: path.to_owned(), line, torn, reason }
}
