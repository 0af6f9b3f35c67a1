//! Lines of the log of rollouts: everything that the game's verdicts were made of, so that they can be made again.

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Dropped, Reward, SCHEMA_VERSION, Verdict};

use super::drive::Done;
use super::tasks::Source;
use crate::episodes::{TurnRecord, turns};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A challenger's episode.
    Challenge(Box<ChallengeRecord>),
    /// A task, and the executors' episodes at it.
    Task(Box<TaskRecord>),
}

/// An episode as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRecord {
    /// Its turns.
    pub turns: Vec<TurnRecord>,
    /// How it ended; `None` when the host failed in it.
    pub end: Option<String>,
    /// Fuel of its code.
    pub fuel: u64,
    /// What it was paid; `None` where it was not.
    pub reward: Option<Reward>,
    /// Its advantage.
    pub advantage: Option<f64>,
}

impl EpisodeRecord {
    pub(super) fn of(done: &Done) -> Self {
        let end = done.episode.end().filter(|_| done.dropped.is_none());
        Self {
            turns: turns(&done.said),
            end: end.map(|end| end.name().to_owned()),
            fuel: done.episode.fuel(),
            reward: None,
            advantage: None,
        }
    }
}

/// The judgement on what a challenger proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedTask {
    /// Valid, Invalid with the first rule that refuses it, or Malformed where nothing was proposed.
    pub verdict: Verdict,
    /// All rules that refuse it.
    pub rules: Vec<String>,
    /// The whole artifact, where something was proposed.
    pub task: Option<CodeTask>,
}

/// A challenger's episode, and the task it made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeRecord {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Its number within the step.
    pub index: usize,
    /// The environment's name.
    pub environment: String,
    /// The tool that the task may be about.
    pub tool: String,
    /// Whether the game had such a task: given, kept, or earlier in the step. An input of the gate.
    pub known: bool,
    /// Seeds its code.
    pub seed: u64,
    /// The episode.
    pub episode: EpisodeRecord,
    /// The verdict, or the host fault.
    pub judged: Result<JudgedTask, Dropped>,
}

/// An executor's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRecord {
    /// The episode.
    pub episode: EpisodeRecord,
    /// The verdict, or the host fault.
    pub judged: Result<Verdict, Dropped>,
}

/// A task, and the executors' episodes at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRecord {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Its number within the step.
    pub index: usize,
    /// The task.
    pub task: CodeTask,
    /// Where it comes from.
    pub source: Source,
    /// Seeds code and verification functions.
    pub seed: u64,
    /// The episodes.
    pub attempts: Vec<AttemptRecord>,
}

/// Of every record here.
pub(super) const VERSION: u32 = SCHEMA_VERSION;
