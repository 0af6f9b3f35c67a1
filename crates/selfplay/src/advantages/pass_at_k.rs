//! `pass_at_k`: what a rollout adds to the chance that one of k is right.
//!
//! # What it computes
//! Over all sets of k = 4 of the n rollouts of a question, a set's value is its largest reward. A = (mean value of the sets that hold the
//! rollout) − (mean value of all sets), divided by the deviation of the rewards of the whole (role, task type) batch as under `group`.
//! With rewards 0 and 1 it is the analytical advantage of pass@k training (Chen et al., arXiv 2508.10751, before its normalisation). A group
//! of fewer than k rollouts has k of its size.
//!
//! # Why
//! `group` pays every right answer alike, and a policy that is right half of the time is pushed until it is right always. Here the question
//! that four attempts solve anyway pays little, and the one that a single attempt solves pays most: pass@k rises where pass@1 alone would
//! narrow what is sampled.
//!
//! # Example
//! Rewards 1, 0, 0, 0, 0, 0, 0, 0 of one task: half of the sets hold the right one. A set with it has the value 1, so that its advantage is
//! 0.5 / σ; of the sets with another rollout 3/7 hold the right one, so that each of those has −0.071 / σ; σ = 0.331.

use std::collections::BTreeMap;

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, scaled};

pub(super) struct PassAtK;

/// Rollouts of a set.
const K: usize = 4;

impl AdvantageEstimator for PassAtK {
    fn name(&self) -> &'static str {
        "pass_at_k"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            groups.entry(row.question()).or_default().push(index);
        }
        let mut values = vec![0.0; rows.len()];
        for indices in groups.values() {
            let rewards: Vec<f64> = indices.iter().map(|index| rows[*index].reward).collect();
            for (index, value) in indices.iter().zip(contributions(&rewards)) {
                values[*index] = value;
            }
        }
        scaled(rows, values, AdvantageRow::batch)
    }
}

/// Of each reward the mean of the largest in the sets that hold it, less that of all sets. Ties are broken by place, which changes no sum.
fn contributions(rewards: &[f64]) -> Vec<f64> {
    let n = rewards.len();
    let k = K.min(n);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|one, other| rewards[*one].total_cmp(&rewards[*other]));
    // The sets in which the one of rank r is the largest: k − 1 of the r below it.
    let all = choose(n, k);
    let share_as_largest = |rank: usize| choose(rank, k - 1) / all;
    let mean: f64 = (0..n).map(|rank| share_as_largest(rank) * rewards[order[rank]]).sum();
    let with = choose(n - 1, k - 1);
    let mut values = vec![0.0; n];
    for (rank, index) in order.iter().enumerate() {
        let own = choose(rank, k - 1) * rewards[*index];
        // Those above it are the largest of sets with it: k − 2 others of those below them but it.
        let above: f64 =
            (rank + 1..n).map(|higher| choose(higher - 1, k.saturating_sub(2)) * rewards[order[higher]]).sum();
        let above = if k < 2 { 0.0 } else { above };
        values[*index] = (own + above) / with - mean;
    }
    values
}

/// The binomial coefficient.
fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k).fold(1.0, |product, index| product * (n - index) as f64 / (index + 1) as f64)
}
