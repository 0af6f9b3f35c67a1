//! Held-out problems of runs in C++: a file of statements with programs, and cases of standard input and output.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_verifier::agreement::stream_case;

use crate::{ProblemTask, ReferenceSolution};

/// A problem with a program that solves it.
#[derive(Deserialize)]
struct Row {
    statement: String,
    program: String,
    cases: Vec<StreamRow>,
}

#[derive(Deserialize)]
struct StreamRow {
    stdin: String,
    stdout: String,
}

impl Row {
    fn into_task(self, hidden: usize) -> ProblemTask {
        let cases = self.cases.into_iter().take(hidden);
        let hidden = cases.map(|StreamRow { stdin, stdout }| stream_case(stdin, &stdout)).collect();
        let reference = Some(ReferenceSolution { program: self.program, hidden });
        ProblemTask { statement: self.statement, reference }
    }
}

/// The problems of a file, a line each.
pub(super) fn read_problems(file: &Path, hidden: usize) -> Result<Vec<ProblemTask>, Failure> {
    let named = || format!("`tasks.problems.path` is `{}`", file.display());
    let text = fs::read_to_string(file).with_context(named).or_fail(ExitCode::Input)?;
    let mut problems = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let row = serde_json::from_str::<Row>(line).with_context(|| format!("{}, line {number}", named()));
        problems.push(row.or_fail(ExitCode::Input)?.into_task(hidden));
    }
    Ok(problems)
}
