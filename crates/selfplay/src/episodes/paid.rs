//! From rewards to what an episode weighs in the loss.

use veriplay_core::{Reward, Role};

use crate::advantages::AdvantageRow;
use crate::randomness::generator;
use crate::rewards;

/// An episode's pay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paid {
    pub(crate) role: Role,
    /// Index among the step's episodes of the role.
    pub(crate) index: usize,
    /// Episodes of one group were asked the same.
    group: usize,
    pub(crate) reward: Reward,
    pub(crate) advantage: f64,
    pub(super) weight: f64,
}

impl Paid {
    /// Without an advantage yet.
    pub(crate) const fn new(role: Role, index: usize, group: usize, reward: Reward) -> Self {
        Self { role, index, group, reward, advantage: 0.0, weight: 0.0 }
    }
}

/// Estimators tell batches apart by role and kind of task, and games of episodes have one kind each.
const KIND: &str = "episode";

/// What an advantage estimator sees of them.
pub(crate) fn rows(paid: &[Paid]) -> Vec<AdvantageRow> {
    let row =
        |paid: &Paid| AdvantageRow { role: paid.role, kind: KIND, group: paid.group, reward: paid.reward.total() };
    paid.iter().map(row).collect()
}

/// Gives each its advantage, which weighs 1 for a solver and `proposer` for a proposer.
pub(crate) fn weigh(paid: &mut [Paid], advantages: &[f64], proposer: f64) {
    for (paid, advantage) in paid.iter_mut().zip(advantages) {
        paid.advantage = *advantage;
        paid.weight = if paid.role == Role::Proposer { advantage * proposer } else { *advantage };
    }
}

/// Gives the rewards of each role's batch to its members anew: the control.
pub(crate) fn shuffle(paid: &mut [Paid], seed: u64, step: u64) {
    let mut generator = generator(seed, step, "shuffled rewards");
    for role in [Role::Proposer, Role::Solver] {
        let batch = paid.iter_mut().filter(|paid| paid.role == role).map(|paid| &mut paid.reward);
        rewards::shuffle(batch.collect(), &mut generator);
    }
}
