//! Arms of bandits: tasks of one kind and class, which share a score. Curricula that learn keep a few numbers for each arm.

use std::collections::BTreeMap;

use super::{CurriculumTask, DrawnTask};

/// A kind and a class of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arm {
    /// The kind of task, in the game's word.
    pub(crate) kind: &'static str,
    /// The class of its tasks ([`crate::task_pool::PoolTask::class`]).
    pub(crate) class: u64,
}

impl Arm {
    /// Names one of its numbers in a [`crate::memory::Memory`].
    pub(crate) fn key(self, what: &str) -> String {
        format!("{}/{}/{what}", self.kind, self.class)
    }
}

/// What came of the tasks of an arm in a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ArmOutcome {
    /// Tasks of which a rollout was judged.
    pub(crate) tasks: f64,
    /// Judged rollouts that solved theirs.
    pub(crate) solved: f64,
    /// Rollouts that were judged, right or wrong.
    pub(crate) judged: f64,
    /// The sum of |advantage| over them; what is not finite counts 0.
    pub(crate) advantage: f64,
}

/// Sums up a step by arm. Tasks without a judged rollout count nowhere.
pub(crate) fn outcomes(drawn: &[DrawnTask]) -> BTreeMap<Arm, ArmOutcome> {
    let mut arms: BTreeMap<Arm, ArmOutcome> = BTreeMap::new();
    for task in drawn.iter().filter(|task| task.solved.judged > 0) {
        let outcome = arms.entry(Arm { kind: task.kind, class: task.class }).or_default();
        let judged = f64::from(task.solved.judged);
        outcome.tasks += 1.0;
        outcome.solved += f64::from(task.solved.solved);
        outcome.judged += judged;
        outcome.advantage += Some(judged * task.mean_advantage).filter(|sum| sum.is_finite()).unwrap_or_default();
    }
    arms
}

/// Weights that sum to 1 over the tasks: the share `uniform` is split evenly between the arms, the rest in proportion to their scores, and the weight
/// of an arm evenly between its tasks. An arm without a finite score of at least 0 has the highest one of the others, so that it is tried.
/// If all scores are 0, all arms weigh the same.
pub(crate) fn spread(tasks: &[CurriculumTask<'_>], uniform: f64, score: impl Fn(Arm) -> Option<f64>) -> Vec<f64> {
    let arms: Vec<Arm> = tasks.iter().map(CurriculumTask::arm).collect();
    let mut sizes: BTreeMap<Arm, f64> = BTreeMap::new();
    arms.iter().for_each(|arm| *sizes.entry(*arm).or_default() += 1.0);
    let valid = |arm: &Arm| score(*arm).filter(|score| score.is_finite() && *score >= 0.0);
    let scores: BTreeMap<Arm, Option<f64>> = sizes.keys().map(|arm| (*arm, valid(arm))).collect();
    let highest = scores.values().flatten().copied().fold(0.0, f64::max);
    let total: f64 = scores.values().map(|score| score.unwrap_or(highest)).sum();
    let even = 1.0 / sizes.len() as f64;
    let own = |arm: &Arm| if total > 0.0 { scores[arm].unwrap_or(highest) / total } else { even };
    arms.iter().map(|arm| (uniform * even + (1.0 - uniform) * own(arm)) / sizes[arm]).collect()
}
