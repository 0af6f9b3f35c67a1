//! A held-out measurement: rows by what is new about the tasks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Status};

use super::SelfChallenge;
use super::executing::{Attempted, Draw};
use crate::metrics::{SolveCount, mean_pass_at_k};
use crate::play::{Arena, HeldOut, PlayError};
use crate::statistics::{mean, share};

/// A task that the policy is measured by.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldTask {
    /// The row it counts in, such as `new_combination`.
    pub row: String,
    /// The task.
    pub task: CodeTask,
}

/// Tasks of one row. Fractions of 1, means over its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorRow {
    /// Its name.
    pub row: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// pass@1 at temperature 1.
    pub pass1: f64,
    /// Greedy accuracy.
    pub greedy: f64,
    /// pass@8 at temperature 1.
    pub pass8: f64,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorTable {
    /// In the order of their names.
    pub rows: Vec<ExecutorRow>,
}

impl HeldOut for ExecutorTable {
    fn rows(&self) -> Vec<(String, [f64; 3])> {
        self.rows.iter().map(|row| (row.row.clone(), [row.pass1, row.greedy, row.pass8])).collect()
    }

    fn mean(&self) -> [f64; 3] {
        let mean = |number: fn(&ExecutorRow) -> f64| mean(&self.rows.iter().map(number).collect::<Vec<_>>());
        [mean(|row| row.pass1), mean(|row| row.greedy), mean(|row| row.pass8)].map(Option::unwrap_or_default)
    }
}

impl SelfChallenge {
    /// Measures the policy on the held-out tasks.
    pub(super) fn measured(&self, arena: &Arena<'_>) -> Result<ExecutorTable, PlayError> {
        let tasks: Vec<&CodeTask> = self.held.iter().map(|held| &held.task).collect();
        let draw = |group, temperature, purpose| Draw { group, temperature, seed: (arena.seed, 0, purpose) };
        let sampled = draw(self.config.eval_samples, 1.0, "evaluation");
        let sampled = self.attempts(arena.policy, arena.execute, &tasks, sampled)?;
        let greedy = draw(1, 0.0, "greedy evaluation");
        let greedy = self.attempts(arena.policy, arena.execute, &tasks, greedy)?;
        let (sampled, greedy) = (whole(tasks.len(), sampled)?, whole(tasks.len(), greedy)?);
        let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, held) in self.held.iter().enumerate() {
            rows.entry(&held.row).or_default().push(index);
        }
        let row = |(row, tasks): (&str, Vec<usize>)| {
            let counts: Vec<SolveCount> = tasks.iter().map(|index| sampled[*index]).collect();
            let right = tasks.iter().filter(|index| greedy[**index].solved > 0).count();
            let pass = |k| mean_pass_at_k(&counts, k).unwrap_or_default();
            let greedy = share(right, tasks.len()).unwrap_or_default();
            ExecutorRow { row: row.to_owned(), tasks: tasks.len(), pass1: pass(1), greedy, pass8: pass(8) }
        };
        Ok(ExecutorTable { rows: rows.into_iter().map(row).collect() })
    }
}

/// The solve count of each task. A Dropped episode voids the measurement: a number with holes is no number.
fn whole(tasks: usize, attempts: Vec<Attempted>) -> Result<Vec<SolveCount>, PlayError> {
    let mut counts = vec![SolveCount::default(); tasks];
    for attempt in attempts {
        counts[attempt.done.goal].add(attempt.judged?.status == Status::Accepted);
    }
    Ok(counts)
}
