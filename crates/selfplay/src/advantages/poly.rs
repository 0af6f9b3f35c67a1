//! `poly` and `poly_group`: sets of rollouts are worth more when they are right in several ways (polychromic objectives,
//! arXiv 2509.25424).
//!
//! # What it computes
//! Over all sets of n of the rollouts of a question, a set is worth its mean reward × the number of its clusters / n; n = 4, or half of a group
//! of fewer than 8. A = (mean worth of the sets that hold the rollout) − (mean worth of all sets), divided by the root mean square of these over
//! the (role, task type) batch. A cluster is what [`super::EpisodeNotes::cluster`] says. A rollout without one adds none, and a set of such rollouts
//! counts as one cluster: where a game tells none apart, A is the reward minus the group's mean, up to its scale. `poly_group` is the mean of
//! `poly` and `group`.
//!
//! # Why
//! A policy that is rewarded for right answers alone narrows to the commonest one, and pass@k falls. Unlike a bonus for entropy this pays variety
//! only beside success. Wrong answers with clusters of their own are variety too: of six equal right answers and two wrong ones that differ,
//! the wrong ones would be pushed up. Games therefore give wrong answers no cluster. Among answers that are all right the common one is pushed
//! down, which `poly_group` holds against.
//!
//! # Example
//! Rewards 1, 1, 1, 0 with clusters A, A, B, C: before the division 0, 0, 0.167, −0.167. All right with clusters A, A, A, B: three times −0.083,
//! and 0.25.

use std::collections::BTreeMap;

use super::group::Group;
use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, beyond_all_sets, choose, revalued, scaled, set_size};

pub(super) struct Poly {
    name: &'static str,
    /// Its part of the advantage; the rest is that of `group`.
    share: f64,
}

pub(super) const POLY: Poly = Poly { name: "poly", share: 1.0 };
pub(super) const POLY_GROUP: Poly = Poly { name: "poly_group", share: 0.5 };

impl AdvantageEstimator for Poly {
    fn name(&self) -> &'static str {
        self.name
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn reads_notes(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], memory: &mut AdvantageMemory) -> Vec<f64> {
        let worth = beyond_all_sets(&revalued(rows, AdvantageRow::question, set_means));
        let valued: Vec<AdvantageRow> =
            rows.iter().zip(&worth).map(|(row, reward)| AdvantageRow { reward: *reward, ..*row }).collect();
        let by_sets = scaled(&valued, worth, AdvantageRow::batch);
        let by_group = Group.advantages(rows, memory);
        by_sets.iter().zip(by_group).map(|(sets, group)| self.share * sets + (1.0 - self.share) * group).collect()
    }
}

/// For each row of a question the mean worth of the sets that hold it.
fn set_means(rows: &[AdvantageRow]) -> Vec<f64> {
    let size = set_size(rows.len());
    let mut clusters = Clusters::new();
    rows.iter().for_each(|row| *clusters.entry(row.notes.cluster).or_default() += 1);
    let holding = choose(rows.len() - 1, size - 1) * (size * size) as f64;
    let mut means = vec![0.0; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        // Each set with the row counts each of its rewards once for each of its clusters.
        for (other, with) in rows.iter().enumerate() {
            let both = [row.notes.cluster, with.notes.cluster];
            let held = if other == place { &both[..1] } else { &both };
            means[place] += with.reward * count_clusters(&clusters, rows.len(), size, held) / holding;
        }
    }
    means
}

/// How many rows of a question each cluster has.
type Clusters = BTreeMap<Option<u64>, usize>;

/// The number of clusters of a set, summed over the sets of `size` of `rows` rows that hold certain rows, which are of the clusters `held`.
fn count_clusters(clusters: &Clusters, rows: usize, size: usize, held: &[Option<u64>]) -> f64 {
    let Some(free) = size.checked_sub(held.len()) else { return 0.0 };
    let rest = rows - held.len();
    let mut sum = 0.0;
    for (cluster, count) in clusters {
        sum += match cluster {
            Some(_) if held.contains(cluster) => choose(rest, free),
            // All sets but those that draw the rest from other clusters.
            Some(_) => choose(rest, free) - choose(rest - count, free),
            // A set without any counts as one.
            None if held.iter().all(Option::is_none) => choose(count - held.len(), free),
            None => 0.0,
        };
    }
    sum
}
