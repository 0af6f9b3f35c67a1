//! `grpo`: group relative policy optimisation (DeepSeekMath, arXiv 2402.03300, section 4.1.2).
//!
//! # What it computes
//! A = (r − mean of the group) / σ of the group, the group being the rollouts of one question.
//!
//! # Why
//! The published form. Dividing by the group's own σ makes a question that is solved once in eight count as much as one solved
//! four times, and so weighs very hard and very easy questions up: see `dr_grpo` for the form without, and `group` for a σ over
//! the batch.
//!
//! # Example
//! Rewards 1, 0, 0, 0 of one question: mean 0.25, σ 0.433, so advantages 1.73 and three times −0.58.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, scaled};

pub(super) struct Grpo;

impl AdvantageEstimator for Grpo {
    fn name(&self) -> &'static str {
        "grpo"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        scaled(rows, centered(rows, AdvantageRow::question), AdvantageRow::question)
    }
}
