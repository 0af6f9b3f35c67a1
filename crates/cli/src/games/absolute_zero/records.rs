//! The lines of `rollouts.jsonl.zst`: everything a verdict was made of, so that `replay` can make it again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Attempt, Dropped, Finish, Judged, Reward, Rollout, SCHEMA_VERSION, Task, TaskType, Verdict};
use veriplay_selfplay::games::absolute_zero::{
    ProposalRecord, ProposerTurn, SampleRef, Scored, ScoredSample, SolverRecord, SolverTurn,
};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecordLine {
    Proposer(Box<ProposerRecord>),
    Solver(Box<SolverRecordLine>),
}

/// What the policy wrote, and what it earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) tokens: Vec<u32>,
    /// Behaviour log-probabilities, in nats.
    pub(super) logprobs: Vec<f32>,
    pub(super) finish: Finish,
    /// `None` where the sample was not scored: a valid proposal beyond the step's tasks, or a Dropped attempt.
    pub(super) reward: Option<Reward>,
    pub(super) advantage: Option<f64>,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposerRecord {
    pub(super) schema_version: u32,
    pub(super) step: u64,
    /// Its number within the step.
    pub(super) index: u64,
    pub(super) task_type: TaskType,
    pub(super) prompt: String,
    pub(super) given: Option<String>,
    pub(super) written: Written,
    pub(super) attempt: Attempt,
    /// Whether the same proposal was known already: an input of the verdict.
    pub(super) known: bool,
    pub(super) judged: Result<Judged, Dropped>,
}

/// All attempts at one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolverRecordLine {
    pub(super) schema_version: u32,
    pub(super) step: u64,
    /// Number of the task within the step.
    pub(super) turn: u64,
    pub(super) prompt: String,
    pub(super) task: Task,
    pub(super) attempts: Vec<SolverAttempt>,
}

/// One of a task's group of attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SolverAttempt {
    pub(super) written: Written,
    pub(super) attempt: Attempt,
    pub(super) judged: Result<Verdict, Dropped>,
}

/// The lines of one step, in the order of its turns.
pub(super) fn lines(step: u64, asked: &Asked<'_>, scored: &Scored) -> Vec<RecordLine> {
    let scores: HashMap<SampleRef, &ScoredSample> =
        scored.samples.iter().map(|sample| (sample.source, sample)).collect();
    let proposals = asked.proposals.iter().enumerate().map(|(index, record)| {
        let turn = &asked.proposer_turns[record.turn];
        let score = scores.get(&SampleRef::Proposal(index)).copied();
        RecordLine::Proposer(Box::new(proposer_line(step, index, turn, record, score)))
    });
    let turns = asked.turns.iter().enumerate().map(|(number, turn)| {
        let own = asked.answers.iter().enumerate().filter(|(_, record)| record.turn == number);
        let attempts = own.map(|(index, record)| SolverAttempt {
            written: written(&record.rollout, scores.get(&SampleRef::Solver(index)).copied()),
            attempt: record.attempt.clone(),
            judged: record.judged.clone(),
        });
        RecordLine::Solver(Box::new(SolverRecordLine {
            schema_version: SCHEMA_VERSION,
            step,
            turn: number as u64,
            prompt: turn.prompt.text.clone(),
            task: turn.task.clone(),
            attempts: attempts.collect(),
        }))
    });
    proposals.chain(turns).collect()
}

/// Everything of one step that is logged.
pub(super) struct Asked<'a> {
    pub(super) proposer_turns: &'a [ProposerTurn],
    pub(super) proposals: &'a [ProposalRecord],
    pub(super) turns: &'a [SolverTurn],
    pub(super) answers: &'a [SolverRecord],
}

fn proposer_line(
    step: u64,
    index: usize,
    turn: &ProposerTurn,
    record: &ProposalRecord,
    score: Option<&ScoredSample>,
) -> ProposerRecord {
    ProposerRecord {
        schema_version: SCHEMA_VERSION,
        step,
        index: index as u64,
        task_type: record.task_type,
        prompt: turn.prompt.text.clone(),
        given: turn.given.clone(),
        written: written(&record.rollout, score),
        attempt: record.attempt.clone(),
        known: record.known,
        judged: record.judged.clone(),
    }
}

fn written(rollout: &Rollout, score: Option<&ScoredSample>) -> Written {
    Written {
        text: rollout.text.clone(),
        tokens: rollout.tokens.clone(),
        logprobs: rollout.logprobs.clone(),
        finish: rollout.finish,
        reward: score.map(|score| score.reward.clone()),
        advantage: score.map(|score| score.advantage),
    }
}
