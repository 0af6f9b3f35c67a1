//! The table of a held-out evaluation, from raw counts. Called by the cli after `eval` and before and after `play`.

use serde::{Deserialize, Serialize};
use veriplay_core::TaskType;

use crate::metrics::{SolveCount, mean_pass_at_k};
use crate::statistics::{mean, share};

/// What one held-out task came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalCount {
    /// The kind of task.
    pub task_type: TaskType,
    /// Rollouts of the sampling policy.
    pub sampled: SolveCount,
    /// Whether the greedy rollout solved it; `None` when it was Dropped or not made.
    pub greedy: Option<bool>,
}

/// Numbers of one task type, or their means. All in percent (0 to 100); `None` where nothing was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalRow {
    /// Tasks counted.
    pub tasks: usize,
    /// pass@1 of the sampling policy.
    pub pass1: Option<f64>,
    /// Greedy accuracy.
    pub greedy: Option<f64>,
    /// pass@8 of the sampling policy; `None` when some task has fewer than 8 judged samples.
    pub pass8: Option<f64>,
}

/// A held-out evaluation. `mean`, `greedy_mean` and `pass8_mean` are the unweighted means over the task types that
/// have tasks; a mean is `None` as soon as one of those types lacks the number, so that no mean hides a gap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalTable {
    /// Deduction.
    pub deduction: EvalRow,
    /// Abduction.
    pub abduction: EvalRow,
    /// Induction.
    pub induction: EvalRow,
    /// Mean pass@1, in percent.
    pub mean: Option<f64>,
    /// Mean greedy accuracy, in percent.
    pub greedy_mean: Option<f64>,
    /// Mean pass@8, in percent.
    pub pass8_mean: Option<f64>,
}

impl EvalTable {
    /// The table of `counts`, in any order.
    #[must_use]
    pub fn of(counts: &[EvalCount]) -> Self {
        let [deduction, abduction, induction] = TaskType::ALL.map(|task_type| row(counts, task_type));
        let rows = [deduction, abduction, induction];
        Self {
            deduction,
            abduction,
            induction,
            mean: mean_of(&rows, |row| row.pass1),
            greedy_mean: mean_of(&rows, |row| row.greedy),
            pass8_mean: mean_of(&rows, |row| row.pass8),
        }
    }

    /// The row of one task type.
    #[must_use]
    pub const fn row(&self, task_type: TaskType) -> &EvalRow {
        match task_type {
            TaskType::Deduction => &self.deduction,
            TaskType::Abduction => &self.abduction,
            TaskType::Induction => &self.induction,
        }
    }
}

fn row(counts: &[EvalCount], task_type: TaskType) -> EvalRow {
    let of_type: Vec<&EvalCount> = counts.iter().filter(|count| count.task_type == task_type).collect();
    // A task all of whose rollouts were Dropped says nothing about the policy.
    let sampled: Vec<SolveCount> = of_type.iter().map(|count| count.sampled).filter(|count| count.judged > 0).collect();
    let greedy: Vec<bool> = of_type.iter().filter_map(|count| count.greedy).collect();
    let solved = greedy.iter().filter(|solved| **solved).count();
    EvalRow {
        tasks: of_type.len(),
        pass1: mean_pass_at_k(&sampled, 1).map(percent),
        greedy: share(solved, greedy.len()).map(percent),
        pass8: mean_pass_at_k(&sampled, 8).map(percent),
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

fn mean_of(rows: &[EvalRow], number: impl Fn(&EvalRow) -> Option<f64>) -> Option<f64> {
    let each: Option<Vec<f64>> = rows.iter().filter(|row| row.tasks > 0).map(number).collect();
    mean(&each?)
}
