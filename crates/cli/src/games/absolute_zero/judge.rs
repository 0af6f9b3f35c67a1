//! From rollouts to verdicts: the verifier, asked the same way by play, evaluation and replay.

use veriplay_core::{Attempt, Dropped, Execute, Finish, Judged, Provenance, Rollout, Task, TaskType, Verdict};
use veriplay_selfplay::games::absolute_zero::{GameConfig, ProposerTurn};
use veriplay_verifier::{
    AnswerRequest, Format, Gate, ProposalRequest, ProposalShape, format_by_name, judge_answers, judge_proposals,
};

use super::InPlay;

/// The image answers run in.
const IMAGE: &str = "python";

/// Seeds the jobs that judge answers. One for all: a program that depends on it is judged on this one.
const ANSWER_SEED: u64 = 0;

/// Reads a proposal from a rollout.
fn extract_proposal(config: &GameConfig, task_type: TaskType, given: Option<&str>, rollout: &Rollout) -> Attempt {
    let shape = ProposalShape { task_type, given, inputs: config.induction_inputs() };
    finished(rollout.finish, || format(config).extract_proposal(&shape, &rollout.text))
}

/// Reads the proposal that `turn` asked for.
pub(crate) fn extract_turn(config: &GameConfig, turn: &ProposerTurn, rollout: &Rollout) -> Attempt {
    extract_proposal(config, turn.task_type, turn.given.as_deref(), rollout)
}

/// Reads an answer from a rollout.
pub(crate) fn extract_answer(config: &GameConfig, task: &Task, rollout: &Rollout) -> Attempt {
    finished(rollout.finish, || format(config).extract_answer(task.question.task_type(), &rollout.text))
}

/// A rollout that was cut off has not said what it meant.
pub(crate) fn finished(finish: Finish, extract: impl FnOnce() -> Attempt) -> Attempt {
    match finish {
        Finish::Stop => extract(),
        Finish::Length => Attempt::Malformed { reason: "it reached the token limit".to_owned() },
    }
}

/// The reader of the game's format.
pub(crate) fn format(config: &GameConfig) -> &'static dyn Format {
    format_by_name(&config.format).expect("a validated configuration names a format, and both halves have it")
}

/// Judges this step's proposals; the first has number `first` within the step. Nothing runs for those that are measured.
pub(crate) fn proposals(
    execute: &dyn Execute,
    played: &InPlay,
    attempts: &[Attempt],
    known: &[bool],
    step: u64,
    first: u64,
) -> Vec<Result<Judged, Dropped>> {
    let refused: Vec<Option<Judged>> = attempts.iter().map(|attempt| played.game.refuse_measured(attempt)).collect();
    let left = attempts.iter().zip(known).zip(first..).zip(&refused).filter(|(_, refused)| refused.is_none());
    let requests = left.map(|(((attempt, known), index), _)| ProposalRequest {
        attempt,
        known: *known,
        provenance: Provenance::Proposed { step, index },
    });
    let mut judged = judge_proposals(execute, &played.setup.gate, &requests.collect::<Vec<_>>()).into_iter();
    let no_verdict = || Err(Dropped { why: "no verdict was made".to_owned() });
    refused.into_iter().map(|refused| refused.map_or_else(|| judged.next().unwrap_or_else(no_verdict), Ok)).collect()
}

/// Judges drafts of the corpus.
pub(crate) fn seeds(execute: &dyn Execute, gate: &Gate, drafts: &[Attempt]) -> Vec<Result<Judged, Dropped>> {
    let requests = drafts.iter().map(|attempt| ProposalRequest { attempt, known: false, provenance: Provenance::Seed });
    judge_proposals(execute, gate, &requests.collect::<Vec<_>>())
}

/// Judges answers.
pub(crate) fn answers(execute: &dyn Execute, pairs: &[(&Task, &Attempt)]) -> Vec<Result<Verdict, Dropped>> {
    let requests = pairs.iter().map(|(task, attempt)| AnswerRequest { task, attempt, image: IMAGE, seed: ANSWER_SEED });
    judge_answers(execute, &requests.collect::<Vec<_>>())
}
