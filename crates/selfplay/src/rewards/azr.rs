//! `azr`: the rewards of Absolute Zero Reasoner (arXiv 2505.03335, equations 4 to 6, and its released code).
//!
//! # What it rewards
//! Solver: −1 for a bad format, which is a response without a readable answer or not framed as the prompt demands, even
//! around a right answer; else 1 when Accepted and −0.5 when wrong. Proposer: −1 for a bad format or an invalid proposal,
//! and a badly framed valid one still becomes a task; with solve rate s, 1 − s when that is positive and s > 0, else −0.5.
//! So it is −0.5 at s = 0 and, as the code does and the paper does not say, at s = 1. `azr_inverse` is the code's other
//! option: 1 − s at s = 0 too, so the reward of an unsolved task is 1.
//! Absolute Zero has no duplicates; here the reward of one is −0.5, as of any other task that teaches nothing.
//!
//! # Why
//! It is the published scheme, and what results in the literature are compared with. Format and accuracy share one scale,
//! so a model that cannot keep the format learns that first.
//!
//! # How it can be gamed
//! As `failure_rate`: the jackpot is at s = 1/G. `azr_inverse` rewards most what nobody can solve, such as a hash. The
//! floor mixes format with skill: a solver may learn to be readable and wrong.
//!
//! # Example
//! Of 8 rollouts 1 solves the task: the proposer gets 0.875, that solver 1, the 7 others −0.5.

use veriplay_core::{Reward, Status};

use super::{LEARNABILITY, ProposalOutcome, RewardScheme};

pub(super) struct Azr {
    name: &'static str,
    /// Whether the reward of an unsolved task is 1 − s = 1.
    rewards_unsolved: bool,
}

pub(super) const AZR: Azr = Azr { name: "azr", rewards_unsolved: false };
pub(super) const AZR_INVERSE: Azr = Azr { name: "azr_inverse", rewards_unsolved: true };

impl RewardScheme for Azr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solver(&self, status: Status, well_formed: bool) -> Reward {
        match status {
            _ if !well_formed => bad_format(),
            Status::Malformed => bad_format(),
            Status::Accepted => Reward::single("accuracy", 1.0),
            _ => Reward::single("accuracy", -0.5),
        }
    }

    fn proposer(&self, outcome: ProposalOutcome, well_formed: bool) -> Option<Reward> {
        Some(match outcome {
            ProposalOutcome::Unrated(_) => return None,
            _ if !well_formed => bad_format(),
            ProposalOutcome::Malformed => bad_format(),
            ProposalOutcome::Invalid => Reward::single("validity", -1.0),
            ProposalOutcome::Duplicate => Reward::single("novelty", -0.5),
            ProposalOutcome::Solved(facts) => Reward::single(LEARNABILITY, self.learnability(facts.rate())),
        })
    }
}

fn bad_format() -> Reward {
    Reward::single("format", -1.0)
}

impl Azr {
    fn learnability(&self, rate: f64) -> f64 {
        let reward = if rate <= 0.0 && !self.rewards_unsolved { 0.0 } else { 1.0 - rate };
        if reward > 0.0 { reward } else { -0.5 }
    }
}
