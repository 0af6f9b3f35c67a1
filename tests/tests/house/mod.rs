//! The house rules that ARCHITECTURE.md states: crate arrows, paths that exist, words that must not appear.

mod arrows;
mod budgets;
mod configuration;
mod cycles;
mod documents;
mod facts;
mod files;

use std::path::PathBuf;

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root").to_owned()
}

/// Every file git tracks or would track, relative to the root. Works in a fresh clone and in a dirty tree.
fn tracked_files() -> Vec<String> {
    let git = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(git.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&git.stderr));
    let text = String::from_utf8(git.stdout).expect("file names are UTF-8");
    text.lines().filter(|name| root().join(name).is_file()).map(str::to_owned).collect()
}
