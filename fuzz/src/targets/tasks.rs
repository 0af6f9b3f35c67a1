//! Files of tasks: our own, and public problems.

use std::path::Path;

use veriplay_corpus::{PROBLEM_FORMATS, ReadOptions, parse_problems};

const OPTIONS: ReadOptions = ReadOptions {
    predict: veriplay_core::Predicted::Output,
    max_row_bytes: 1 << 16,
    max_row_weight: 1 << 24,
    databases: None,
    language: None,
};

/// The first byte chooses the format, the rest is the file.
pub(super) fn run(bytes: &[u8]) {
    let Some((choice, file)) = bytes.split_first() else { return };
    let origin = Path::new("fuzz");
    let format = &PROBLEM_FORMATS[usize::from(*choice) % PROBLEM_FORMATS.len()];
    let Ok(read) = parse_problems(origin, file.to_vec(), format, &OPTIONS) else { return };
    for (line, row) in &read.rows {
        assert!(*line > 0 && !row.task_id().is_empty());
    }
    for bad in &read.bad {
        assert!(!bad.reason.is_empty());
    }
}
