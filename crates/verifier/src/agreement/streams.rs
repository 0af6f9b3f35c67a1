//! Codes in a language without calls read standard input and write standard output. A case of theirs is a call in form alone: its one argument is
//! all of the input, and what it returns all of the output, without what the judge `lines` does not look at.

use veriplay_core::{CallCase, Dropped, Job, Status, Value};

use super::agreement_rules::AgreementRules;
use super::clusters::CodeOutput;
use crate::judges::compared_lines;
use crate::runner::{Runner, configure_job, has_left_with_zero, job_failure};

/// The case of a code that must write one text when it reads another.
#[must_use]
pub fn stream_case(stdin: impl Into<String>, stdout: &str) -> CallCase {
    CallCase::new(vec![Value::str(stdin)], compared_output(stdout))
}

/// The input and the output of a case that [`stream_case`] has made.
#[must_use]
pub fn streams_of(case: &CallCase) -> Option<(&str, &str)> {
    match (case.input.as_slice(), &case.expected) {
        ([Value::Str(stdin)], Value::Str(stdout)) => Some((stdin, stdout)),
        _ => None,
    }
}

fn compared_output(text: &str) -> Value {
    Value::Str(compared_lines(text).collect::<Vec<_>>().join("\n"))
}

/// Runs a code on one input. As for [`veriplay_core::Checks::Stdio`], its end comes before its output.
pub(super) fn run_on_stream(
    runner: &mut Runner<'_>,
    rules: &AgreementRules,
    program: &str,
    input: &[Value],
    seed: u64,
) -> Result<CodeOutput, Dropped> {
    let [Value::Str(stdin)] = input else {
        return Ok(CodeOutput::Failed(Status::RuntimeError, "its input is no text".to_owned()));
    };
    let script = Job { stdin: stdin.clone().into_bytes(), ..Job::script(program) };
    let outcome = runner.run(&configure_job(&rules.image, rules.limits, seed, script))?;
    if let Some((status, detail)) = job_failure(&outcome).filter(|_| !has_left_with_zero(&outcome)) {
        return Ok(CodeOutput::Failed(status, detail));
    }
    if outcome.truncated && outcome.stdout.len() as u64 >= rules.limits.output_bytes {
        return Ok(CodeOutput::Failed(Status::OutputExceeded, "its output was cut".to_owned()));
    }
    Ok(match std::str::from_utf8(&outcome.stdout) {
        Ok(text) => CodeOutput::Value(compared_output(text)),
        Err(_) => CodeOutput::Failed(Status::RuntimeError, "its output is no UTF-8".to_owned()),
    })
}
