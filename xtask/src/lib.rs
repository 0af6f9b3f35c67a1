//! Development tasks of this repository, run with `cargo xtask`. They are a library so that tests can check their inputs.

#[cfg(feature = "probes")]
pub mod probes;
pub mod runner;
pub mod sabotage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Every file that git tracks or would track, relative to the root. Works in a fresh clone and in a dirty tree.
///
/// # Errors
/// When git does not list them.
pub fn tracked_files(root: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().context("cannot start git")?;
    ensure!(output.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    Ok(text.split_terminator('\0').map(PathBuf::from).filter(|file| root.join(file).is_file()).collect())
}
