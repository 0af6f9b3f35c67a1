//! A held-out measurement: rows by what is new about the tasks.

use veriplay_core::CodeTask;

use super::SelfChallenge;
use super::executing::{Attempted, Draw};
use crate::eval_table::EvalTable;
use crate::play::{Arena, PlayError};
use crate::splits::{Guard, MeasuredSet};

/// A task that the policy is measured by.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldTask {
    /// The row it counts in, such as `new_combination`.
    pub row: String,
    /// The task.
    pub task: CodeTask,
}

impl HeldTask {
    /// Adds what it says and what solves it to the guard.
    pub fn measured_by(&self, guard: &mut Guard, set: MeasuredSet) {
        let name = format!("task `{}`", self.task.task_id);
        guard.measure_text(set, &name, &self.task.instruction);
        guard.measure_program(set, &name, &self.task.solution);
    }
}

impl SelfChallenge {
    /// Measures the policy on the held-out tasks.
    pub(super) fn measured(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        let tasks: Vec<&CodeTask> = self.held.iter().map(|held| &held.task).collect();
        let draw = |group, temperature, purpose| Draw { group, temperature, seed: (arena.seed, 0, purpose) };
        let sampled = draw(self.config.eval_samples, 1.0, "evaluation");
        let sampled = self.attempts(arena.policy, arena.execute, &tasks, sampled)?;
        let greedy = draw(1, 0.0, "greedy evaluation");
        let greedy = self.attempts(arena.policy, arena.execute, &tasks, greedy)?;
        let judged = |attempts: Vec<Attempted>| attempts.into_iter().map(|one| (one.done.goal, one.judged)).collect();
        let rows: Vec<&str> = self.held.iter().map(|held| held.row.as_str()).collect();
        EvalTable::new(&rows, judged(sampled), judged(greedy))
    }
}
