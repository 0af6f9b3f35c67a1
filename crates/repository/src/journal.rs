//! The file of bugs, and the journal of mutants tried next to it: `FILE.tried`.
//!
//! A bug is written before its line of the journal, so a killed process leaves at most one bug too many and incomplete last lines.
//! Opening cuts both off.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, SCHEMA_VERSION};
use veriplay_verifier::bugs::BugArtifact;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::read_text;
use veriplay_console::logfile::open_truncated;

/// A mutant that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MutantRecord {
    pub(super) key: Digest,
    pub(super) injector: String,
    pub(super) scope: String,
    /// The check it failed; `None` for a bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rejected: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) why: String,
}

/// The first line: identifies the request that all others belong to.
#[derive(PartialEq, Serialize, Deserialize)]
struct JournalHeader {
    schema_version: u32,
    asked: Digest,
}

/// The open files of bugs and of mutants tried.
pub(super) struct Journal {
    bugs: File,
    tried: File,
    earlier: Vec<MutantRecord>,
}

impl Journal {
    /// Opens or continues `out`; `request` identifies the request.
    pub(super) fn open(out: &Path, request: &Digest) -> Result<Self, Failure> {
        let journal_path = journal_path(out);
        let head = JournalHeader { schema_version: SCHEMA_VERSION, asked: request.clone() };
        let lines = read_complete_lines(&journal_path)?;
        let (mut earlier, mut bytes) = (Vec::new(), 0);
        for (index, line) in lines.iter().enumerate() {
            bytes += line.len() as u64 + 1;
            if index > 0 {
                earlier.push(serde_json::from_str(line).map_err(|_| mismatch(&journal_path))?);
            } else if serde_json::from_str::<JournalHeader>(line).ok().as_ref() != Some(&head) {
                return Err(mismatch(&journal_path));
            }
        }
        let valid = earlier.iter().filter(|tried: &&MutantRecord| tried.rejected.is_none()).count();
        let bugs = read_complete_lines(out)?;
        if bugs.len() < valid || (lines.is_empty() && !bugs.is_empty()) {
            return Err(mismatch(out));
        }
        let kept = bugs[..valid].iter().map(|line| line.len() as u64 + 1).sum();
        let mut journal = Self { bugs: open_file(out, kept)?, tried: open_file(&journal_path, bytes)?, earlier };
        if lines.is_empty() {
            write_line(&mut journal.tried, &head)?;
        }
        Ok(journal)
    }

    pub(super) fn earlier(&self) -> &[MutantRecord] {
        &self.earlier
    }

    pub(super) fn write(&mut self, tried: &MutantRecord, artifact: Option<&BugArtifact>) -> Result<(), Failure> {
        if let Some(artifact) = artifact {
            write_line(&mut self.bugs, artifact)?;
        }
        write_line(&mut self.tried, tried)
    }
}

fn journal_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".tried");
    PathBuf::from(name)
}

fn read_complete_lines(path: &Path) -> Result<Vec<String>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(path)?;
    Ok(text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect())
}

fn open_file(path: &Path, bytes: u64) -> Result<File, Failure> {
    open_truncated(path, bytes).with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)
}

fn write_line(file: &mut File, record: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(record).or_fail(ExitCode::Bug)?;
    text.push('\n');
    file.write_all(text.as_bytes()).context("cannot write a bug").or_fail(ExitCode::Input)
}

fn mismatch(path: &Path) -> Failure {
    let text = format!("`{}` belongs to another repository, seed or set of operators", path.display());
    Failure::message(ExitCode::Input, text)
        .hint("repeat the options of the earlier run to continue it, or name another `--out`")
}
