//! A held-out measurement: rows by family of bug.

use veriplay_verifier::bugs::{Family, INJECTORS};

use super::BugRepair;
use super::solving::{Draw, Repair};
use super::state::{Kept, Source};
use super::tasks::{Task, Wish};
use crate::eval_table::EvalTable;
use crate::play::{Arena, PlayError};

/// The family of a bug: `swe_smith` and `classic` are operators', `model` is a model's, `other` anybody else's.
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
    pub(super) fn measured(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        let tasks = self.held_tasks(arena)?;
        let seed = arena.seed;
        let draw = |group, temperature, purpose| Draw { group, temperature, seed: (seed, 0, purpose) };
        let sampled = draw(self.config.eval_samples, 1.0, "evaluation");
        let sampled = self.repairs(arena.policy, arena.execute, &tasks, sampled)?;
        let greedy = self.repairs(arena.policy, arena.execute, &tasks, draw(1, 0.0, "greedy evaluation"))?;
        let judged = |repairs: Vec<Repair>| repairs.into_iter().map(|one| (one.done.assignment, one.judged)).collect();
        let families: Vec<&str> = self.heldout.iter().map(|bug| family(&bug.bug.injector)).collect();
        EvalTable::new(&families, judged(sampled), judged(greedy))
    }
}
