//! Judges Absolute Zero's triplets (arXiv 2505.03335, §3): proposals by a gate, answers against executed values.
//!
//! # What it decides
//! Whether a proposal is a useful task, and whether an answer is right. `gate` holds the conditions on proposals as data; deduction,
//! abduction, induction and error tasks each judge their own answers.
//!
//! # Why
//! The original release compares by evaluating text, in the trainer or inside a script, and takes a run for failed when its last line
//! contains "error". Here a program gets plain inputs and returns plain values, and the host compares.
//!
//! # How it can be gamed
//! A program can detect repeated calls and their order. The gate's two jobs call in rotated orders, so that an output which depends on
//! earlier calls differs between them. A program whose few outputs nobody can compute, such as a digest's remainder, passes all rules here: the
//! verdict says how often a guess would be right, and the reward counts what is above.

mod error;
mod gate;
mod induction;
pub mod rules;
mod scan;
mod trace;
mod triplet;

use veriplay_core::{
    Attempt, CallResult, Dropped, Evidence, Execute, IoPair, Proposal, ProposalVerdict, Provenance, Question, Status,
    Task, TaskType, Value, Verdict,
};

use crate::languages::{language_of, literals_of, task_language};
use crate::runner::{
    Decision, EXCERPT_CHARS, NoValue, Runner, decode_call, describe_mismatch, entry_job, job_failure, on_all_cores,
    saturating_u32,
};
use rules::ProposalError;

pub(crate) use error::BUILT_IN_EXCEPTIONS;
pub use gate::{InductionRules, ProbeRules, ProposalGate, ProposalGateError};
pub use trace::waypoints;

/// One answer to judge.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRequest<'a> {
    /// The task it answers.
    pub task: &'a Task,
    /// The extracted attempt.
    pub attempt: &'a Attempt,
    /// The name of the image.
    pub image: &'a str,
    /// Seeds its job.
    pub seed: u64,
    /// Whether an answer to an induction task must also meet the pairs that its solver saw.
    pub judge_shown: bool,
}

impl AnswerRequest<'_> {
    /// The pairs that an answer to an induction task must meet; none of another task.
    fn pairs(&self) -> Vec<&IoPair> {
        match &self.task.question {
            Question::Induction { visible, hidden, .. } => {
                let shown = visible.iter().filter(|_| self.judge_shown);
                shown.chain(hidden).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// One proposal to judge.
#[derive(Debug, Clone)]
pub struct ProposalRequest<'a> {
    /// What was extracted.
    pub attempt: &'a Attempt,
    /// Whether the caller has the same proposal already.
    pub known: bool,
    /// The provenance of the new task.
    pub provenance: Provenance,
}

/// Judges a proposal: Valid with its task, Invalid with the violated rule in `evidence.rule` (see `rules`), or Malformed. Runs at most two
/// jobs, four for an error task, and none when a rule on the text decides.
///
/// # Errors
/// A host fault.
pub fn judge_proposal(
    execute: &dyn Execute,
    gate: &ProposalGate,
    request: &ProposalRequest<'_>,
) -> Result<ProposalVerdict, Dropped> {
    let proposal = match request.attempt {
        Attempt::Proposal(proposal) => proposal,
        Attempt::Malformed { reason } => return Ok(reject(Status::Malformed, Evidence::default(), "", reason)),
        _ => return Ok(reject(Status::Malformed, Evidence::default(), "", "an answer instead of a proposal")),
    };
    let mut runner = Runner::new(execute);
    let (question, guess_rate) = match execute_proposal(&mut runner, gate, proposal, request.known) {
        Ok(executed) => executed,
        Err(ProposalError::Refused { rule, detail }) => {
            return Ok(reject(Status::Invalid, runner.evidence, rule, &detail));
        }
        Err(ProposalError::Dropped(dropped)) => return Err(dropped),
    };
    let provenance = request.provenance.clone();
    let (family, language) = ("proposed".to_owned(), task_language(gate.language()));
    let task = Task { family, language, question, limits: gate.limits, provenance };
    let verdict = Verdict { status: Status::Valid, passed: 1, total: 1, evidence: runner.evidence };
    Ok(ProposalVerdict { verdict, task: Some(task), guess_rate })
}

/// Runs a proposal; returns its question, and for a triplet how often a guess would be right.
fn execute_proposal(
    runner: &mut Runner<'_>,
    gate: &ProposalGate,
    proposal: &Proposal,
    known: bool,
) -> Result<(Question, Option<f64>), ProposalError> {
    if known {
        return Err(ProposalError::refused(rules::DUPLICATE, "the same proposal has been made before"));
    }
    Ok(match proposal {
        Proposal::Inputs { program, inputs, message } => {
            (induction::execute(runner, gate, program, inputs, message)?, None)
        }
        Proposal::Triplet { task_type: TaskType::Error, program, input } => {
            (error::execute(runner, gate, program, input)?, None)
        }
        Proposal::Triplet { task_type, program, input } => {
            let (pair, guess_rate) = triplet::execute(runner, gate, program, input)?;
            let program = program.clone();
            let question = match task_type {
                TaskType::Abduction => Question::Abduction { program, pair },
                _ => Question::Deduction { program, pair },
            };
            (question, Some(guess_rate))
        }
    })
}

fn reject(status: Status, evidence: Evidence, rule: &str, detail: &str) -> ProposalVerdict {
    let verdict = Decision::by_rule(status, rule, detail).into_verdict(evidence);
    ProposalVerdict { verdict, task: None, guess_rate: None }
}

/// Judges an answer. A pure function of the request and the image. Runs one job for abduction and induction, none for the other two.
///
/// # Errors
/// A host fault.
pub fn judge_answer(execute: &dyn Execute, request: &AnswerRequest<'_>) -> Result<Verdict, Dropped> {
    let mut runner = Runner::new(execute);
    let task = request.task;
    let decision = match (&task.question, request.attempt) {
        (_, Attempt::Malformed { reason }) => Decision::on_one(Status::Malformed, reason),
        (Question::Deduction { pair, .. }, Attempt::Value(value)) => compare_values(task, value, &pair.output).into(),
        (Question::Abduction { program, pair }, Attempt::Arguments(arguments)) => {
            judge_abduction(&mut runner, request, program, pair, arguments)?
        }
        (Question::Induction { .. }, Attempt::Program(program)) => {
            induction::judge_answer(&mut runner, request, program)?
        }
        (Question::Error { exception, .. }, Attempt::Exception(name)) => error::judge_answer(exception, name),
        (question, _) => Decision::on_one(Status::Malformed, format!("no answer to {}", question.task_type().name())),
    };
    let total = match &task.question {
        Question::Induction { .. } => saturating_u32(request.pairs().len()),
        _ => 1,
    };
    Ok(Verdict { total, ..decision.into_verdict(runner.evidence) })
}

/// Judges an abduction: calls the task's program on the predicted input, which is right when the program returns the output. The text of
/// the answer never runs.
fn judge_abduction(
    runner: &mut Runner<'_>,
    request: &AnswerRequest<'_>,
    program: &str,
    pair: &IoPair,
    arguments: &[Value],
) -> Result<Decision, Dropped> {
    let limits = request.task.limits;
    let outcome = runner.run(&entry_job(request.image, program, vec![arguments.to_vec()], limits, request.seed))?;
    let compared = match (job_failure(&outcome), outcome.calls.first()) {
        (Some(failure), _) => failure,
        (None, Some(call)) => compare_output(call, &pair.output, request),
        (None, None) => (Status::RuntimeError, "no result".to_owned()),
    };
    Ok(compared.into())
}

/// Compares the result of a call with the expected value.
fn compare_output(call: &CallResult, wanted: &Value, request: &AnswerRequest<'_>) -> (Status, String) {
    match decode_call(call, &request.task.limits) {
        Ok(output) => compare_values(request.task, &output, wanted),
        Err(NoValue::Raised(detail)) => (Status::RuntimeError, detail),
        // The call returned an object that equals no plain value.
        Err(NoValue::NoPlainValue(detail)) => (Status::WrongAnswer, detail),
    }
}

/// Compares as the language of the task does.
fn compare_values(task: &Task, actual: &Value, expected: &Value) -> (Status, String) {
    let literals = literals_of(language_of(task));
    if literals.are_equal(actual, expected) {
        return (Status::Accepted, String::new());
    }
    let [actual, expected] = [actual, expected].map(|value| literals.excerpt(value, EXCERPT_CHARS));
    (Status::WrongAnswer, describe_mismatch(&actual, &expected))
}

/// [`judge_answer`] for each request.
pub fn judge_answers(execute: &dyn Execute, requests: &[AnswerRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    on_all_cores(requests, |request| judge_answer(execute, request))
}

/// [`judge_proposal`] for each request.
pub fn judge_proposals(
    execute: &dyn Execute,
    gate: &ProposalGate,
    requests: &[ProposalRequest<'_>],
) -> Vec<Result<ProposalVerdict, Dropped>> {
    on_all_cores(requests, |request| judge_proposal(execute, gate, request))
}
