//! `own_tasks`: the share of a step's tasks that a policy proposed.
//!
//! # What it measures
//! Of the tasks that solvers attempted, those that a proposer made, in this step, in an earlier one or before step 0, and those that a program
//! derived of these. The others were given, or derived of what was. `null` where no task was attempted.
//!
//! # Why
//! A run that trains on given tasks shows what reinforcement learning on executed rewards does, and not what self-play adds to it.
//!
//! # Example
//! Of 96 tasks 40 come from the generator of the corpus: 0.583.

use super::Monitor;
use crate::facts::StepSummary;
use crate::play::Measurement;
use crate::statistics::share;

pub(super) struct OwnTasks;

impl Monitor for OwnTasks {
    fn name(&self) -> &'static str {
        "own_tasks"
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        let own = step.tasks.iter().filter(|task| task.is_proposed).count();
        Some(Measurement::Number(share(own, step.tasks.len())))
    }
}
