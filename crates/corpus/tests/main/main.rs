//! The corpus, from the outside.

mod attempts_file;
mod cost_files;
mod databases;
mod descriptions;
mod environment_files;
mod environment_templates;
mod error_chains;
mod forgery_files;
mod generator;
mod memory;
mod probe_files;
mod problem_files;
mod problem_formats;
mod problem_packing;
mod python;
mod repository_archives;
mod seed_files;
mod splits;
mod streams;

use std::fmt::Debug;
use std::path::PathBuf;

use veriplay_corpus::CorpusError;

/// A file with that content, and the folder it lives in.
fn file(content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("rows.jsonl");
    std::fs::write(&path, content).expect("the temporary directory can be written");
    (dir, path)
}

/// What stands in a good file, what replaces it, the line of the error, and words of it.
type Change = (&'static str, &'static str, usize, &'static str);

/// Checks that every change makes a good file one that is refused, with its line and a hint.
#[track_caller]
fn assert_refused<T: Debug>(good: &str, changes: &[Change], read: impl Fn(&str) -> Result<T, CorpusError>) {
    for (old, new, line, words) in changes {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "`{old}` is not in the file");
        let error = read(&text).expect_err(words).to_string();
        assert!(error.contains(words) && error.contains(&format!(":{line}: ")), "{words} at {line}: {error}");
        assert!(error.contains("\nhint: "), "{error}");
    }
}
