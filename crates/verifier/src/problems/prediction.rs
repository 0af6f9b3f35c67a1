//! Judges predictions about a program (CRUXEval, arXiv 2401.03065). The attempt is parsed as literals and never runs.
//!
//! The original pastes a generation into `assert {output} == {generation}`, so any true expression passes. Here an output is one literal
//! and an input the literals of one call. This is stricter than the original: `dict(a=1)` and `[0] * 3` are Malformed. Of its 800 inputs
//! 788 are literals; [`check_prediction`] evaluates the others in the guest.

use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, Dropped, Execute, Limits, Predicted, Prediction, Problem, Status, Value,
    Verdict,
};

use super::{ProblemRequest, cases, judge_program};
use crate::judges::{JudgeContext, describe_values};
use crate::runner::{Decision, ENTRY};

/// The judge of every prediction: Python's `==`.
const JUDGE: &str = "cruxeval";

/// Runs no job for an output, and one call for an input.
pub(super) fn judge(
    context: &mut JudgeContext<'_>,
    prediction: &Prediction,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let text = request.program.trim();
    let judged = match prediction.wanted {
        Predicted::Output => predicted_output(prediction, text).map(|value| {
            Ok(match prediction.output.python_eq(&value) {
                true => Decision::on_one(Status::Accepted, ""),
                false => Decision::on_one(Status::WrongAnswer, describe_values(&value, &prediction.output)),
            })
        }),
        Predicted::Input => predicted_input(text).map(|arguments| {
            let checks = one_call(ENTRY, arguments, &prediction.output);
            let call = ProblemRequest { program: &prediction.program, ..*request };
            cases::judge_calls(context, &checks, &call)
        }),
    };
    judged.unwrap_or_else(|reason| Ok(Decision::on_one(Status::Malformed, reason)))
}

/// As the original, rejects an answer that repeats the call, even inside a string.
fn predicted_output(prediction: &Prediction, text: &str) -> Result<Value, String> {
    if text.contains(&format!("{ENTRY}({})", prediction.input)) {
        return Err("the answer repeats the call it is asked about".to_owned());
    }
    Value::parse_repr(text).map_err(|error| format!("the answer is no literal: {error}"))
}

/// `f(<literals>)`, or only the literals.
fn predicted_input(text: &str) -> Result<Vec<Value>, String> {
    if text.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let call = text.strip_prefix(ENTRY).and_then(|rest| rest.trim_start().strip_prefix('('));
    let inside = call.and_then(|rest| rest.strip_suffix(')'));
    Value::parse_arguments(inside.unwrap_or(text))
        .map_err(|error| format!("the answer is no list of literals: {error}"))
}

fn one_call(function: &str, input: Vec<Value>, expected: &Value) -> CallChecks {
    let cases = vec![CallCase::new(input, expected.clone())];
    CallChecks { function: function.to_owned(), cases, fresh: false, comparison: Comparison::by(JUDGE) }
}

/// Appended to a program whose arguments are an expression, which may use names of the program. Both come from the set and are trusted.
const EVALUATOR: &str = "_veriplay_call";
const EVALUATOR_SOURCE: &str =
    "\n\ndef _veriplay_call(arguments):\n    return eval('f(' + arguments + ')', globals())\n";

/// Runs the prediction's program on its own input: Accepted when it returns the recorded output. An input that is not a list of literals is
/// evaluated in the guest.
///
/// # Errors
/// A host fault.
pub fn check_prediction(
    execute: &dyn Execute,
    prediction: &Prediction,
    image: &str,
    limits: Limits,
    seed: u64,
) -> Result<Verdict, Dropped> {
    let (program, checks) = match Value::parse_arguments(&prediction.input) {
        Ok(arguments) => (prediction.program.clone(), one_call(ENTRY, arguments, &prediction.output)),
        Err(_) => {
            let text = vec![Value::str(prediction.input.as_str())];
            let program = [&prediction.program, EVALUATOR_SOURCE].concat();
            (program, one_call(EVALUATOR, text, &prediction.output))
        }
    };
    let problem = Problem::new("prediction", Checks::Calls(checks));
    let request = ProblemRequest { problem: &problem, program: &program, image, limits, seed, early_stop: false };
    judge_program(execute, &request)
}
