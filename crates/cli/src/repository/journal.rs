//! The file of bugs, and the journal of mutants tried beside it: `FILE.tried`.
//!
//! A bug is written before its line of the journal, so a killed process leaves at most one bug too many, and torn last lines;
//! opening cuts both off.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, SCHEMA_VERSION};
use veriplay_verifier::bugs::BugArtifact;

use crate::exit::{ExitCode, Failure, OrFail};

/// A mutant that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tried {
    /// Names the mutant.
    pub(super) key: Digest,
    pub(super) injector: String,
    /// File and function.
    pub(super) scope: String,
    /// The check it failed; `None` for a bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rejected: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) why: String,
}

/// The first line: what all the others are about.
#[derive(Serialize, Deserialize, PartialEq)]
struct Head {
    schema_version: u32,
    asked: Digest,
}

/// Both files, open.
pub(super) struct Journal {
    bugs: File,
    tried: File,
    earlier: Vec<Tried>,
}

impl Journal {
    /// Opens or continues `out`; `asked` identifies the request.
    pub(super) fn open(out: &Path, asked: &Digest) -> Result<Self, Failure> {
        let beside = beside(out);
        let head = Head { schema_version: SCHEMA_VERSION, asked: asked.clone() };
        let lines = whole_lines(&beside)?;
        let (mut earlier, mut bytes) = (Vec::new(), 0);
        for (index, line) in lines.iter().enumerate() {
            bytes += line.len() as u64 + 1;
            if index > 0 {
                earlier.push(serde_json::from_str(line).map_err(|_| strange(&beside))?);
            } else if serde_json::from_str::<Head>(line).ok() != Some(Head { ..head.copy() }) {
                return Err(strange(&beside));
            }
        }
        let valid = earlier.iter().filter(|tried: &&Tried| tried.rejected.is_none()).count();
        let bugs = whole_lines(out)?;
        if bugs.len() < valid || (lines.is_empty() && !bugs.is_empty()) {
            return Err(strange(out));
        }
        let kept = bugs[..valid].iter().map(|line| line.len() as u64 + 1).sum();
        let mut journal = Self { bugs: open_at(out, kept)?, tried: open_at(&beside, bytes)?, earlier };
        if lines.is_empty() {
            line(&mut journal.tried, &head)?;
        }
        Ok(journal)
    }

    pub(super) fn earlier(&self) -> &[Tried] {
        &self.earlier
    }

    pub(super) fn write(&mut self, tried: &Tried, artifact: Option<&BugArtifact>) -> Result<(), Failure> {
        if let Some(artifact) = artifact {
            line(&mut self.bugs, artifact)?;
        }
        line(&mut self.tried, tried)
    }
}

impl Head {
    fn copy(&self) -> Self {
        Self { schema_version: self.schema_version, asked: self.asked.clone() }
    }
}

fn beside(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".tried");
    PathBuf::from(name)
}

fn whole_lines(path: &Path) -> Result<Vec<String>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()));
    let text = text.or_fail(ExitCode::Input)?;
    Ok(text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect())
}

fn open_at(path: &Path, bytes: u64) -> Result<File, Failure> {
    let what = || format!("cannot write `{}`", path.display());
    let open = || {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.set_len(bytes)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(bytes))?;
        Ok::<File, std::io::Error>(file)
    };
    open().with_context(what).or_fail(ExitCode::Input)
}

fn line(file: &mut File, record: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(record).or_fail(ExitCode::Bug)?;
    text.push('\n');
    file.write_all(text.as_bytes()).context("cannot write a bug").or_fail(ExitCode::Input)
}

fn strange(path: &Path) -> Failure {
    let text = format!("`{}` is of another repository, seed or set of operators", path.display());
    Failure::message(ExitCode::Input, text)
        .hint("repeat the options of the earlier run to continue it, or name another `--out`")
}
