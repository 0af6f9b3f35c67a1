//! `random`: the control. The rewards of `quickstart`, shuffled.
//!
//! # What it rewards
//! The rewards of `quickstart`, shuffled within each (role, task type) batch by a permutation seeded by (run seed, step):
//! every batch keeps its multiset of rewards, and no reward belongs to the rollout that earned it.
//!
//! # Why
//! Some models get better under any reward (arXiv 2506.10947). A gain counts for the verifier only as far as the same loop
//! with this reward does not show it.
//!
//! # How it can be gamed
//! It cannot be: a rollout's reward does not depend on the rollout, beyond its share of the batch's multiset.
//!
//! # Example
//! Of 8 rollouts 2 solve the task: two rollouts somewhere in the batch get those two ones.

use veriplay_core::{Reward, Status};

use super::quickstart::Quickstart;
use super::{ProposalOutcome, RewardScheme};

pub(super) struct Random;

impl RewardScheme for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn solver(&self, status: Status, well_formed: bool) -> Reward {
        Quickstart.solver(status, well_formed)
    }

    fn proposer(&self, outcome: ProposalOutcome, well_formed: bool) -> Option<Reward> {
        Quickstart.proposer(outcome, well_formed)
    }

    fn shuffled(&self) -> bool {
        true
    }
}
