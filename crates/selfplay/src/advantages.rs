//! From rewards to advantages. Called by the games' `score`; names are values of the config key `advantage`.
//!
//! One file an estimator; each is in [`ADVANTAGES`] under its file's name. All statistics are over samples, each rollout
//! counting once whatever its length, and deviations are population deviations (divided by n). Invariants, tested: the
//! result is finite, shifting all rewards changes nothing, the order of the rows does not matter, and rewards that are
//! all equal give exactly 0, so that no sample is trained on rounding noise.

mod group;
mod reinforce;
mod trr;

use std::collections::BTreeMap;

use veriplay_core::{Role, TaskType};

use crate::statistics::{all_equal, deviation, mean};

/// What an estimator sees of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdvantageRow {
    /// The role that was paid.
    pub role: Role,
    /// The kind of task.
    pub task_type: TaskType,
    /// Rollouts with the same group, role and task type are comparable: they answered the same question.
    pub group: usize,
    /// The total reward.
    pub reward: f64,
}

impl AdvantageRow {
    const fn batch(&self) -> (Role, TaskType) {
        (self.role, self.task_type)
    }
}

/// A named way to turn rewards into advantages.
pub trait AdvantageEstimator: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// One advantage for each row, in order.
    fn advantages(&self, rows: &[AdvantageRow]) -> Vec<f64>;
}

/// Every advantage estimator.
pub const ADVANTAGES: &[&dyn AdvantageEstimator] = &[&group::Group, &trr::Trr, &reinforce::Reinforce];

/// The estimator of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn AdvantageEstimator> {
    ADVANTAGES.iter().copied().find(|estimator| estimator.name() == name)
}

/// All names, in the order of [`ADVANTAGES`].
#[must_use]
pub fn names() -> Vec<&'static str> {
    ADVANTAGES.iter().map(|estimator| estimator.name()).collect()
}

/// Deviations below this are rounding noise: no reward scheme has steps this small.
const NOISE: f64 = 1e-9;

/// Reward minus the mean of the rows with the same key; exactly 0 where those are all equal.
fn centered<K: Ord>(rows: &[AdvantageRow], key: impl Fn(&AdvantageRow) -> K) -> Vec<f64> {
    let mut sets: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        sets.entry(key(row)).or_default().push(index);
    }
    let mut centered = vec![0.0; rows.len()];
    for indices in sets.values() {
        let rewards: Vec<f64> = indices.iter().map(|index| rows[*index].reward).collect();
        if let (false, Some(mean)) = (all_equal(&rewards), mean(&rewards)) {
            indices.iter().for_each(|index| centered[*index] = rows[*index].reward - mean);
        }
    }
    centered
}

/// Divides each value by the deviation of the rewards of its (role, task type) batch; 0 where there is no deviation.
fn scaled(rows: &[AdvantageRow], values: Vec<f64>) -> Vec<f64> {
    let mut batches: BTreeMap<(Role, TaskType), Vec<f64>> = BTreeMap::new();
    for row in rows {
        batches.entry(row.batch()).or_default().push(row.reward);
    }
    let deviations: BTreeMap<_, _> = batches.iter().map(|(batch, rewards)| (batch, deviation(rewards))).collect();
    let scale = |row: &AdvantageRow, value: f64| match deviations[&row.batch()] {
        deviation if deviation > NOISE => value / deviation,
        _ => 0.0,
    };
    rows.iter().zip(values).map(|(row, value)| scale(row, value)).collect()
}
