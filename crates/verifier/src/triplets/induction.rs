//! Induction: the gate for proposed inputs, and the judge of programs on the pairs.

use std::collections::HashSet;

use veriplay_core::{Dropped, IoPair, Question, Status, Value, normalize_program};

use super::gate::{ProposalGate, check_distinct, check_exit, check_repeats};
use super::rules::{self, ProposalError};
use super::{AnswerRequest, compare_output};
use crate::runner::{Decision, Runner, entry_job, job_failure, saturating_u32};

/// Quotes of shorter lines are no leak, such as `return x`.
const LEAK_CHARS: usize = 12;

/// Runs the given program on the proposed inputs twice, the second time in rotated order, and returns the question when no rule is
/// violated. The program passed the gate when it was proposed, so rules on programs are not checked again.
pub(super) fn execute(
    runner: &mut Runner<'_>,
    gate: &ProposalGate,
    program: &str,
    inputs: &[Vec<Value>],
    message: &str,
) -> Result<Question, ProposalError> {
    check_inputs(gate, inputs)?;
    check_message(program, message)?;
    let first = runner.run(&entry_job(&gate.image, program, inputs.to_vec(), gate.limits, gate.seeds[0]))?;
    check_exit(&first)?;
    let outputs = first.calls.iter().map(|call| gate.output(call)).collect::<Result<Vec<_>, _>>()?;
    if outputs.len() != inputs.len() {
        return Err(ProposalError::refused(rules::TRAPPED, "the harness said it was done with results missing"));
    }
    let (mut rotated, mut expected) = (inputs.to_vec(), outputs.clone());
    rotated.rotate_left(1);
    expected.rotate_left(1);
    let second = runner.run(&gate.repeat_job(program, rotated))?;
    check_exit(&second)?;
    check_repeats(&expected, &second.calls, &gate.limits)?;
    check_distinct(&outputs, gate.induction.min_distinct_outputs)?;
    let mut pairs = inputs.iter().cloned().zip(outputs).map(|(input, output)| IoPair { input, output });
    let visible = pairs.by_ref().take(gate.induction.visible).collect();
    let (message, reference) = (message.to_owned(), program.to_owned());
    Ok(Question::Induction { visible, hidden: pairs.collect(), message, reference })
}

fn check_inputs(gate: &ProposalGate, inputs: &[Vec<Value>]) -> Result<(), ProposalError> {
    let wanted = gate.induction.visible + gate.induction.hidden;
    if inputs.len() != wanted {
        return Err(ProposalError::refused(rules::INPUT_COUNT, format!("{} inputs instead of {wanted}", inputs.len())));
    }
    let mut seen = HashSet::new();
    let repeated = inputs.iter().find(|input| !seen.insert(Value::Tuple((*input).clone()).python_key()));
    repeated.map_or(Ok(()), |input| {
        Err(ProposalError::refused(rules::REPEATED_INPUT, format!("`{}` twice", Value::arguments_text(input))))
    })
}

/// Rejects a message that quotes the program.
fn check_message(program: &str, message: &str) -> Result<(), ProposalError> {
    let normal = normalize_program(program);
    let mut lines = normal.lines().map(str::trim).filter(|line| line.chars().count() >= LEAK_CHARS);
    match lines.find(|line| message.contains(line)) {
        Some(line) => Err(ProposalError::refused(rules::LEAK, format!("the message quotes `{line}`"))),
        None => Ok(()),
    }
}

/// Runs one job with the inputs of the pairs as calls: Accepted when the program completes and every output is right.
pub(super) fn judge_answer(
    runner: &mut Runner<'_>,
    request: &AnswerRequest<'_>,
    program: &str,
) -> Result<Decision, Dropped> {
    let pairs = request.pairs();
    let inputs = pairs.iter().map(|pair| pair.input.clone()).collect();
    let outcome = runner.run(&entry_job(request.image, program, inputs, request.task.limits, request.seed))?;
    let checks = || outcome.calls.iter().zip(&pairs).map(|(call, pair)| compare_output(call, &pair.output, request));
    let passed = checks().filter(|(status, _)| *status == Status::Accepted).count();
    let first_bad = checks().find(|(status, _)| *status != Status::Accepted);
    let (status, detail) = match (job_failure(&outcome), first_bad) {
        (Some(failure), _) => failure,
        (None, Some(bad)) => bad,
        (None, None) if passed == pairs.len() && passed > 0 => (Status::Accepted, String::new()),
        (None, None) => (Status::RuntimeError, "results are missing".to_owned()),
    };
    Ok(Decision { passed: saturating_u32(passed), ..Decision::on_one(status, detail) })
}
