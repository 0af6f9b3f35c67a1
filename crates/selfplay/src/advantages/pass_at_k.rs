//! `pass_at_k`: what a rollout adds to the chance that one of k is right.
//!
//! # What it computes
//! Over all sets of k of the n rollouts of a question, a set's value is its largest reward. A = (mean value of the sets that hold the
//! rollout) − (mean value of all sets), divided by the deviation of the rewards of the whole (role, task type) batch as under `group`.
//! k = 4, or half of a group of fewer than 8. With rewards 0 and 1 it is the analytical advantage of pass@k training (Chen et al.,
//! arXiv 2508.10751, before its normalisation).
//!
//! # Why
//! `group` pays every right answer alike, and a policy that is right half of the time is pushed until it is right always. Here the question
//! that four attempts solve anyway pays little, and the one that a single attempt solves pays most: pass@k rises where pass@1 alone would
//! narrow what is sampled.
//!
//! # Example
//! Rewards 1, 0, 0, 0, 0, 0, 0, 0 of one task: half of the sets hold the right one. A set with it has the value 1, so that its advantage is
//! 0.5 / σ; of the sets with another rollout 3/7 hold the right one, so that each of those has −0.071 / σ; σ = 0.331.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, beyond_all_sets, choose, revalued, scaled, set_size};

pub(super) struct PassAtK;

impl AdvantageEstimator for PassAtK {
    fn name(&self) -> &'static str {
        "pass_at_k"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        let valued = revalued(rows, AdvantageRow::question, set_means);
        scaled(rows, beyond_all_sets(&valued), AdvantageRow::batch)
    }
}

/// For each row of a question the mean, over the sets that hold it, of their largest rewards. Ties are broken by place, which changes no sum.
fn set_means(rows: &[AdvantageRow]) -> Vec<f64> {
    let (n, k) = (rows.len(), set_size(rows.len()));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|one, other| rows[*one].reward.total_cmp(&rows[*other].reward));
    let reward = |rank: usize| rows[order[rank]].reward;
    let mut means = vec![0.0; n];
    for (rank, index) in order.iter().enumerate() {
        // It is the largest beside k − 1 of those below it; one above it is the largest beside it and k − 2 others of those below that one.
        let own = choose(rank, k - 1) * reward(rank);
        let higher = (rank + 1..n).filter(|_| k > 1);
        let above: f64 = higher.map(|higher| choose(higher - 1, k - 2) * reward(higher)).sum();
        means[*index] = (own + above) / choose(n - 1, k - 1);
    }
    means
}
