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

mod abduction;
mod deduction;
mod gate;
mod induction;
pub mod rules;
mod triplet;

use veriplay_core::{Attempt, Dropped, Evidence, Execute, Judged, Proposal, Question, Status, Task, TaskType, Verdict};

use crate::batch::{AnswerRequest, ProposalRequest};
use crate::run::{Runner, cut};
use rules::Stop;

pub use gate::{Gate, GateError, InductionRules, ProbeRules};

/// Family of tasks that proposals become.
pub const PROPOSED: &str = "proposed";

/// Judges a proposal: Valid with the task it became, Invalid with the rule that refused it in `evidence.rule` (see
/// `rules`), or Malformed. Runs at most two jobs, none when a rule on the text decides.
///
/// # Errors
/// A host fault.
pub fn judge_proposal(execute: &dyn Execute, gate: &Gate, request: &ProposalRequest<'_>) -> Result<Judged, Dropped> {
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
    Ok(Judged { verdict, task: Some(task) })
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

fn refused(status: Status, evidence: Evidence, rule: &str, detail: &str) -> Judged {
    let evidence = Evidence { rule: rule.to_owned(), detail: cut(detail), ..evidence };
    Judged { verdict: Verdict { status, passed: 0, total: 1, evidence }, task: None }
}

/// Judges an answer. A pure function of the request and the image: no job for deduction, one for the other two.
///
/// # Errors
/// A host fault.
pub fn judge_answer(execute: &dyn Execute, request: &AnswerRequest<'_>) -> Result<Verdict, Dropped> {
    let mut runner = Runner::new(execute);
    let task = request.task;
    let decision = match (&task.question, request.attempt) {
        (_, Attempt::Malformed { reason }) => Decision::one(Status::Malformed, reason),
        (Question::Deduction { pair, .. }, Attempt::Value(value)) => deduction::answer(pair, value),
        (Question::Abduction { program, pair }, Attempt::Arguments(arguments)) => {
            abduction::answer(&mut runner, request, program, pair, arguments)?
        }
        (Question::Induction { hidden, .. }, Attempt::Program(program)) => {
            induction::answer(&mut runner, request, program, hidden)?
        }
        (question, _) => Decision::one(Status::Malformed, &format!("no answer to {}", question.task_type().name())),
    };
    let total = match &task.question {
        Question::Induction { hidden, .. } => u32::try_from(hidden.len()).unwrap_or(u32::MAX),
        _ => 1,
    };
    let evidence = Evidence { detail: cut(&decision.detail), ..runner.evidence };
    Ok(Verdict { status: decision.status, passed: decision.passed, total, evidence })
}

/// What a judge of answers found.
struct Decision {
    status: Status,
    passed: u32,
    detail: String,
}

impl Decision {
    /// On a single check.
    fn one(status: Status, detail: &str) -> Self {
        Self { status, passed: u32::from(status == Status::Accepted), detail: detail.to_owned() }
    }
}
