//! Waypoints: the values that the variables of a deduction task's program take on the way to its output.
//!
//! # What it computes
//! One job traces the call and returns the values as Python writes them, each once. Short and empty ones are left out, as any text shows them.
//!
//! # How it can be gamed
//! The traced program runs beside what traces it, and can make up values; a text that lists many values shows some of the trace by chance. What is
//! rewarded by it is less than a right answer.

use veriplay_core::{Execute, Job, Question, Value};
use veriplay_image_python::programs::triplets::TRACE_VALUES;

use super::gate::ProposalGate;
use crate::runner::{Runner, configure_job, decode_call, on_all_cores};

/// The waypoints of each question, under the limits of the gate's first job. `None` of other questions than deduction, where the program did not
/// end within the limits, and where the host failed.
pub fn waypoints(execute: &dyn Execute, gate: &ProposalGate, questions: &[&Question]) -> Vec<Option<Vec<String>>> {
    let jobs: Vec<Option<Job>> = questions.iter().map(|question| trace_job(gate, question)).collect();
    on_all_cores(jobs, |job| traced_values(execute, &job?))
}

fn trace_job(gate: &ProposalGate, question: &Question) -> Option<Job> {
    let Question::Deduction { program, pair } = question else { return None };
    let call = vec![Value::str(program.as_str()), Value::List(pair.input.clone())];
    Some(configure_job(&gate.image, gate.limits, gate.seeds[0], Job::calls(TRACE_VALUES, "trace_values", [call])))
}

fn traced_values(execute: &dyn Execute, job: &Job) -> Option<Vec<String>> {
    let outcome = Runner::new(execute).run(job).ok().filter(|outcome| !outcome.met_deadline())?;
    let Value::List(values) = decode_call(outcome.calls.first()?, &job.limits).ok()? else { return None };
    let text = |value| if let Value::Str(text) = value { Some(text) } else { None };
    values.into_iter().map(text).collect()
}
