//! The judge of Absolute Zero's triplets (arXiv 2505.03335, §3): proposals through a gate, answers against executed values.
//!
//! # What it decides
//! Whether a proposal is a task worth asking, and whether an answer is right. `gate` holds the rules of the first as
//! data; deduction, abduction and induction each decide their own answers.
//!
//! # Why
//! Absolute Zero's release compares by evaluating text, in the trainer or spliced into a script, and calls a run failed
//! when its last line contains "error". Here a program gets plain inputs and gives plain values, and the host compares.
//!
//! # How it can be gamed
//! A program can tell that it is being called again, and in which order; the gate's two jobs call in rotated orders, so
//! that an output which depends on the calls before it differs between them. A program whose output is a coin flip with
//! few faces is worth asking by every rule here: that is for the reward to weigh.

mod gate;
mod induction;
pub mod rules;
mod triplet;

use rayon::prelude::*;
use veriplay_core::{
    Attempt, CallResult, Dropped, Evidence, Execute, IoPair, Proposal, ProposalVerdict, Provenance, Question, Status,
    Task, TaskType, Value, Verdict,
};

use crate::run::{Decision, NoValue, Runner, calls, cut, failure, instead, value};
use rules::Stop;

pub use gate::{Gate, GateError, InductionRules, ProbeRules};

/// Family of tasks that proposals become.
const PROPOSED: &str = "proposed";

/// One answer to judge.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRequest<'a> {
    /// The task it answers.
    pub task: &'a Task,
    /// What was extracted.
    pub attempt: &'a Attempt,
    /// Name of the image to run it in.
    pub image: &'a str,
    /// Seeds its job.
    pub seed: u64,
}

/// One proposal to judge.
#[derive(Debug, Clone)]
pub struct ProposalRequest<'a> {
    /// What was extracted.
    pub attempt: &'a Attempt,
    /// Whether the caller has it already.
    pub known: bool,
    /// Becomes the task's.
    pub provenance: Provenance,
}

/// Judges a proposal: Valid with the task it became, Invalid with the rule that refused it in `evidence.rule` (see
/// `rules`), or Malformed. Runs at most two jobs, none when a rule on the text decides.
///
/// # Errors
/// A host fault.
pub fn judge_proposal(
    execute: &dyn Execute,
    gate: &Gate,
    request: &ProposalRequest<'_>,
) -> Result<ProposalVerdict, Dropped> {
    let proposal = match request.attempt {
        Attempt::Proposal(proposal) => proposal,
        Attempt::Malformed { reason } => return Ok(refused(Status::Malformed, Evidence::default(), "", reason)),
        _ => return Ok(refused(Status::Malformed, Evidence::default(), "", "an answer instead of a proposal")),
    };
    let mut runner = Runner::new(execute);
    let question = match question(&mut runner, gate, proposal, request.known) {
        Ok(question) => question,
        Err(Stop::Refused { rule, detail }) => return Ok(refused(Status::Invalid, runner.evidence, rule, &detail)),
        Err(Stop::Dropped(dropped)) => return Err(dropped),
    };
    let provenance = request.provenance.clone();
    let task = Task { family: PROPOSED.to_owned(), question, limits: gate.limits, provenance };
    let verdict = Verdict { status: Status::Valid, passed: 1, total: 1, evidence: runner.evidence };
    Ok(ProposalVerdict { verdict, task: Some(task) })
}

fn question(runner: &mut Runner<'_>, gate: &Gate, proposal: &Proposal, known: bool) -> Result<Question, Stop> {
    if known {
        return Err(Stop::refused(rules::DUPLICATE, "the same proposal has been made before"));
    }
    match proposal {
        Proposal::Triplet { task_type, program, input } => {
            let (program, pair) = triplet::executed(runner, gate, program, input)?;
            Ok(match task_type {
                TaskType::Abduction => Question::Abduction { program, pair },
                _ => Question::Deduction { program, pair },
            })
        }
        Proposal::Inputs { program, inputs, message } => induction::executed(runner, gate, program, inputs, message),
    }
}

fn refused(status: Status, evidence: Evidence, rule: &str, detail: &str) -> ProposalVerdict {
    let evidence = Evidence { rule: rule.to_owned(), detail: cut(detail), ..evidence };
    ProposalVerdict { verdict: Verdict { status, passed: 0, total: 1, evidence }, task: None }
}

/// Judges an answer. A pure function of the request and the image: no job for deduction, one for the other two.
///
/// # Errors
/// A host fault.
pub fn judge_answer(execute: &dyn Execute, request: &AnswerRequest<'_>) -> Result<Verdict, Dropped> {
    let mut runner = Runner::new(execute);
    let task = request.task;
    let decision = match (&task.question, request.attempt) {
        (_, Attempt::Malformed { reason }) => Decision::on_one(Status::Malformed, reason),
        (Question::Deduction { pair, .. }, Attempt::Value(value)) => deduce(pair, value),
        (Question::Abduction { program, pair }, Attempt::Arguments(arguments)) => {
            abduce(&mut runner, request, program, pair, arguments)?
        }
        (Question::Induction { hidden, .. }, Attempt::Program(program)) => {
            induction::answer(&mut runner, request, program, hidden)?
        }
        (question, _) => Decision::on_one(Status::Malformed, format!("no answer to {}", question.task_type().name())),
    };
    let total = match &task.question {
        Question::Induction { hidden, .. } => u32::try_from(hidden.len()).unwrap_or(u32::MAX),
        _ => 1,
    };
    Ok(Verdict { total, ..decision.into_verdict(runner.evidence) })
}

/// Deduction: the value that was named against the value that was executed, as Python's `==` compares them. No job is run.
fn deduce(pair: &IoPair, value: &Value) -> Decision {
    if value.python_eq(&pair.output) {
        return Decision::on_one(Status::Accepted, "");
    }
    Decision::on_one(Status::WrongAnswer, instead(value, &pair.output))
}

/// Abduction: the program runs on the input that was named, and any input that gives the output is right. One call of the task's program on `arguments`, which are values by now: nothing of the answer's text is run.
fn abduce(
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

/// One call's result against the wanted value.
fn compared(call: &CallResult, wanted: &Value, request: &AnswerRequest<'_>) -> (Status, String) {
    match value(call, &request.task.limits) {
        Ok(output) if output.python_eq(wanted) => (Status::Accepted, String::new()),
        Ok(output) => (Status::WrongAnswer, instead(&output, wanted)),
        Err(NoValue::Raised(detail)) => (Status::RuntimeError, detail),
        // It ran and gave something that equals no plain value.
        Err(NoValue::NoPlainValue(detail)) => (Status::WrongAnswer, detail),
    }
}

/// [`judge_answer`] for each request.
pub fn judge_answers(execute: &dyn Execute, requests: &[AnswerRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_answer(execute, request)).collect()
}

/// [`judge_proposal`] for each request.
pub fn judge_proposals(
    execute: &dyn Execute,
    gate: &Gate,
    requests: &[ProposalRequest<'_>],
) -> Vec<Result<ProposalVerdict, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_proposal(execute, gate, request)).collect()
}
