//! `band`: learnability as the variance of success, highest in the middle.
//!
//! # What it rewards
//! Solver: 1 when Accepted, else 0. Proposer: 4 s (1 − s) for solve rate s, so 1 at s = 1/2 and 0 at both ends; −0.25 for a
//! duplicate, −0.5 for a proposal that is invalid or malformed.
//!
//! # Why
//! s (1 − s) is the learnability score of Rutherford et al. (arXiv 2408.15099) and of Foster and Foerster (arXiv
//! 2502.12272), and with a group baseline it is proportional to the mean squared advantage the task gives the solver. It is
//! estimated best where it is highest, unlike 1 − s, which is highest at the noisiest estimate.
//!
//! # How it can be gamed
//! A two-way coin flip gets the full 1 for ever. It needs the same gate against unpredictable outputs as `quickstart`.
//!
//! # Example
//! Of 8 rollouts 2 solve the task: the proposer gets 0.75; with 4 it would get 1.

use veriplay_core::Reward;

use super::{ProposalOutcome, RewardScheme};

pub(super) struct Band;

impl RewardScheme for Band {
    fn name(&self) -> &'static str {
        "band"
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        outcome.reward_by_rate(|rate| 4.0 * rate * (1.0 - rate))
    }
}
