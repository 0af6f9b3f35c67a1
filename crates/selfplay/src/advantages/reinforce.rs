//! `reinforce`: REINFORCE with a mean baseline (Williams 1992).
//!
//! # What it computes
//! A = r − mean of all rewards of the batch, both roles and all task types together, without scaling.
//!
//! # Why
//! The plainest estimator, for comparison: what the others gain by separate baselines and scaling shows against it.
//!
//! # Example
//! Rewards 1, 0, 0, 0: mean 0.25, so advantages 0.75 and three times −0.25.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered};

pub(super) struct Reinforce;

impl AdvantageEstimator for Reinforce {
    fn name(&self) -> &'static str {
        "reinforce"
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        centered(rows, |_| ())
    }
}
