//! `rft`: rejection-sampling fine-tuning (RAFT, arXiv 2304.06767, algorithm 1; RFT, arXiv 2308.01825).
//!
//! # What it computes
//! Of a batch only the rollouts with A > 0 are kept, and imitated: −log π(token), each with weight 1 whatever its A. The sum is
//! divided by what is kept, not by the batch's normalizer, so that a batch with few successes does not take a smaller step.
//!
//! # Why
//! Stable where policy gradients are not: nothing is ever pushed down. With 0/1 rewards and no baseline it is one step of REINFORCE.
//! With a centred advantage, groups that always succeed have A = 0 and are left out too.
//!
//! # Example
//! A = 0.5, −0.5, 2: the first and the third are imitated alike.

use serde::{Deserialize, Serialize};

use super::{TokenLoss, TokenTerm, TokenView};

/// Imitates the rollouts of positive advantage. It has no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rft {}

impl TokenLoss for Rft {
    fn keeps(&self, weight: f32) -> bool {
        weight > 0.0
    }

    fn effective_weight(&self, _: f32) -> f32 {
        1.0
    }

    fn means_over_kept(&self) -> bool {
        true
    }

    fn token(&self, seen: TokenView) -> TokenTerm {
        TokenTerm::weighted(seen.weight, seen.logprob)
    }
}
