//! Files of tasks and of public problems.

use std::path::Path;

use veriplay_corpus::{PROBLEM_FORMATS, ReadOptions, parse_problems, parse_tasks};

const OPTIONS: ReadOptions = ReadOptions { predict: veriplay_core::Predicted::Output, max_row_bytes: 1 << 16 };

/// The first byte says what is read, the rest is the file.
pub(super) fn run(bytes: &[u8]) {
    let Some((choice, file)) = bytes.split_first() else { return };
    let origin = Path::new("fuzz");
    let Some(format) = PROBLEM_FORMATS.get(usize::from(*choice) % (PROBLEM_FORMATS.len() + 1)) else {
        let read = parse_tasks(origin, file);
        let lines = file.split_inclusive(|byte| *byte == b'\n').count();
        assert_eq!(read.tasks.len() + read.problems.len() + read.duplicates, lines);
        return;
    };
    let Ok(read) = parse_problems(origin, file.to_vec(), format, &OPTIONS) else { return };
    for (line, row) in &read.rows {
        assert!(*line > 0 && !row.task_id().is_empty());
    }
    for bad in &read.bad {
        assert!(!bad.reason.is_empty());
    }
}
