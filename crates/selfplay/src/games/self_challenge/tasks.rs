//! Which tasks executors are asked to do in a step.

use serde::{Deserialize, Serialize};
use veriplay_core::CodeTask;

use super::SelfChallenge;
use super::state::GameState;
use crate::metrics::SolveCount;
use crate::randomness::{generator, ordered};

/// Where a task comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// This step's challengers.
    Fresh,
    /// Those of earlier steps.
    Buffer,
    /// The tasks that the game was set up with.
    Given,
}

/// A task that executors are asked to do.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) task: CodeTask,
    pub(super) source: Source,
    /// Index of the step's challenge that made it.
    pub(super) challenge: Option<usize>,
}

impl SelfChallenge {
    /// The tasks of a step: this step's new ones up to their share, then the given ones and the buffer, drawn without replacement,
    /// those at the edge of what is done weighing more.
    pub(super) fn tasks(&self, state: &GameState, fresh: &[(usize, CodeTask)], (seed, step): (u64, u64)) -> Vec<Asked> {
        let own = |(index, task): &(usize, CodeTask)| Asked {
            task: task.clone(),
            source: Source::Fresh,
            challenge: Some(*index),
        };
        let mut asked: Vec<Asked> = fresh.iter().take(self.config.fresh_tasks()).map(own).collect();
        let weigh = |last: Option<SolveCount>| match last {
            Some(count) if count.is_learnable() => self.config.resample_learnable,
            _ => 1.0,
        };
        let given = self.given.iter().map(|task| ((task, Source::Given), weigh(state.last_given(&task.task_id))));
        let made = state.entries().iter().map(|entry| ((&entry.task, Source::Buffer), weigh(entry.last)));
        let pool = ordered(given.chain(made).collect(), &mut generator(seed, step, "tasks"));
        let left = self.config.tasks_per_step - asked.len();
        let taken = pool.into_iter().take(left);
        asked.extend(taken.map(|(task, source)| Asked { task: task.clone(), source, challenge: None }));
        asked
    }
}
