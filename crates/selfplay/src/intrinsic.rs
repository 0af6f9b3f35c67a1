//! Intrinsic rewards: what a proposer gets for the task itself, beside what the solve rate is worth, and what a solver gets for an attempt beside its
//! being right; names are keys of the config table `intrinsic`, whose values are coefficients. With `intrinsic_steps` they fall in a line to 0.
//!
//! One file a reward; each is in [`INTRINSIC_REWARDS`] under its file's name. As in Absolute Zero Reasoner, a term is coefficient · value, at most
//! [`MAX_TERM`]. That of a task is added where the reward of the solve rate is positive: a task that teaches nothing is worth nothing more for
//! being intricate. A task of a game that does not say what a reward looks at has no such term.

mod answer_diversity;
mod complexity;
mod exploration;
mod novelty;

use std::collections::BTreeMap;

use veriplay_core::{Digest, Reward, Role, Status};

use crate::registry::registry;
use crate::rewards::{EpisodeFacts, EpisodeResult};
use crate::task_pool::{PoolTask, TaskContent, TaskPool};

/// The most that one term adds.
pub const MAX_TERM: f64 = 0.5;
/// Earlier tasks of its kind that a task is compared with: the newest.
const COMPARED: usize = 64;

/// A named property of a task, or of the attempts at it.
pub trait IntrinsicReward: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Its value, not negative; `None` where the task has no such property. `others` are the newest other tasks of its kind.
    fn value(&self, task: &TaskContent, others: &[&TaskContent]) -> Option<f64>;

    /// Its value for each of the attempts at one task, from −1 to 0, in their order. `None` stands for an answer that cannot be read. Here, of a
    /// property of tasks, there are none.
    fn attempts(&self, _answers: &[Option<&str>]) -> Vec<f64> {
        Vec::new()
    }
}

registry! {
    /// Every intrinsic reward.
    INTRINSIC_REWARDS: [IntrinsicReward] =
        [&complexity::Complexity, &novelty::Novelty, &answer_diversity::AnswerDiversity, &exploration::Exploration]
}

/// Adds intrinsic terms to rewards. Made once a step.
pub(crate) struct IntrinsicTerms<'a> {
    coefficients: &'a BTreeMap<String, f64>,
    /// The share of the coefficients that is left in this step.
    left: f64,
    /// By kind, with the keys of the tasks.
    pool: BTreeMap<&'static str, Vec<(&'a Digest, TaskContent)>>,
}

impl<'a> IntrinsicTerms<'a> {
    pub(crate) fn new<T: PoolTask>(coefficients: &'a BTreeMap<String, f64>, left: f64, pool: &'a TaskPool<T>) -> Self {
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
        Self { coefficients, left, pool: by_kind }
    }

    /// Adds the terms of attempts to their rewards, which are those of `episodes`. `None` is an episode that is no attempt of the policy that learns.
    pub(crate) fn add_to_attempts(&self, episodes: &[Option<&EpisodeFacts<'_>>], rewards: &mut [Option<Reward>]) {
        let mut tasks: BTreeMap<(Role, &str, usize), Vec<usize>> = BTreeMap::new();
        for (place, episode) in episodes.iter().enumerate() {
            if let Some(one) = episode {
                tasks.entry((one.role, one.kind, one.group)).or_default().push(place);
            }
        }
        for (name, coefficient) in self.coefficients {
            for places in tasks.values() {
                let answers: Vec<Option<&str>> = places.iter().map(|place| episodes[*place].and_then(answer)).collect();
                let values = by_name(name).map(|one| one.attempts(&answers)).unwrap_or_default();
                for (place, value) in places.iter().zip(values) {
                    let Some(reward) = &mut rewards[*place] else { continue };
                    let term = (self.left * coefficient * value).max(-MAX_TERM);
                    // What is right stays better than nothing.
                    let term = if reward.total() > 0.0 { term.max(-reward.total() / 2.0) } else { term };
                    reward.parts.push((name.clone(), term, 1.0));
                }
            }
        }
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
                reward.parts.push((name.clone(), (self.left * coefficient * value).min(MAX_TERM), 1.0));
            }
        }
    }
}

/// What an attempt answers; `None` where that cannot be read.
fn answer<'a>(attempt: &EpisodeFacts<'a>) -> Option<&'a str> {
    let (_, last) = attempt.turns.last().filter(|_| attempt.result != EpisodeResult::Response(Status::Malformed))?;
    Some(last.text.trim())
}
