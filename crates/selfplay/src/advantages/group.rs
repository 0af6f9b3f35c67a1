//! `group`: against the mean of the same question's rollouts.
//!
//! # What it computes
//! A = (r − mean of the group) / σ, where σ is the deviation of the rewards of the whole (role, task type) batch. The
//! centring is GRPO's (arXiv 2402.03300); the batch-wide σ keeps a group with one lucky success from weighing more than
//! one with half.
//!
//! # Why
//! The group mean is the best baseline there is for a question: easy and hard tasks stop shifting each other. A group of
//! equal rewards gives 0, so tasks that are always or never solved do not train.
//!
//! # Example
//! Rewards 1, 0, 0, 0 of one task: mean 0.25, σ 0.433, so advantages 1.73 and three times −0.58.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, scaled};

pub(super) struct Group;

impl AdvantageEstimator for Group {
    fn name(&self) -> &'static str {
        "group"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        scaled(rows, centered(rows, AdvantageRow::question), AdvantageRow::batch)
    }
}
