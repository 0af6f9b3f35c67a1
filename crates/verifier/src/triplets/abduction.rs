//! Abduction: the program runs on the input that was named, and its output is compared. Any input that gives it is right.

use veriplay_core::{CallResult, Dropped, IoPair, Status, Value};

use super::AnswerRequest;
use crate::run::{Decision, NoValue, Runner, calls, failure, instead, value};

/// One call of the task's program on `arguments`, which are values by now: nothing of the answer's text is run.
pub(super) fn answer(
    runner: &mut Runner<'_>,
    request: &AnswerRequest<'_>,
    program: &str,
    pair: &IoPair,
    arguments: &[Value],
) -> Result<Decision, Dropped> {
    let limits = request.task.limits;
    let outcome = runner.run(&calls(request.image, program, vec![arguments.to_vec()], limits, request.seed))?;
    if let Some((status, detail)) = failure(&outcome) {
        return Ok(Decision::on_one(status, detail));
    }
    let call = outcome.calls.first();
    Ok(call.map_or_else(
        || Decision::on_one(Status::RuntimeError, "no result"),
        |call| {
            let (status, detail) = compared(call, &pair.output, request);
            Decision::on_one(status, detail)
        },
    ))
}

/// One call's result against what is wanted.
pub(super) fn compared(call: &CallResult, wanted: &Value, request: &AnswerRequest<'_>) -> (Status, String) {
    match value(call, &request.task.limits) {
        Ok(output) if output.python_eq(wanted) => (Status::Accepted, String::new()),
        Ok(output) => (Status::WrongAnswer, instead(&output, wanted)),
        Err(NoValue::Raised(detail)) => (Status::RuntimeError, detail),
        // It ran and gave something that equals no plain value.
        Err(NoValue::NoPlainValue(detail)) => (Status::WrongAnswer, detail),
    }
}
