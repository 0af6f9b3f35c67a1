//! The interface between the loop in `crates/run` and [`crate::driver`]. The loop owns files, clock and threads; a game reaches the world
//! through the seams of [`StepContext`] alone, and is a pure function of them: the same context, state and step give the same [`StepOutput`],
//! so a run that was killed and resumed writes the same bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Policy, PolicyError, PreferenceBatch, Reward, Role, RolloutId, TrainBatch};

use crate::external::ExternalError;
use crate::splits::Overlap;

/// The policy, the sandbox and the seed of a step.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Generates responses.
    pub policy: &'a dyn Policy,
    /// Runs jobs.
    pub execute: &'a dyn Execute,
    /// The run's seed. Random streams are named by it, a step and a purpose (see [`crate::randomness`]).
    pub seed: u64,
}

/// The output of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepOutput<M, R> {
    /// What the learner does now, in this order. Empty when there is nothing to learn.
    pub batches: Vec<Batch>,
    /// The step in numbers.
    pub metrics: M,
    /// Lines for the log of rollouts.
    pub records: Vec<R>,
    /// Numbers of monitors, by name.
    pub monitors: BTreeMap<&'static str, Measurement>,
    /// What the script says of the step, by name.
    pub numbers: BTreeMap<String, f64>,
    /// Sums for the summary.
    pub counts: OutcomeCounts,
    /// The rewards of rollouts that their trainer numbers, in the order of roles and episodes.
    pub rewarded: Vec<RewardedRollout>,
}

/// The reward of a rollout, for a trainer outside this process. All turns of an episode have the episode's.
#[derive(Debug, Clone, PartialEq)]
pub struct RewardedRollout {
    /// The rollout.
    pub rollout: RolloutId,
    /// Its role.
    pub role: Role,
    /// Its kind of task.
    pub kind: &'static str,
    /// Episodes of one role, kind and group answered the same question, or are compared as if they had.
    pub group: usize,
    /// Index of the episode among the step's of the role.
    pub episode: usize,
    /// Index of the turn in the episode.
    pub turn: usize,
    /// The reward; under the control `random`, another episode's.
    pub reward: Reward,
    /// The advantage.
    pub advantage: f64,
}

/// What the learner takes at once.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch {
    /// Weighted samples, for [`veriplay_core::Learn::update`].
    Samples(TrainBatch),
    /// Pairs, for [`veriplay_core::Learn::prefer`].
    Preferences(PreferenceBatch),
}

/// A number of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measurement {
    /// A count.
    Count(u64),
    /// A mean or a share; `None`, and `null` in the log, where nothing was counted.
    Number(Option<f64>),
}

/// Sums over a step, or over the steps of a run. What a host fault took is only in `dropped`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeCounts {
    /// Proposals judged.
    pub proposals: u64,
    /// Those that were valid.
    pub valid_proposals: u64,
    /// Those that were refused because they hold what the policy is evaluated on.
    pub proposals_in_held_out: u64,
    /// Attempts judged.
    pub attempts: u64,
    /// Those that were right, as far as the game can tell while it plays; tests of verifiers that are sound are.
    pub accepted: u64,
    /// Lost to a host fault.
    pub dropped: u64,
}

impl OutcomeCounts {
    /// Adds the counts of a step.
    pub const fn add(&mut self, step: Self) {
        self.proposals += step.proposals;
        self.valid_proposals += step.valid_proposals;
        self.proposals_in_held_out += step.proposals_in_held_out;
        self.attempts += step.attempts;
        self.accepted += step.accepted;
        self.dropped += step.dropped;
    }

    /// Valid proposals among those judged; 0 where none was.
    pub fn valid_rate(&self) -> f64 {
        self.valid_proposals as f64 / self.proposals.max(1) as f64
    }

    /// Accepted attempts among those judged; 0 where none was.
    pub fn solve_rate(&self) -> f64 {
        self.accepted as f64 / self.attempts.max(1) as f64
    }
}

/// The result of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Verdicts made again.
    pub verdicts: u64,
    /// Those that came out the same.
    pub same: u64,
    /// Those of the others that have another status. What has the same differs in its evidence, such as its fuel, or in what came of it.
    pub other_status: u64,
    /// Logged as dropped: there is no verdict to compare.
    pub dropped: u64,
    /// Those of them that come to a verdict now. A host fault passes, but a log may also hide a verdict so.
    pub recovered: u64,
    /// Met the wall-clock backstop now, and differ: outside reproducibility, and not among the verdicts. What the log says of its own
    /// deadline excuses nothing.
    pub deadline: u64,
}

impl ReplayReport {
    /// Counts a verdict made again: whether it is the same, and whether it met the wall-clock backstop this time.
    pub fn count(&mut self, same: bool, met_deadline: bool) {
        if !same && met_deadline {
            self.deadline += 1;
            return;
        }
        self.verdicts += 1;
        self.same += u64::from(same);
    }
}

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The policy failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The host failed where nothing may be dropped.
    #[error("the host failed: {}", .0.why)]
    Host(Dropped),
    /// Training data hold what the policy is evaluated on.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// A program outside that computes a reward, a curriculum or a factor failed.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// The game cannot be set up or played with these tasks and this configuration.
    #[error("{0}")]
    Setup(String),
}

impl From<Dropped> for PlayError {
    fn from(dropped: Dropped) -> Self {
        Self::Host(dropped)
    }
}
