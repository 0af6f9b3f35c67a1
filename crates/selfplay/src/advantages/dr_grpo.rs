//! `dr_grpo`: GRPO done right (arXiv 2503.20783, section 3.2): GRPO without the division by σ.
//!
//! # What it computes
//! A = r − mean of the group, the group being the rollouts of one question. The paper's other half, a constant in place of the
//! response's length, is the game's `aggregation = "constant_length"`.
//!
//! # Why
//! Unbiased up to the factor G / (G − 1): no question weighs more because its rewards happen to be nearly equal. Up to that factor
//! it is also RLOO (arXiv 2402.14740), whose baseline leaves the rollout itself out.
//!
//! # Example
//! Rewards 1, 0, 0, 0 of one question: 0.75 and three times −0.25.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered};

pub(super) struct DrGrpo;

impl AdvantageEstimator for DrGrpo {
    fn name(&self) -> &'static str {
        "dr_grpo"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        centered(rows, AdvantageRow::question)
    }
}
