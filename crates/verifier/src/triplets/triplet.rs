//! The gate for deduction and abduction proposals: a program with one input.
//!
//! Runs two jobs. The first calls the input and then its probes; the second, with another seed and other addresses of objects, the probes that returned and then the
//! input. Each output comes from two positions in two orders that are one rotation apart, so an output that depends on the position of its
//! call, or on earlier calls, is constant or differs between the jobs. The output of the proposed input is that of a fresh state, because
//! it is the first call.

use veriplay_core::{CallResult, Exit, IoPair, Outcome, Value};

use super::gate::{ProposalGate, check_distinct, check_exit, check_repeats, guess_rate};
use super::rules::{self, ProposalError};
use crate::languages::is_python;
use crate::probes::probes;
use crate::runner::{Runner, decode_call, entry_job};

/// Runs the proposal, and returns its executed pair and [`guess_rate`] when no rule is violated.
pub(super) fn execute(
    runner: &mut Runner<'_>,
    gate: &ProposalGate,
    program: &str,
    input: &[Value],
) -> Result<(IoPair, f64), ProposalError> {
    gate.check_program(program)?;
    let mut inputs = vec![input.to_vec()];
    inputs.extend(probes(input, gate.probes.count));
    let first = runner.run(&entry_job(&gate.image, program, inputs.clone(), gate.limits, gate.seeds[0]))?;
    let output = gate.output(own_call(&first)?)?;
    let (mut survivors, mut outputs) = returned_probes(gate, &inputs[1..], first.calls.get(1..).unwrap_or_default());
    survivors.push(input.to_vec());
    outputs.push(output.clone());
    let second = runner.run(&gate.repeat_job(program, survivors.clone()))?;
    check_exit(&second)?;
    check_repeats(&outputs, &second.calls, &gate.limits)?;
    check_variety(gate, &survivors, &outputs)?;
    Ok((IoPair { input: input.to_vec(), output }, guess_rate(&outputs)))
}

/// The result of the first call. A limit that a later probe exceeds does not count against the proposal.
pub(super) fn own_call(outcome: &Outcome) -> Result<&CallResult, ProposalError> {
    match (&outcome.exit, outcome.calls.first()) {
        (Exit::Returned | Exit::Exceeded { .. }, Some(call)) => Ok(call),
        _ => {
            check_exit(outcome)?;
            Err(ProposalError::refused(rules::TRAPPED, "the harness said it was done without a result"))
        }
    }
}

/// The probes that returned a plain value, and those values.
fn returned_probes(gate: &ProposalGate, inputs: &[Vec<Value>], calls: &[CallResult]) -> (Vec<Vec<Value>>, Vec<Value>) {
    let pairs = inputs.iter().zip(calls);
    pairs.filter_map(|(input, call)| Some((input.clone(), decode_call(call, &gate.limits).ok()?))).unzip()
}

/// Checks the outputs at the probes and at the input.
fn check_variety(gate: &ProposalGate, inputs: &[Vec<Value>], outputs: &[Value]) -> Result<(), ProposalError> {
    let succeeded = outputs.len() - 1;
    if succeeded < gate.probes.min_succeeded {
        let detail = format!("it returns on {succeeded} of {} inputs like the proposed one", gate.probes.count);
        return Err(ProposalError::refused(rules::PROBES, detail));
    }
    check_distinct(outputs, gate.probes.min_distinct_outputs)?;
    // JavaScript returns several values as an array.
    let several: fn(Vec<Value>) -> Value = if is_python(gate.language()) { Value::Tuple } else { Value::List };
    if is_identity(inputs, outputs, several) {
        return Err(ProposalError::refused(rules::IDENTITY, "every output is what went in"));
    }
    Ok(())
}

/// Whether every output equals the argument at one position, or all arguments together, which `several` makes one value.
fn is_identity(inputs: &[Vec<Value>], outputs: &[Value], several: fn(Vec<Value>) -> Value) -> bool {
    let pairs = || inputs.iter().zip(outputs);
    let places = inputs.first().map_or(0, Vec::len);
    let one = |place: usize| pairs().all(|(input, output)| input.get(place).is_some_and(|own| own.python_eq(output)));
    let all = || pairs().all(|(input, output)| output.python_eq(&several(input.clone())));
    (0..places).any(one) || all()
}
