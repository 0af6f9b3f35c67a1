//! The readers on the files as published.

use veriplay_core::{Checks, ProblemRow, TestStyle};
use veriplay_corpus::{ProblemFile, ReadOptions, problem_format, read_problems};

use super::external::published_file;

fn read(name: &str, format: &str) -> Option<ProblemFile> {
    let path = published_file(name)?;
    let file = read_problems(&path, problem_format(format).expect("the format is known"), &ReadOptions::default());
    Some(file.expect("the file can be read"))
}

#[test]
fn humaneval_is_read_whole() {
    let Some(file) = read("HumanEval.jsonl.gz", "humaneval") else { return };
    assert!(file.bad.is_empty(), "{}", file.bad[0]);
    assert_eq!(file.rows.len(), 164);
    for (at, (line, row)) in file.rows.iter().enumerate() {
        assert_eq!((*line, row.task_id().to_owned()), (at + 1, format!("HumanEval/{at}")));
        let ProblemRow::Ready(problem) = row else { panic!("{row:?}") };
        let Checks::Tests(code) = &problem.checks else { panic!("{:?}", problem.checks) };
        let TestStyle::Check { function, .. } = &code.style else { panic!("{:?}", code.style) };
        assert!(problem.prompt.contains(&format!("def {function}(")), "{function}");
    }
}

#[test]
fn cruxeval_is_read_whole() {
    let Some(file) = read("cruxeval.jsonl", "cruxeval") else { return };
    assert!(file.bad.is_empty(), "{}", file.bad[0]);
    assert_eq!(file.rows.len(), 800);
    assert!(file.rows.iter().all(|(_, row)| row.is_prediction()));
}
