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
        let place = || format!("{}, line {number}", named());
        let row = serde_json::from_str::<Row>(line).with_context(place).or_fail(ExitCode::Input)?;
        if row.cases.is_empty() {
            let what = format!("{}: the problem has no `cases`, and every program would solve it", place());
            return Err(Failure::message(ExitCode::Input, what).hint("give it a case of `stdin` and `stdout`"));
        }
        problems.push(row.into_task(hidden));
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_problem_and_what_is_none_is_told_by_its_number() {
        let path = std::env::temp_dir().join(format!("veriplay-streams-{}.jsonl", std::process::id()));
        let line = r#"{"statement": "add 3", "program": "int main() {}", "cases": [{"stdin": "1\n", "stdout": "4 \n"}, {"stdin": "2\n", "stdout": "5"}]}"#;
        fs::write(&path, format!("{line}\n\n{line}\n")).expect("a file");
        let problems = read_problems(&path, 1).expect("two problems");
        let hidden = &problems[1].reference.as_ref().expect("it has one").hidden;
        assert_eq!((problems.len(), hidden.as_slice()), (2, &[stream_case("1\n", "4")][..]));
        fs::write(&path, format!("{line}\n{{}}")).expect("a file");
        let told = read_problems(&path, 1).expect_err("it has no statement").to_string();
        assert!(told.contains("line 2") && told.contains("statement"), "{told}");
        let without_cases = r#"{"statement": "add 3", "program": "int main() {}", "cases": []}"#;
        fs::write(&path, format!("{line}\n{line}\n{without_cases}")).expect("a file");
        let told = read_problems(&path, 1).expect_err("its third problem has no cases").to_string();
        fs::remove_file(&path).expect("it was written");
        assert!(told.contains("line 3") && told.contains("no `cases`"), "{told}");
        assert!(told.contains(&path.display().to_string()), "{told}");
    }
}
