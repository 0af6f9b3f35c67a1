//! Intrinsic rewards: what a proposer gets for the task itself, beside what the solve rate is worth; names are keys of the config table
//! `intrinsic`, whose values are coefficients.
//!
//! One file a reward; each is in [`INTRINSIC_REWARDS`] under its file's name. As in Absolute Zero Reasoner, a term is coefficient · value, at most
//! [`MAX_TERM`], and is added where the reward of the solve rate is positive: a task that teaches nothing is worth nothing more for being
//! intricate. A task of a game that does not say what a reward looks at has no such term.

mod answer_diversity;
mod complexity;
mod novelty;

use std::collections::BTreeMap;

use veriplay_core::{Digest, Reward};

use crate::registry::registry;
use crate::task_pool::{PoolTask, TaskContent, TaskPool};

/// The most that one term adds.
pub const MAX_TERM: f64 = 0.5;
/// Earlier tasks of its kind that a task is compared with: the newest.
const COMPARED: usize = 64;

/// A named property of a task.
pub trait IntrinsicReward: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Its value, not negative; `None` where the task has no such property. `others` are the newest other tasks of its kind.
    fn value(&self, task: &TaskContent, others: &[&TaskContent]) -> Option<f64>;
}

registry! {
    /// Every intrinsic reward.
    INTRINSIC_REWARDS: [IntrinsicReward] =
        [&complexity::Complexity, &novelty::Novelty, &answer_diversity::AnswerDiversity]
}

/// Adds intrinsic terms to the rewards of proposals. Made once a step.
pub(crate) struct IntrinsicTerms<'a> {
    coefficients: &'a BTreeMap<String, f64>,
    /// By kind, with the keys of the tasks.
    pool: BTreeMap<&'static str, Vec<(&'a Digest, TaskContent)>>,
}

impl<'a> IntrinsicTerms<'a> {
    pub(crate) fn new<T: PoolTask>(coefficients: &'a BTreeMap<String, f64>, pool: &'a TaskPool<T>) -> Self {
        let mut by_kind: BTreeMap<&'static str, Vec<(&'a Digest, TaskContent)>> = BTreeMap::new();
        if !coefficients.is_empty() {
            for entry in pool.entries().iter().rev() {
                let of_kind = by_kind.entry(entry.task.kind()).or_default();
                // One more, as a task is not compared with itself.
                if of_kind.len() <= COMPARED {
                    of_kind.push((&entry.key, entry.task.content()));
                }
            }
        }
        Self { coefficients, pool: by_kind }
    }

    /// Adds the terms of a task to the reward of its solve rate.
    pub(crate) fn add<T: PoolTask>(&self, task: &T, reward: &mut Reward) {
        if self.coefficients.is_empty() || reward.total() <= 0.0 {
            return;
        }
        let (key, content) = (task.key(), task.content());
        let of_kind = self.pool.get(task.kind()).map_or(&[][..], Vec::as_slice);
        let others = of_kind.iter().filter(|(other, _)| **other != key).map(|(_, content)| content);
        let others: Vec<&TaskContent> = others.take(COMPARED).collect();
        for (name, coefficient) in self.coefficients {
            let value = by_name(name).and_then(|one| one.value(&content, &others));
            if let Some(value) = value {
                reward.parts.push((name.clone(), (coefficient * value).min(MAX_TERM), 1.0));
            }
        }
    }
}
