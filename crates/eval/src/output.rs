//! Where verdicts go: stdout, or a file that a later call of the same command continues.
//!
//! Invariants: a row is one write and one line, so a killed process leaves at most one incomplete line; a file is not changed before all its
//! complete rows have been compared with the attempts, and what follows them has been found to be the beginning of a row; one process writes
//! a file at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::is_special;
use veriplay_console::progress;
use veriplay_core::{SCHEMA_VERSION, VerdictRow};

use super::source::ReadAttempt;

/// Maximum bytes of an earlier row, far beyond what one has: a file that never ends its line is not read into memory.
const MAX_ROW_BYTES: u64 = 64 << 20;

/// Takes rows in the order of the attempts.
pub enum VerdictOutput {
    /// Standard output.
    Stdout {
        /// Whether the reader closed it: the work goes on without output.
        closed: bool,
    },
    /// A file.
    File(VerdictFile),
}

impl VerdictOutput {
    /// Opens `path`, or stdout. An existing file is continued. `inputs` are the files that the command reads, none of which it may be.
    pub fn open(path: Option<&Path>, inputs: &[&Path]) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(VerdictOutput::Stdout { closed: false }) };
        check_regular(path)?;
        check_no_input(path, inputs)?;
        VerdictFile::open(path).map(VerdictOutput::File)
    }

    /// Skips the attempts of `work` that an earlier run judged, passes its rows to `done`, and prepares the file for the next row.
    pub fn resume<T>(
        &mut self,
        work: &mut impl Iterator<Item = Result<ReadAttempt<T>, Failure>>,
        mut done: impl FnMut(&VerdictRow),
    ) -> Result<u64, Failure> {
        let VerdictOutput::File(file) = self else { return Ok(0) };
        let mut rows = 0;
        while let Some(row) = file.earlier_row()? {
            let expected = work.next().transpose()?;
            file.check(&row, expected.as_ref())?;
            done(&row);
            rows += 1;
        }
        file.truncate_to_complete_rows()?;
        Ok(rows)
    }

    /// Writes one row.
    pub fn write(&mut self, row: &VerdictRow) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(row).or_fail(ExitCode::Bug)?;
        line.push(b'\n');
        match self {
            VerdictOutput::Stdout { closed: true } => Ok(()),
            VerdictOutput::Stdout { closed } => match std::io::stdout().lock().write_all(&line) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    *closed = true;
                    Ok(())
                }
                written => written.context("cannot write to stdout").or_fail(ExitCode::Input),
            },
            VerdictOutput::File(file) => {
                file.file.write_all(&line).with_context(|| file.cannot("write")).or_fail(ExitCode::Input)
            }
        }
    }

    /// Makes everything written durable.
    pub fn finish(&mut self) -> Result<(), Failure> {
        match self {
            VerdictOutput::Stdout { closed: true } => Ok(()),
            VerdictOutput::Stdout { .. } => {
                std::io::stdout().flush().context("cannot write to stdout").or_fail(ExitCode::Input)
            }
            VerdictOutput::File(file) => {
                file.file.sync_data().with_context(|| file.cannot("write")).or_fail(ExitCode::Input)
            }
        }
    }
}

/// Ends a command with the summary of `--json`, behind what has failed: it is the last line of stdout, or of stderr where the verdicts are
/// not in the file `out`.
pub fn end_with_summary(
    summary: &impl Serialize,
    out: Option<&Path>,
    ended: Result<(), Failure>,
) -> Result<(), Failure> {
    let json = serde_json::to_string(summary).or_fail(ExitCode::Bug)?;
    let ended = ended.map_err(|failure| {
        progress::say_always(&failure);
        Failure::silent(failure.exit_code())
    });
    match out {
        Some(_) => progress::data(json),
        None => progress::data_beside(json),
    }
    ended
}

/// Refuses what is there and no regular file, before it is opened: opening a pipe waits for its reader.
fn check_regular(path: &Path) -> Result<(), Failure> {
    if !is_special(path) {
        return Ok(());
    }
    let text =
        format!("cannot write `{}`: `--out` takes a regular file, which a later run can continue", path.display());
    Err(Failure::message(ExitCode::Input, text)
        .hint("leave out `--out` to have the verdicts on stdout, or name another file"))
}

/// Refuses a file that the command reads.
fn check_no_input(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    // A file that is not there yet is none of them.
    let Ok(out) = path.canonicalize() else { return Ok(()) };
    let same = |input: &&&Path| input.canonicalize().is_ok_and(|input| input == out);
    let Some(input) = inputs.iter().find(same) else { return Ok(()) };
    let text =
        format!("`--out {}` is the same file as `{}`, which this command reads", path.display(), input.display());
    Err(Failure::message(ExitCode::Input, text).hint("name another `--out`; the file is left as it is"))
}

/// Whether `tail` is the beginning of a verdict's line, or all of it but its end.
fn begins_row(tail: &[u8]) -> bool {
    let start = format!("{{\"schema_version\":{SCHEMA_VERSION},\"task_id\":\"");
    let common = tail.len().min(start.len());
    let row: Result<VerdictRow, serde_json::Error> = serde_json::from_slice(tail);
    tail[..common] == start.as_bytes()[..common] && row.err().is_none_or(|error| error.is_eof())
}

/// A file of verdicts.
pub struct VerdictFile {
    path: PathBuf,
    file: File,
    /// Reads the earlier rows, with a position of its own.
    earlier: BufReader<File>,
    /// Number of earlier rows read so far, and their bytes.
    line: u64,
    bytes: u64,
}

impl VerdictFile {
    fn open(path: &Path) -> Result<Self, Failure> {
        let what = || format!("cannot write `{}`", path.display());
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let file = file.with_context(what).or_fail(ExitCode::Input)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = format!("`{}` is being written by another process", path.display());
                return Err(Failure::message(ExitCode::Input, text).hint("wait for it, or name another `--out`"));
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(what).or_fail(ExitCode::Input),
        }
        let earlier = File::open(path).with_context(what).or_fail(ExitCode::Input)?;
        Ok(Self { path: path.to_owned(), file, earlier: BufReader::new(earlier), line: 0, bytes: 0 })
    }

    fn cannot(&self, action: &str) -> String {
        format!("cannot {action} `{}`", self.path.display())
    }

    /// The next row of an earlier run. The beginning of a row at the end of the file is none.
    fn earlier_row(&mut self) -> Result<Option<VerdictRow>, Failure> {
        let mut line = Vec::new();
        let read = self.earlier.by_ref().take(MAX_ROW_BYTES).read_until(b'\n', &mut line);
        read.with_context(|| self.cannot("read")).or_fail(ExitCode::Input)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if !line.ends_with(b"\n") {
            return self.check_tail(&line).map(|()| None);
        }
        self.bytes += line.len() as u64;
        let row: VerdictRow = serde_json::from_slice(&line).map_err(|error| self.no_verdict(&error.to_string()))?;
        match row.schema_version {
            SCHEMA_VERSION => Ok(Some(row)),
            other => Err(self.mismatch(&format!("has schema version `{other}`; this build reads {SCHEMA_VERSION}"))),
        }
    }

    /// Checks that a line without its end is what a killed run left of a row, and may be cut off.
    fn check_tail(&self, tail: &[u8]) -> Result<(), Failure> {
        if tail.len() as u64 >= MAX_ROW_BYTES {
            return Err(self.no_verdict(&format!("it is longer than {MAX_ROW_BYTES} bytes")));
        }
        if begins_row(tail) { Ok(()) } else { Err(self.no_verdict("it has no end and does not begin like one")) }
    }

    /// The last line read is not a row.
    fn no_verdict(&self, why: &str) -> Failure {
        let text = format!("{}:{}: the row is not a verdict: {why}", self.path.display(), self.line);
        Failure::message(ExitCode::Input, text).hint("name another `--out`; this file is left as it is")
    }

    /// Checks that the last row read belongs to the attempt at its position.
    fn check<T>(&self, row: &VerdictRow, expected: Option<&ReadAttempt<T>>) -> Result<(), Failure> {
        let about = format!("is about attempt `{}` at `{}`", row.attempt_id, row.task_id);
        let Some(expected) = expected else {
            return Err(self.mismatch(&format!("{about}; the attempts end before it")));
        };
        let (task_id, attempt_id, judged) = match expected {
            Ok(attempt) => attempt.identity(),
            Err(verdict) => (verdict.task_id.as_str(), verdict.attempt_id.as_str(), &verdict.judged),
        };
        let is_named = task_id == row.task_id && attempt_id == row.attempt_id;
        if is_named && *judged == row.judged {
            return Ok(());
        }
        if !row.has_task() {
            // Its row of the attempts file was mended.
            let text =
                format!("{}:{}: the row {about}, which could not be judged then", self.path.display(), self.line);
            let hint = format!("truncate the file before line {} to judge it and what follows", self.line);
            return Err(Failure::message(ExitCode::Input, text).hint(hint));
        }
        Err(self.mismatch(&if is_named {
            format!("{about}, with another program, task, image, limit or judge than this run")
        } else {
            format!("{about}; expected attempt `{attempt_id}` at `{task_id}`")
        }))
    }

    fn mismatch(&self, what: &str) -> Failure {
        let text = format!("{}:{}: the row {what}", self.path.display(), self.line);
        Failure::message(ExitCode::Input, text)
            .hint("repeat the options of the earlier run to continue it, or name another `--out`")
    }

    /// Removes an incomplete last line: the next write follows the last complete row.
    fn truncate_to_complete_rows(&mut self) -> Result<(), Failure> {
        let cut = self.file.set_len(self.bytes).and_then(|()| self.file.seek(SeekFrom::Start(self.bytes)));
        cut.map(drop).with_context(|| self.cannot("write")).or_fail(ExitCode::Input)
    }
}
