//! The corpus, from the outside.

mod attempts_file;
mod cost_files;
mod descriptions;
mod environment_files;
mod environment_templates;
mod error_chains;
#[path = "../../../../tests/src/external.rs"]
#[expect(dead_code, unreachable_pub, reason = "other tests use the rest of it")]
mod external;
mod forgery_files;
mod generator;
mod grammar_errors;
mod memory;
mod probe_files;
mod problem_faults;
mod problem_files;
mod problem_formats;
mod problem_packing;
mod published;
mod python;
mod repository_archives;
mod row_faults;
mod row_shapes;
mod seed_files;
mod splits;
mod streams;

use std::path::PathBuf;

/// A file with that content, and the folder it lives in.
fn file(content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("rows.jsonl");
    std::fs::write(&path, content).expect("the temporary directory can be written");
    (dir, path)
}
