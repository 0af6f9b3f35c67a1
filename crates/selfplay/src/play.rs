//! What a game is to the loop: it begins, takes steps, is measured, and judges what it has logged again.
//!
//! Called by the loop in `crates/cli`, which owns files, clock and threads, and by tests with a scripted policy. A game reaches the
//! world through the seams of [`Arena`] alone, and is a pure function over them: the same arena, state and step give the same
//! [`Played`], so a run that was killed and resumed writes the same bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_core::{Dropped, Execute, Policy, PolicyError, PreferenceBatch, Prompt, TrainBatch};

use crate::splits::{Guard, Overlap};

/// Whom a game plays with, and what its randomness is drawn from.
#[derive(Clone, Copy)]
pub struct Arena<'a> {
    /// Generates.
    pub policy: &'a dyn Policy,
    /// Runs what was generated.
    pub execute: &'a dyn Execute,
    /// Of everything random, together with a step and a purpose (see [`crate::randomness`]): the run's.
    pub seed: u64,
}

/// A game in play. What it is set up with (its config, its tasks) is `self`, and never changes; what does is its `State`.
pub trait Play {
    /// Carried from step to step and saved with every checkpoint.
    type State: Serialize + DeserializeOwned;
    /// One line of the log of rollouts: everything that its verdicts were made of.
    type Record: Serialize + DeserializeOwned;
    /// What a step says of itself.
    type Metrics: Serialize;
    /// What it is measured by.
    type Held: HeldOut;

    /// What may not be trained on: everything of the validation and the held-out set.
    fn guard(&self) -> &Guard;

    /// The state before step 0: a function of the game, the seed and the start model.
    ///
    /// # Errors
    /// A fault of the policy or of the host, or tasks that cannot be made.
    fn begin(&self, arena: &Arena<'_>) -> Result<Self::State, PlayError>;

    /// Plays step `step`. On an error the state is worth nothing: the loop goes back to its last checkpoint.
    ///
    /// # Errors
    /// A fault of the policy. A host fault drops what it touched, and the step goes on.
    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut Self::State,
        step: u64,
    ) -> Result<Played<Self::Metrics, Self::Record>, PlayError>;

    /// Measures the policy on held-out tasks, with samples seeded by `arena.seed`. The loop gives the same seed before and after
    /// every run, so that the two differ in the weights alone.
    ///
    /// # Errors
    /// A fault of the policy, or of the host: a number with holes is no number.
    fn measure(&self, arena: &Arena<'_>) -> Result<Self::Held, PlayError>;

    /// Judges again what `records` hold, from the logged texts, and compares. Records of one step may come in several calls.
    ///
    /// # Errors
    /// A host fault: a verdict could not be made again.
    fn judge_again(&self, execute: &dyn Execute, records: &[Self::Record]) -> Result<Again, PlayError>;

    /// What it would ask, for people who try a config out: a prompt of each role, made of a real task.
    ///
    /// # Errors
    /// Tasks that cannot be made, or a host fault while they are.
    fn examples(&self, execute: &dyn Execute) -> Result<Vec<Example>, PlayError>;
}

/// What came of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Played<M, R> {
    /// What the learner does now, in this order. Empty when there is nothing to learn.
    pub lessons: Vec<Lesson>,
    /// What the step says of itself.
    pub metrics: M,
    /// Lines for the log of rollouts.
    pub records: Vec<R>,
    /// What the summary adds up.
    pub counts: Counts,
}

/// One optimizer step's worth.
#[derive(Debug, Clone, PartialEq)]
pub enum Lesson {
    /// Weighted samples, for [`veriplay_core::Learn::update`].
    Samples(TrainBatch),
    /// Pairs, for [`veriplay_core::Learn::prefer`].
    Pairs(PreferenceBatch),
}

/// Sums over steps. What a host fault took is in `dropped` alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Proposals judged.
    pub proposals: u64,
    /// Those that were valid.
    pub valid_proposals: u64,
    /// Those that were refused because they hold what is measured.
    pub proposals_in_held_out: u64,
    /// Attempts judged.
    pub attempts: u64,
    /// Those that were right, as far as the game can tell while it plays.
    pub accepted: u64,
    /// Lost to a host fault.
    pub dropped: u64,
}

/// A held-out measurement. Fractions of 1, means over its rows.
pub trait HeldOut: Serialize + DeserializeOwned {
    /// Names of its rows, such as task types or roles, each with pass@1 at temperature 1, greedy accuracy and pass@8.
    fn rows(&self) -> Vec<(String, [f64; 3])>;
    /// The same, as means over the rows.
    fn mean(&self) -> [f64; 3];
}

/// What judging again found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Again {
    /// Verdicts made again.
    pub verdicts: u64,
    /// Those that came out the same.
    pub same: u64,
    /// Logged as dropped: there was no verdict to make again.
    pub dropped: u64,
    /// Met the wall-clock backstop then or now, and differ: outside reproducibility, and not among the verdicts.
    pub deadline: u64,
}

impl Again {
    /// Counts a verdict made again: whether it is the same, and whether either of the two met the wall-clock backstop.
    pub fn count(&mut self, same: bool, met_deadline: bool) {
        if !same && met_deadline {
            self.deadline += 1;
            return;
        }
        self.verdicts += 1;
        self.same += u64::from(same);
    }
}

/// A prompt as it would be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What it is, for people: the role and what it is to do.
    pub what: String,
    /// The prompt.
    pub prompt: Prompt,
}

/// Why a game cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The policy failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The host failed where nothing may be dropped.
    #[error("the host failed: {}", .0.why)]
    Host(Dropped),
    /// What is configured to train is measured too.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// Its tasks or its config are not such that it can be played.
    #[error("{0}")]
    Setup(String),
}

impl From<Dropped> for PlayError {
    fn from(dropped: Dropped) -> Self {
        Self::Host(dropped)
    }
}
