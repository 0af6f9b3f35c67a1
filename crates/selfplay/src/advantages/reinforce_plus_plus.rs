//! `reinforce_plus_plus`: REINFORCE++ (arXiv 2501.03262): normalisation over the global batch.
//!
//! # What it computes
//! A = (r − μ) / σ with μ and σ over all rewards of the batch, both roles and all task types together. The paper's token-level
//! KL penalty is the learner's: `kl` in the reward.
//!
//! # Why
//! One baseline that no group can make degenerate, and steps of one size whatever the scale of the rewards. It needs no groups.
//! Roles whose rewards have different scales share it; `trr` mends that.
//!
//! # Example
//! Rewards 1, 0, 0, 0: μ 0.25, σ 0.433, so advantages 1.73 and three times −0.58, whoever earned them.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, scaled};

pub(super) struct ReinforcePlusPlus;

impl AdvantageEstimator for ReinforcePlusPlus {
    fn name(&self) -> &'static str {
        "reinforce_plus_plus"
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        scaled(rows, centered(rows, |_| ()), |_| ())
    }
}
