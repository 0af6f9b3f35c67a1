//! `quickstart` and `random`: plain accuracy against learnability, without format terms; and the control.
//!
//! # What it rewards
//! Solver: 1 when Accepted, else 0. Proposer: 1 − s for a task with solve rate 0 < s < 1, 0 for s = 0 or s = 1, −0.25 for
//! a duplicate, −0.5 for a proposal that is invalid or malformed. `random` shuffles these rewards within each (role, task type) batch by a
//! permutation seeded by (run seed, step): every batch keeps its multiset of rewards, and no reward belongs to the rollout that earned it.
//!
//! # Why
//! It is the setting that was measured to train a 1M model in minutes. A duplicate costs something, or the proposer
//! falls into one family of tasks; an invalid proposal costs more, or the share of valid ones falls. Some models get better under any
//! reward (arXiv 2506.10947): a gain counts for the verifier only as far as the same loop with `random` does not show it.
//!
//! # How it can be gamed
//! A task that is a coin flip gets 1 − s ≈ 0.5 for ever, for example a long sum ending in `% 2`: nobody can compute it, and
//! guessing is often right. The highest reward is at s = 1/G, where the estimate is noisiest. The validity gate (distinct
//! outputs, few statements), a small `proposer_weight` and the SFT regulariser hold against it. Under `random` a rollout's reward does not
//! depend on the rollout, beyond its share of the batch's multiset.
//!
//! # Example
//! Of 8 rollouts 2 solve the task: those solvers get 1, the others 0, and the proposer gets 0.75.

use veriplay_core::Reward;

use super::{ProposalOutcome, RewardScheme};

pub(super) struct Quickstart {
    name: &'static str,
    shuffled: bool,
}

pub(super) const QUICKSTART: Quickstart = Quickstart { name: "quickstart", shuffled: false };
pub(super) const RANDOM: Quickstart = Quickstart { name: "random", shuffled: true };

impl RewardScheme for Quickstart {
    fn name(&self) -> &'static str {
        self.name
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        outcome.reward_by_rate(learnability)
    }

    fn shuffled(&self) -> bool {
        self.shuffled
    }
}

/// 1 − s inside (0, 1), and 0 at both ends.
fn learnability(rate: f64) -> f64 {
    if rate <= 0.0 { 0.0 } else { 1.0 - rate }
}
