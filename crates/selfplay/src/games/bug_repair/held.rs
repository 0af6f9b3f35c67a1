//! A held-out measurement: rows by family of bug.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::Status;
use veriplay_verifier::bugs::{Family, INJECTORS};

use super::BugRepair;
use super::solving::{Draw, Repair};
use super::state::{Kept, Source};
use super::tasks::{Task, Wish};
use crate::metrics::{SolveCount, mean_pass_at_k};
use crate::play::{Arena, HeldOut, PlayError};
use crate::statistics::{mean, share};

/// Bugs of one family. Fractions of 1, means over its bugs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairRow {
    /// `swe_smith` and `classic` are operators', `model` is a model's, `other` anybody else's.
    pub family: String,
    /// How many there are.
    pub bugs: usize,
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
pub struct RepairTable {
    /// In the order of their names.
    pub rows: Vec<RepairRow>,
}

impl HeldOut for RepairTable {
    fn rows(&self) -> Vec<(String, [f64; 3])> {
        self.rows.iter().map(|row| (row.family.clone(), [row.pass1, row.greedy, row.pass8])).collect()
    }

    fn mean(&self) -> [f64; 3] {
        let mean = |number: fn(&RepairRow) -> f64| mean(&self.rows.iter().map(number).collect::<Vec<_>>());
        [mean(|row| row.pass1), mean(|row| row.greedy), mean(|row| row.pass8)].map(Option::unwrap_or_default)
    }
}

/// The family of a bug.
#[must_use]
pub fn family(injector: &str) -> &'static str {
    match INJECTORS.iter().find(|found| found.name == injector).map(|found| found.family) {
        Some(Family::SweSmith) => "swe_smith",
        Some(Family::Classic) => "classic",
        None if injector.starts_with("model_") => "model",
        None => "other",
    }
}

impl BugRepair {
    /// The held-out bugs as tasks. One that cannot be asked for is an error: it would be missing from every table.
    pub(super) fn held_tasks(&self, arena: &Arena<'_>) -> Result<Vec<Task>, PlayError> {
        let wish = |bug: &Kept| Wish { bug: bug.clone(), source: Source::Training, injection: None };
        let wishes: Vec<Wish> = self.heldout.iter().map(wish).collect();
        let tasks = self.prepared(arena.execute, wishes, arena.seed);
        let named = tasks.into_iter().zip(&self.heldout);
        let each = named.map(|(task, bug)| {
            task?.ok_or_else(|| {
                let why = format!("held-out bug `{}` cannot be asked for in this dialect and budget", bug.task_id);
                PlayError::Setup(why)
            })
        });
        each.collect()
    }

    /// Measures the policy on the held-out bugs.
    pub(super) fn measured(&self, arena: &Arena<'_>) -> Result<RepairTable, PlayError> {
        let tasks = self.held_tasks(arena)?;
        let seed = arena.seed;
        let draw = |group, temperature, purpose| Draw { group, temperature, seed: (seed, 0, purpose) };
        let sampled = draw(self.config.eval_samples, 1.0, "evaluation");
        let sampled = self.repairs(arena.policy, arena.execute, &tasks, sampled)?;
        let greedy = self.repairs(arena.policy, arena.execute, &tasks, draw(1, 0.0, "greedy evaluation"))?;
        let sampled = counted(tasks.len(), sampled)?;
        let greedy = counted(tasks.len(), greedy)?;
        let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, bug) in self.heldout.iter().enumerate() {
            families.entry(family(&bug.bug.injector)).or_default().push(index);
        }
        let row = |(family, bugs): (&str, Vec<usize>)| {
            let counts: Vec<SolveCount> = bugs.iter().map(|index| sampled[*index]).collect();
            let right = bugs.iter().filter(|index| greedy[**index].solved > 0).count();
            let pass = |k| mean_pass_at_k(&counts, k).unwrap_or_default();
            let greedy = share(right, bugs.len()).unwrap_or_default();
            RepairRow { family: family.to_owned(), bugs: bugs.len(), pass1: pass(1), greedy, pass8: pass(8) }
        };
        Ok(RepairTable { rows: families.into_iter().map(row).collect() })
    }
}

/// The solve count of each task. A Dropped episode voids the measurement: a number with holes is no number.
fn counted(tasks: usize, repairs: Vec<Repair>) -> Result<Vec<SolveCount>, PlayError> {
    let mut counts = vec![SolveCount::default(); tasks];
    for repair in repairs {
        counts[repair.done.assignment].add(repair.judged?.status == Status::Accepted);
    }
    Ok(counts)
}
