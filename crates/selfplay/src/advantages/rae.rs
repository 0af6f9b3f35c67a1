//! `rae`: role-conditioned advantage estimation of SPIRAL (arXiv 2506.24119).
//!
//! # What it computes
//! A = r − b with a running baseline b for each role and kind of task, as it was before the batch; b begins at 0. Afterwards
//! b ← 0.95ⁿ·b + (1 − 0.95ⁿ)·m for the n rewards of the batch and their mean m: what n updates of the released code with m would
//! do, and the same in whatever order the rewards come.
//!
//! # Why
//! Needs no groups, and its baseline is not made of the rewards it is taken from: unlike the other estimators it is unbiased, and a
//! batch in which everything was solved still teaches. The price is a memory, which is saved with the run. Shifting all rewards
//! changes its first advantages.
//!
//! # Example
//! First rewards 1, 0 of a role: advantages 1, 0, and then b = 0.0975 · 0.5 = 0.049. Next rewards 1, 0: 0.951, −0.049.

use std::collections::BTreeMap;

use veriplay_core::Role;

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow};
use crate::statistics::mean;

/// What a reward leaves of the baseline before it.
const DECAY: f64 = 0.95;

pub(super) struct Rae;

impl AdvantageEstimator for Rae {
    fn name(&self) -> &'static str {
        "rae"
    }

    fn advantages(&self, rows: &[AdvantageRow], memory: &mut AdvantageMemory) -> Vec<f64> {
        let advantages = rows.iter().map(|row| row.reward - memory.baseline(row.role, row.kind)).collect();
        let mut batches: BTreeMap<(Role, &'static str), Vec<f64>> = BTreeMap::new();
        for row in rows {
            batches.entry(row.batch()).or_default().push(row.reward);
        }
        for ((role, kind), mut rewards) in batches {
            // A sum rounds differently in another order.
            rewards.sort_by(f64::total_cmp);
            let kept = DECAY.powf(rewards.len() as f64);
            let mean = mean(&rewards).unwrap_or(0.0);
            memory.set(role, kind, kept * memory.baseline(role, kind) + (1.0 - kept) * mean);
        }
        advantages
    }
}
