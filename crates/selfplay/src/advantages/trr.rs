//! `trr`: TRR++, task-relative REINFORCE++ of Absolute Zero (arXiv 2505.03335, equation 8).
//!
//! # What it computes
//! A = (r − μ) / σ with μ and σ over the (task type, role) batch. Statistics are over samples; the released code takes them
//! over response tokens, which makes the baseline length-weighted. Here a long rollout counts as much as a short one.
//!
//! # Why
//! Six baselines instead of one: a proposer's rewards do not shift a solver's, nor induction deduction. It needs no
//! groups, so it works with one rollout a prompt.
//!
//! # Example
//! Rewards 1, 0, 0, 0 over a batch of four tasks: μ 0.25, σ 0.433, so advantages 1.73 and three times −0.58.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, scaled};

pub(super) struct Trr;

impl AdvantageEstimator for Trr {
    fn name(&self) -> &'static str {
        "trr"
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        scaled(rows, centered(rows, AdvantageRow::batch), AdvantageRow::batch)
    }
}
