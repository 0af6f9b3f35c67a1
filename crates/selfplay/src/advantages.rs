//! From rewards to advantages. Called by [`crate::scoring`]; names are values of the config key `advantage`.
//!
//! One file an estimator; each is in [`ADVANTAGES`] under its file's name. All statistics are over samples, each rollout
//! counting once whatever its length, and deviations are population deviations (divided by n). Invariants, tested: the
//! result is finite and the order of the rows does not matter. Of estimators without a memory also: shifting all rewards
//! changes nothing, and rewards that are all equal give exactly 0, so that no sample is trained on rounding noise. The exception is
//! `poly` where notes tell answers apart: what differs is then worth more. What an advantage is worth in a loss, and the methods that
//! pairs of the two make, is in the docs of the learner's `losses`.

mod adpo;
mod class;
mod dr_grpo;
mod group;
mod grpo;
mod mars;
mod memory;
mod pass_at_k;
mod poly;
mod rae;
mod reinforce;
mod reinforce_plus_plus;
mod trr;

use std::collections::BTreeMap;

use veriplay_core::Role;

pub use memory::AdvantageMemory;

use crate::registry::registry;
use crate::statistics::{all_equal, deviation, mean};

/// What an estimator sees of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdvantageRow {
    /// The role that got it.
    pub role: Role,
    /// The kind of task, in the word of the game.
    pub kind: &'static str,
    /// Rollouts with the same group, role, kind and turn are comparable: they answered the same question.
    pub group: usize,
    /// The turn, where turns are rewarded apart; else 0.
    pub turn: usize,
    /// Rows with the same number are turns of one episode.
    pub episode: usize,
    /// The total reward.
    pub reward: f64,
    /// What the game's script says of the episode.
    pub notes: EpisodeNotes,
}

/// What a game or a script may say of an episode for an estimator. Those that look at rewards alone pass it over.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EpisodeNotes {
    /// What it behaves like: answers to one question with the same number do the same, as far as the game can tell. Games give it to right answers.
    pub cluster: Option<u64>,
    /// What a proposal is built like: a number of its game's.
    pub class: Option<u64>,
    /// Episodes of one role and kind with the same number are compared with each other, in place of those that answered the same question.
    pub group: Option<usize>,
    /// How far its judgement is trusted, in [0, 1]; `None` means wholly.
    pub trust: Option<f64>,
}

impl AdvantageRow {
    const fn batch(&self) -> (Role, &'static str) {
        (self.role, self.kind)
    }

    pub(crate) const fn question(&self) -> (Role, &'static str, usize, usize) {
        (self.role, self.kind, self.group, self.turn)
    }
}

/// A named way to turn rewards into advantages.
pub trait AdvantageEstimator: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Whether it compares a rollout with the others of its group, so that a group of one teaches nothing.
    fn needs_groups(&self) -> bool {
        false
    }

    /// Whether it looks at notes that a game makes of its episodes ([`crate::game::Game::notes`]): else the game makes none.
    fn reads_notes(&self) -> bool {
        false
    }

    /// How much further than the loss says a ratio may rise above 1 before it is clipped, for an episode with these notes; not negative.
    fn wider_clip(&self, _notes: &EpisodeNotes) -> f64 {
        0.0
    }

    /// One advantage for each row, in order. `memory` is what earlier batches left; estimators that remember nothing leave it
    /// alone.
    fn advantages(&self, rows: &[AdvantageRow], memory: &mut AdvantageMemory) -> Vec<f64>;
}

registry! {
    /// Every advantage estimator.
    ADVANTAGES: [AdvantageEstimator] = [
        &group::Group,
        &trr::Trr,
        &reinforce::Reinforce,
        &reinforce_plus_plus::ReinforcePlusPlus,
        &grpo::Grpo,
        &dr_grpo::DrGrpo,
        &rae::Rae,
        &pass_at_k::PassAtK,
        &poly::POLY,
        &poly::POLY_GROUP,
        &mars::Mars,
        &class::Class,
        &adpo::Adpo,
    ]
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

/// Divides each value by the deviation of the rewards of the rows with the same key; 0 where there is no deviation.
fn scaled<K: Ord>(rows: &[AdvantageRow], values: Vec<f64>, key: impl Fn(&AdvantageRow) -> K) -> Vec<f64> {
    let mut sets: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    for row in rows {
        sets.entry(key(row)).or_default().push(row.reward);
    }
    let deviations: BTreeMap<_, _> = sets.into_iter().map(|(key, rewards)| (key, deviation(&rewards))).collect();
    let scale = |row: &AdvantageRow, value: f64| match deviations[&key(row)] {
        deviation if deviation > NOISE => value / deviation,
        _ => 0.0,
    };
    rows.iter().zip(values).map(|(row, value)| scale(row, value)).collect()
}

/// The rows with other rewards: `values` makes those of the rows with the same key.
fn revalued<K: Ord>(
    rows: &[AdvantageRow],
    key: impl Fn(&AdvantageRow) -> K,
    values: impl Fn(&[AdvantageRow]) -> Vec<f64>,
) -> Vec<AdvantageRow> {
    let mut sets: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        sets.entry(key(row)).or_default().push(index);
    }
    let mut revalued = rows.to_vec();
    for indices in sets.values() {
        let own: Vec<AdvantageRow> = indices.iter().map(|index| rows[*index]).collect();
        for (index, value) in indices.iter().zip(values(&own)) {
            revalued[*index].reward = value;
        }
    }
    revalued
}

/// The size of the sets that set-level estimators draw from a group: four, and half of a group of fewer than eight. Of a group as large as
/// its sets there is one set, which nothing is compared with.
fn set_size(group: usize) -> usize {
    (group / 2).clamp(1, 4)
}

/// For each row, what the sets that hold it are worth beyond all sets of its question, where its reward is the mean value of those that hold it:
/// the mean over rows is the mean over sets. Rounding noise is 0.
fn beyond_all_sets(rows: &[AdvantageRow]) -> Vec<f64> {
    let values = centered(rows, AdvantageRow::question).into_iter();
    values.map(|value| if value.abs() > NOISE { value } else { 0.0 }).collect()
}

/// The number of sets of `k` of `n` rows.
fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k).fold(1.0, |product, index| product * (n - index) as f64 / (index + 1) as f64)
}
