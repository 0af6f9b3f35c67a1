//! Judge `checker`: a special-judge program of the problem's own decides.
//!
//! # What it decides
//! The problem's checker decides. Its source defines `check(input, expected, actual)`; it is called with plain
//! values: the tuple of arguments, the expected and the returned value, or three texts (standard input, expected and
//! actual output). `True` is right, `False` is wrong. A returned object is refused before the checker runs, unless the expected value has
//! one of its class at the same place ([`crate::plain`]).
//!
//! Or the checker is a script, as `open-r1/codeforces` has it (`checker_script`): it is run as `checker.py input.txt correct_output.txt
//! solution_output.txt`, and all that it prints is a score, or a verdict in a word. The output is right if it gets
//! the score that the expected output gets, which must be above 0, and the script ends by the same status.
//!
//! Or it is a checker written with testlib in C++ or C (`checker_language`), in the image of that language. It is run as `checker input.txt
//! output.txt answer.txt`, where the second file is the actual output, and decides by exit status: 0 is right, and 1, 2, 4 and 8 are wrong. 7 gives
//! points, with which standard error begins: the output is right if it gets at least as many as the expected one. 3 says that the checker fails.
//!
//! # Why
//! Some questions have many right answers: any topological order, any shortest path. It runs in an instance of its own,
//! behind the program's job: it sees the expected value, the program never does and shares nothing with it.
//!
//! # How it can be gamed
//! Only by a plain value that the checker itself takes for right. A checker that raises, returns anything but a bool or meets a
//! limit has not judged, and one of testlib's that says itself that it fails has not. Where it judges the expected answer in the actual one's place
//! (one of testlib's: accepts it, or gives it points), the attempt has broken it, and is wrong. Where it does not, the task is broken: its attempts
//! are unjudgeable, by the rule `reference`, and count for nothing.
//!
//! # Example
//! `def check(input, expected, actual): return sorted(actual) == sorted(expected)` takes `[2, 1]` for `[1, 2]` and refuses
//! `[1]`; for `None` it raises, and the attempt is wrong.

mod exit_status;

use veriplay_core::{Comparison, Dropped, Job, Outcome, Value};

use super::{Judge, JudgeContext, JudgeFinding, OutputKind, ReturnedCall, ScriptRun, quoted, strip, words};
use crate::languages::{self, is_compiled};
use crate::prelude::with_arguments;
use crate::runner::{NoValue, decode_call, job_failure};

use exit_status::decided_by_status;

pub(super) const CHECKER: Judge =
    Judge { check_options, values: Some(compare_call), texts: Some(compare_script), ..Judge::named("checker") };

fn check_options(comparison: &Comparison, kind: OutputKind) -> Result<(), &'static str> {
    let (language, has_headers) = (comparison.checker_language.as_deref(), !comparison.checker_headers.is_empty());
    match language {
        Some(_) if comparison.checker_script.is_none() => {
            return Err("its `checker_language` is that of a `checker_script`; give one, or leave it out");
        }
        Some(named) if !is_compiled(named) => {
            return Err("its `checker_language` is not judged; give `cpp` or `c`, or leave it out for Python");
        }
        None if has_headers => return Err("it has `checker_headers`; name the `checker_language`, or leave them out"),
        _ => {}
    }
    match (&comparison.checker, &comparison.checker_script) {
        (Some(_), Some(_)) => Err("it has `checker` and `checker_script`; give one of them"),
        (None, Some(_)) if kind == OutputKind::Values => {
            Err("a `checker_script` is given texts; give `checker`, which is called with values")
        }
        (Some(source), None) | (None, Some(source)) if !source.trim().is_empty() => Ok(()),
        _ => Err("it needs the source of a checker"),
    }
}

fn compare_call(context: &mut JudgeContext<'_>, call: &ReturnedCall<'_>) -> Result<JudgeFinding, Dropped> {
    let (expected, actual) = match call.plain_values() {
        Ok(values) => values,
        Err(refused) => return Ok(refused),
    };
    let input = Value::Tuple(call.input.to_vec());
    let found = decided(context, call.comparison, &input, &expected, actual.into_owned())?;
    Ok(found.map_or_else(JudgeFinding::Undecided, |right| call.compare_by(|_, _| right)))
}

fn compare_script(context: &mut JudgeContext<'_>, run: &ScriptRun<'_>) -> Result<JudgeFinding, Dropped> {
    let Ok(actual) = std::str::from_utf8(run.actual) else { return Ok(run.compare_by(|_, _| false)) };
    let found = match (&run.comparison.checker_script, &run.comparison.checker_language) {
        (Some(script), Some(_)) => decided_by_status(context, script, run, actual)?,
        (Some(script), None) => decided_by_score(context, script, run, actual)?,
        (None, _) => {
            let [input, expected, actual] = [run.stdin, run.expected, actual].map(Value::str);
            decided(context, run.comparison, &input, &expected, actual)?
        }
    };
    Ok(found.map_or_else(JudgeFinding::Undecided, |right| run.compare_by(|_, _| right)))
}

/// What the checker says, or why it does not decide even about the expected answer. One that does decide about that is broken by the
/// attempt, which is then wrong: else a program could be left out instead of refused. The actual value may be large, and is not copied.
fn decided(
    context: &mut JudgeContext<'_>,
    comparison: &Comparison,
    input: &Value,
    expected: &Value,
    actual: Value,
) -> Result<Result<bool, String>, Dropped> {
    match verdict(context, comparison, [input.clone(), expected.clone(), actual])? {
        Err(undecided) => {
            let of_expected = verdict(context, comparison, [input, expected, expected].map(Value::clone))?;
            Ok(of_expected.map(|_| false).map_err(|_| undecided))
        }
        right => Ok(right),
    }
}

fn verdict(
    context: &mut JudgeContext<'_>,
    comparison: &Comparison,
    arguments: [Value; 3],
) -> Result<Result<bool, String>, Dropped> {
    let source = comparison.checker.as_deref().unwrap_or_default();
    let outcome = run_checker(context, comparison, Job::call(source, "check", arguments))?;
    let returned = match (job_failure(&outcome), outcome.calls.as_slice()) {
        (Some((_, detail)), _) => Err(detail),
        (None, [call]) => decode_call(call, &context.limits).map_err(NoValue::text),
        (None, calls) => Err(format!("{} results for one call", calls.len())),
    };
    Ok(match returned {
        Ok(Value::Bool(right)) => Ok(right),
        Ok(other) => Err(format!("it returned a value of type `{}`, which is no bool of Python's", other.type_name())),
        Err(detail) => Err(detail),
    })
}

/// Whether a script gives the actual output the score that it gives the expected one, or why it does not decide. As above, what it decides about the
/// expected output alone is wrong.
fn decided_by_score(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    actual: &str,
) -> Result<Result<bool, String>, Dropped> {
    let found = run_script(context, script, run, actual)?;
    if found.as_ref().is_ok_and(|(score, _)| *score <= 0.0) {
        return Ok(Ok(false));
    }
    let full = run_script(context, script, run, run.expected)?;
    Ok(match (found, full) {
        // A script may say by its status, too, that the output is wrong.
        (Ok((score, status)), Ok((full, wanted))) if full > 0.0 => Ok(score >= full && status == wanted),
        (Ok(_), Ok(_)) => Err("it gives the expected output no score".to_owned()),
        (Err(_), Ok(_)) => Ok(false),
        (_, Err(undecided)) => Err(undecided),
    })
}

/// Runs a script on the input, the expected output and the actual one. Returns the score that it prints, and the status of its process.
fn run_script(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    actual: &str,
) -> Result<Result<(f64, i32), String>, Dropped> {
    let files = files(SCRIPT_FILES, [run.stdin, run.expected, actual]);
    let program = with_arguments("checker.py", &SCRIPT_FILES, "", script);
    let outcome = run_checker(context, run.comparison, Job { files, ..Job::script(program) })?;
    Ok(match job_failure(&outcome) {
        Some((_, detail)) if outcome.exit_code.is_none() => Err(detail),
        _ => {
            let status = outcome.exit_code.unwrap_or(0);
            read_score(&String::from_utf8_lossy(&outcome.stdout)).map(|score| (score, status))
        }
    })
}

/// The files that a script is given: the input, the expected output, the actual one.
const SCRIPT_FILES: [&str; 3] = ["input.txt", "correct_output.txt", "solution_output.txt"];

fn files(names: [&str; 3], texts: [&str; 3]) -> Vec<(String, Vec<u8>)> {
    names.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

/// Runs a job of the checker's, in the image of its language.
fn run_checker(context: &mut JudgeContext<'_>, comparison: &Comparison, job: Job) -> Result<Outcome, Dropped> {
    let image = image_beside(comparison, context.image).unwrap_or(context.image);
    context.run_in(image, job)
}

/// The image in which the checker of a comparison runs, where that is another one than this, in which programs do.
pub(crate) fn image_beside(comparison: &Comparison, image: &str) -> Option<&'static str> {
    if comparison.judge != CHECKER.name() {
        return None;
    }
    languages::image_beside(comparison.checker_language.as_deref(), image)
}

/// Words for a full score and for none.
const FULL: &str = "ok ac accepted correct pass passed right true yes";
const NONE: &str = "wa wrong incorrect fail failed false no";

/// The score that is all of a script's output: a number, or a verdict in one word. A longer text may repeat what the program under test wrote, and
/// nothing is read from that.
fn read_score(output: &str) -> Result<f64, String> {
    let word = strip(output).to_ascii_lowercase();
    match word.parse::<f64>() {
        Ok(score) if score.is_finite() => Ok(score),
        _ if words(FULL).any(|known| known == word) => Ok(1.0),
        _ if words(NONE).any(|known| known == word) => Ok(0.0),
        _ => Err(format!("it prints {}, and not a score alone", quoted(output))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_number_or_a_verdict_and_nothing_beside_it() {
        for (output, score) in [("1\n", 1.0), ("\n0.5\n\n", 0.5), ("100", 100.0), ("OK", 1.0), ("False\n", 0.0)] {
            assert_eq!(read_score(output), Ok(score), "{output}");
        }
        for output in ["", "nan", "inf", "done", "1 is wrong", "wrong answer: got\n1", "1\n0"] {
            assert!(read_score(output).is_err(), "{output}");
        }
    }
}
