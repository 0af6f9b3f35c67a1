//! Many judgements at once: one call, every core busy, results in the order of the requests.

use rayon::prelude::*;
use veriplay_core::{Attempt, Dropped, Execute, Judged, Provenance, Task, Verdict};

use crate::triplets::{Gate, judge_answer, judge_proposal};

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

/// [`judge_answer`] for each request.
pub fn judge_answers(execute: &dyn Execute, requests: &[AnswerRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_answer(execute, request)).collect()
}

/// [`judge_proposal`] for each request.
pub fn judge_proposals(
    execute: &dyn Execute,
    gate: &Gate,
    requests: &[ProposalRequest<'_>],
) -> Vec<Result<Judged, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_proposal(execute, gate, request)).collect()
}
