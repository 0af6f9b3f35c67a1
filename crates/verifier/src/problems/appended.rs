//! Judges programs that their tests stand behind, in one script. Its end decides, so a program that knows where it runs can forge it.

use veriplay_core::{AppendedTests, CPP, Dropped, Job, Language, ScannedLanguage, Status, widen_longs};

use super::ProblemRequest;
use crate::judges::JudgeContext;
use crate::runner::{Decision, job_failure, truncate_output};

/// Characters of standard error in a detail.
const SHOWN: usize = 200;

/// Runs the program with its tests. In C++, tests with numbers beyond 32 bits were written where `long` has 64, and it gets as many here.
pub(super) fn judge(
    context: &mut JudgeContext<'_>,
    tests: &AppendedTests,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let script = with_tests(program, &tests.source);
    let is_cpp = request.problem.language.as_deref().is_some_and(|name| CPP.names().contains(&name));
    let script = if is_cpp && has_wide_number(&tests.source) { widen_longs(&script) } else { script };
    let outcome = context.run(Job::script(script))?;
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

/// Whether tests name a whole number that a signed one of 32 bits does not hold.
fn has_wide_number(tests: &str) -> bool {
    let tokens: Vec<&str> = ScannedLanguage::tokens(tests).collect();
    tokens.iter().enumerate().any(|(at, token)| {
        let is_wide = token.trim_end_matches(['l', 'L']).parse::<u64>().is_ok_and(|number| number >= 1 << 31);
        let is_fraction = tokens[at.saturating_sub(1)..tokens.len().min(at + 2)].contains(&".");
        is_wide && !is_fraction
    })
}

#[cfg(test)]
mod tests {
    use super::{has_wide_number, with_tests};

    #[test]
    fn whole_numbers_beyond_32_bits_are_wide() {
        for tests in ["f(125411328000)", "f() == -9999999999L", "f(4294967296LL)"] {
            assert!(has_wide_number(tests), "{tests}");
        }
        for tests in ["f(2147483647)", "f(0.99999999999, 99999999999.0)", "f(\"99999999999\") // 99999999999"] {
            assert!(!has_wide_number(tests), "{tests}");
        }
    }

    #[test]
    fn a_brace_closes_what_is_open_alone() {
        assert_eq!(with_tests("f() {\n  g();", "}\nmain();"), "f() {\n  g();\n}\nmain();");
        assert_eq!(with_tests("f() {\n  g();\n}", "}\nmain();"), "f() {\n  g();\n}\n\nmain();");
        assert_eq!(with_tests("f() {}", "main();"), "f() {}\nmain();");
    }
}
