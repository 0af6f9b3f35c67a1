//! The table of a held-out evaluation, from raw counts. Called by the cli after `eval` and before and after `play`.

use serde::{Deserialize, Serialize};
use veriplay_core::TaskType;

use crate::metrics::{SolveCount, mean_pass_at_k};
use crate::play::HeldOut;
use crate::statistics::share;

/// Samples that pass@8 needs of every task.
pub const LEAST_SAMPLES: u32 = 8;

/// What one held-out task came to. A Dropped attempt voids an evaluation, so there is no place for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalCounts {
    /// The kind of task.
    pub task_type: TaskType,
    /// Rollouts of the sampling policy.
    pub samples: usize,
    /// How many of them were Accepted.
    pub accepted: usize,
    /// Whether the greedy rollout was Accepted.
    pub greedy: bool,
}

/// One number for each task type, as fractions of 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByType {
    /// Deduction.
    pub deduction: f64,
    /// Abduction.
    pub abduction: f64,
    /// Induction.
    pub induction: f64,
}

/// A held-out evaluation, as fractions of 1. The means are unweighted over the three task types.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalTable {
    /// pass@1 of the sampling policy on deduction.
    pub deduction: f64,
    /// pass@1 of the sampling policy on abduction.
    pub abduction: f64,
    /// pass@1 of the sampling policy on induction.
    pub induction: f64,
    /// Mean pass@1.
    pub mean: f64,
    /// Mean greedy accuracy.
    pub greedy_mean: f64,
    /// Mean pass@8.
    pub pass8_mean: f64,
    /// Greedy accuracy by type.
    pub greedy: ByType,
    /// pass@8 by type.
    pub pass8: ByType,
}

/// Why there is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A mean over the types needs all of them.
    #[error("no task of type `{}` to measure: give at least `1` of each type", .0.name())]
    NoTasks(TaskType),
    /// Too few samples, or more successes than samples.
    #[error("a task of type `{}` has `{accepted}` of `{samples}` samples accepted: pass@8 needs `8` samples or more", .task_type.name())]
    Samples {
        /// The kind of task.
        task_type: TaskType,
        /// Its samples.
        samples: usize,
        /// How many were Accepted.
        accepted: usize,
    },
}

impl ByType {
    /// The number of one task type, or the mean over them.
    #[must_use]
    pub fn of(&self, task_type: Option<TaskType>) -> f64 {
        match task_type {
            Some(TaskType::Deduction) => self.deduction,
            Some(TaskType::Abduction) => self.abduction,
            Some(TaskType::Induction) => self.induction,
            None => (self.deduction + self.abduction + self.induction) / 3.0,
        }
    }
}

impl EvalTable {
    /// The table of `counts`, in any order.
    ///
    /// # Errors
    /// A task type without a task, or a task with fewer than [`LEAST_SAMPLES`] samples: no mean hides a gap.
    pub fn from_counts(counts: &[EvalCounts]) -> Result<Self, EvalError> {
        let pass1 = by_type(counts, |counts| pass_at(counts, 1))?;
        let greedy = by_type(counts, greedy_accuracy)?;
        let pass8 = by_type(counts, |counts| pass_at(counts, 8))?;
        Ok(Self {
            deduction: pass1.deduction,
            abduction: pass1.abduction,
            induction: pass1.induction,
            mean: pass1.of(None),
            greedy_mean: greedy.of(None),
            pass8_mean: pass8.of(None),
            greedy,
            pass8,
        })
    }

    fn row(&self, task_type: Option<TaskType>) -> [f64; 3] {
        [self.pass1(task_type), self.greedy(task_type), self.pass8(task_type)]
    }

    /// pass@1 of the sampling policy, for one task type or the mean.
    #[must_use]
    pub fn pass1(&self, task_type: Option<TaskType>) -> f64 {
        ByType { deduction: self.deduction, abduction: self.abduction, induction: self.induction }.of(task_type)
    }

    /// Greedy accuracy, for one task type or the mean.
    #[must_use]
    pub fn greedy(&self, task_type: Option<TaskType>) -> f64 {
        self.greedy.of(task_type)
    }

    /// pass@8 of the sampling policy, for one task type or the mean.
    #[must_use]
    pub fn pass8(&self, task_type: Option<TaskType>) -> f64 {
        self.pass8.of(task_type)
    }
}

impl HeldOut for EvalTable {
    fn rows(&self) -> Vec<(String, [f64; 3])> {
        let row = |task_type: TaskType| (task_type.name().to_owned(), self.row(Some(task_type)));
        TaskType::ALL.map(row).to_vec()
    }

    fn mean(&self) -> [f64; 3] {
        self.row(None)
    }
}

fn by_type(
    counts: &[EvalCounts],
    number: impl Fn(&[EvalCounts]) -> Result<Option<f64>, EvalError>,
) -> Result<ByType, EvalError> {
    let of_type = |task_type| {
        let counts: Vec<EvalCounts> = counts.iter().filter(|count| count.task_type == task_type).copied().collect();
        number(&counts)?.ok_or(EvalError::NoTasks(task_type))
    };
    Ok(ByType {
        deduction: of_type(TaskType::Deduction)?,
        abduction: of_type(TaskType::Abduction)?,
        induction: of_type(TaskType::Induction)?,
    })
}

fn greedy_accuracy(counts: &[EvalCounts]) -> Result<Option<f64>, EvalError> {
    Ok(share(counts.iter().filter(|count| count.greedy).count(), counts.len()))
}

fn pass_at(counts: &[EvalCounts], k: u32) -> Result<Option<f64>, EvalError> {
    let counts: Vec<SolveCount> = counts.iter().map(solve_count).collect::<Result<_, _>>()?;
    Ok(mean_pass_at_k(&counts, k))
}

fn solve_count(count: &EvalCounts) -> Result<SolveCount, EvalError> {
    let &EvalCounts { task_type, samples, accepted, .. } = count;
    match (u32::try_from(samples), u32::try_from(accepted)) {
        (Ok(judged), Ok(solved)) if judged >= LEAST_SAMPLES && solved <= judged => Ok(SolveCount { solved, judged }),
        _ => Err(EvalError::Samples { task_type, samples, accepted }),
    }
}
