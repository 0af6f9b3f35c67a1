//! Judges programs that their tests stand behind, in one script. Its end decides, so a program that knows where it runs can forge it.

use veriplay_core::{AppendedTests, Dropped, Job, ScannedLanguage, Status};

use crate::judges::JudgeContext;
use crate::runner::{Decision, job_failure, truncate_output};

/// Characters of standard error in a detail.
const SHOWN: usize = 200;

/// Runs the program with its tests.
pub(super) fn judge(context: &mut JudgeContext<'_>, tests: &AppendedTests, program: &str) -> Result<Decision, Dropped> {
    let outcome = context.run(Job::script(with_tests(program, &tests.source)))?;
    if let Some(failure) = job_failure(&outcome) {
        return Ok(failure.into());
    }
    if tests.silent && !outcome.stderr.is_empty() {
        let printed = truncate_output(&String::from_utf8_lossy(&outcome.stderr), SHOWN);
        return Ok((Status::WrongAnswer, format!("it wrote to standard error: {printed}")).into());
    }
    Ok(Decision::on_one(Status::Accepted, ""))
}

/// The program, and the tests behind it. The brace with which they begin closes a function that the program has left open.
fn with_tests(program: &str, tests: &str) -> String {
    let is_closed = ScannedLanguage::open_braces(program) <= 0;
    let behind = tests.trim_start().strip_prefix('}').filter(|_| is_closed);
    format!("{program}\n{}", behind.unwrap_or(tests))
}

#[cfg(test)]
mod tests {
    use super::with_tests;

    #[test]
    fn a_brace_closes_what_is_open_alone() {
        assert_eq!(with_tests("f() {\n  g();", "}\nmain();"), "f() {\n  g();\n}\nmain();");
        assert_eq!(with_tests("f() {\n  g();\n}", "}\nmain();"), "f() {\n  g();\n}\n\nmain();");
        assert_eq!(with_tests("f() {}", "main();"), "f() {}\nmain();");
    }
}
