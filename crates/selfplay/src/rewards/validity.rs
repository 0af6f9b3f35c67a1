//! `validity`: a proposer is rewarded for what the gate lets through, however hard it is.
//!
//! # What it rewards
//! Solver: 1 when Accepted, else 0. Proposer: 1 for a task that is valid and new, whether or not solvers attempted it; 0 for any
//! other proposal.
//!
//! # Why
//! It is the filter of Self-Challenging Agents (arXiv 2506.01716) as a reward: that paper imitates the proposals that pass.
//!
//! # How it can be gamed
//! The easiest task that passes the gate gets as much as any: nothing holds the proposer at the edge of what the solver can do.
//!
//! # Example
//! Of 8 rollouts none solves the task: the proposer gets 1.

use veriplay_core::Reward;

use super::{ProposalOutcome, RewardScheme};

pub(super) struct Validity;

impl RewardScheme for Validity {
    fn name(&self) -> &'static str {
        "validity"
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        Some(Reward::single("validity", f64::from(u8::from(outcome.facts().is_some()))))
    }
}
