//! The lines of the log of rollouts.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::Reward;

use crate::admission::JudgedProposal;
use crate::environment::Environment;
use crate::judgement::{JudgedResponse, Never, ProposalPosition, Seeds};
use crate::rollout::{Episode, FinishedEpisode, TurnRecord};
use crate::scoring::{ScoredEpisode, ScoredTurn};
use crate::task_pool::Source;

/// One line of the log of rollouts: everything its verdicts were made of, so that `replay` can make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(serialize = "R: Serialize, T: Serialize, P: Serialize, S: Serialize, V: Serialize, J: Serialize"))]
#[serde(bound(deserialize = "R: DeserializeOwned, T: DeserializeOwned, P: DeserializeOwned, S: DeserializeOwned, \
    V: DeserializeOwned, J: DeserializeOwned"))]
pub enum LogRecord<R, T, P, S, V, J> {
    /// A proposer's episode.
    Proposal(Box<ProposalRecord<R, T, P>>),
    /// A derivation: a task that no policy proposed.
    Derived(Box<DerivedRecord<V, T, P>>),
    /// A task, and the episodes of its solvers and verifiers.
    Task(Box<TaskRecord<T, S, J>>),
}

/// A line of an environment's log.
pub type Record<E> = LogRecord<
    <E as Environment>::Request,
    <E as Environment>::Task,
    <E as Environment>::ProposalDetail,
    <E as Environment>::SolutionDetail,
    <E as Environment>::Derivation,
    <E as Environment>::Round,
>;

/// An episode as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRecord {
    /// Its turns.
    pub turns: Vec<TurnRecord>,
    /// How it ended; `None` when the host failed in it.
    pub end: Option<String>,
    /// Fuel of its tools.
    pub fuel: u64,
    /// Its reward; `None` for a valid proposal that no solver attempted, and for a host fault.
    pub reward: Option<Reward>,
    /// Its advantage.
    pub advantage: Option<f64>,
    /// The role that played it, where it has another name than its part's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The policy that was sampled, where it is not the one that learns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Each turn, where they were rewarded apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turn_rewards: Vec<ScoredTurn>,
}

impl EpisodeRecord {
    pub(crate) fn new<E: Episode>(finished: &FinishedEpisode<E>, scored: Option<&ScoredEpisode>) -> Self {
        Self {
            turns: finished.turns.iter().map(TurnRecord::from).collect(),
            end: finished.end().map(str::to_owned),
            fuel: finished.episode.fuel(),
            reward: scored.map(|scored| scored.reward.clone()),
            advantage: scored.map(|scored| scored.advantage),
            role: None,
            policy: None,
            turn_rewards: scored.map(|scored| scored.turns.clone()).unwrap_or_default(),
        }
    }
}

/// A proposer's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalRecord<R, T, P> {
    /// Of this record.
    pub schema_version: u32,
    /// Its number within the step.
    pub index: usize,
    /// When and where it was proposed.
    pub proposed: ProposalPosition,
    /// The request.
    pub request: R,
    /// The episode.
    pub episode: EpisodeRecord,
    /// Seeds of what was executed.
    #[serde(default, skip_serializing_if = "Seeds::is_default")]
    pub seeds: Seeds,
    /// The judgement.
    pub judged: JudgedProposal<T, P>,
}

/// A derivation, tried as a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedRecord<V, T, P> {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Its number within the step.
    pub index: usize,
    /// The derivation.
    pub derivation: V,
    /// The judgement.
    pub judged: JudgedProposal<T, P>,
}

/// A task, and the episodes of its solvers and verifiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(serialize = "T: Serialize, S: Serialize, J: Serialize"))]
#[serde(bound(deserialize = "T: DeserializeOwned, S: DeserializeOwned, J: DeserializeOwned"))]
pub struct TaskRecord<T, S, J = Never> {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Number of the task within the step.
    pub index: usize,
    /// The task.
    pub task: T,
    /// Where it comes from.
    pub source: Source,
    /// Seeds of what was executed.
    #[serde(default, skip_serializing_if = "Seeds::is_default")]
    pub seeds: Seeds,
    /// Solvers' episodes.
    pub attempts: Vec<AttemptRecord<S>>,
    /// Verifiers' episodes, in games that have them.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub verifications: Vec<VerificationRecord<S>>,
    /// What is said of them all together; `None` without verifiers, or where the host failed.
    #[serde(default = "no_round", skip_serializing_if = "Option::is_none")]
    pub round: Option<J>,
}

const fn no_round<J>() -> Option<J> {
    None
}

/// A verifier's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerificationRecord<S> {
    /// The response it is about, by its place among the task's.
    pub candidate: usize,
    /// The episode.
    pub episode: EpisodeRecord,
    /// The judgement.
    pub judged: JudgedResponse<S>,
}

/// A solver's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRecord<S> {
    /// The episode.
    pub episode: EpisodeRecord,
    /// The judgement.
    pub judged: JudgedResponse<S>,
}
