//! Lines of the log of rollouts: everything that the game's verdicts were made of, so that they can be made again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Patch, Reward, SCHEMA_VERSION, Verdict};
use veriplay_verifier::bugs::BugProposal;

use super::config::Mode;
use super::drive::Done;
use super::episode::End;
use super::state::{Kept, Source};
use crate::episodes::{TurnRecord, turns};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// An injector's episode.
    Injection(Box<InjectionRecord>),
    /// A mutant, or a failed repair, that was tried as a bug.
    Candidate(Box<CandidateRecord>),
    /// A solver's episode.
    Repair(Box<RepairRecord>),
}

/// An episode as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRecord {
    /// Its turns.
    pub turns: Vec<TurnRecord>,
    /// How it ended; `None` when the host failed in it.
    pub end: Option<End>,
    /// Fuel of its tools.
    pub fuel: u64,
    /// Seeds its runs of tests.
    pub seed: u64,
    /// What it was paid; `None` where it was not.
    pub reward: Option<Reward>,
    /// Its advantage.
    pub advantage: Option<f64>,
}

impl EpisodeRecord {
    pub(super) fn of(done: &Done, seed: u64) -> Self {
        Self {
            turns: turns(&done.said),
            end: done.episode.end().filter(|_| done.dropped.is_none()),
            fuel: done.episode.fuel(),
            seed,
            reward: None,
            advantage: None,
        }
    }
}

/// The judgement on a proposed bug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedBug {
    /// Valid, or not and why. What was refused before the checks has the rule it broke.
    pub verdict: Verdict,
    /// The bug, when it is valid.
    pub bug: Option<Kept>,
    /// Whether the game had it already: given or made before. An input of what is paid, not of the verdict.
    pub known: bool,
}

/// An injector's episode, and the bug it made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionRecord {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Its number within the step.
    pub index: usize,
    /// The repository.
    pub package: Digest,
    /// How the bug was to be made.
    pub mode: Mode,
    /// The file of the function it was told.
    pub path: String,
    /// That function.
    pub function: String,
    /// The episode.
    pub episode: EpisodeRecord,
    /// The verdict, or the host fault.
    pub judged: Result<JudgedBug, Dropped>,
}

/// A bug that no policy made on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateRecord {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// The repository.
    pub package: Digest,
    /// The operator, or who made the bug whose repair failed.
    pub injector: String,
    /// What was tried.
    pub tried: Tried,
    /// The verdict, or the host fault.
    pub judged: Result<JudgedBug, Dropped>,
}

/// What was tried as a bug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tried {
    /// A mutant: original → buggy.
    Mutant(Patch),
    /// A bug of the second order, whole.
    HigherOrder(BugProposal),
}

/// A solver's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairRecord {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Number of the task within the step.
    pub task: usize,
    /// Which of its group.
    pub sample: usize,
    /// The bug.
    pub bug: Kept,
    /// Where it comes from.
    pub source: Source,
    /// Test functions that it was shown nothing of.
    pub hidden: BTreeSet<String>,
    /// The episode.
    pub episode: EpisodeRecord,
    /// What it made, as a patch over what it was handed; empty for none.
    pub patch: String,
    /// Seeds the grading.
    pub grade_seed: u64,
    /// The verdict, or the host fault.
    pub judged: Result<Verdict, Dropped>,
}

/// Of every record here.
pub(super) const VERSION: u32 = SCHEMA_VERSION;
