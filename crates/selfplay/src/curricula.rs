//! Which tasks of the pool a step rather draws; names are values of the config key `curriculum`.
//!
//! One file a curriculum; each is in [`CURRICULA`] under its file's name. [`crate::external`] is the one that a program outside computes.
//! A built-in curriculum weighs one task at a time by how often it was solved when it was last asked;
//! [`crate::task_pool::TaskChoice`] draws without replacement, in proportion to the weights of what is left. How many tasks come from
//! where is the environment's matter.

mod frontier;
mod learnable;
mod uniform;

use serde::Serialize;
use veriplay_core::Digest;

use crate::external::ExternalError;
use crate::memory::Memory;
use crate::metrics::SolveCount;
use crate::registry::registry;
use crate::task_pool::{PoolEntry, PoolTask, Source};

/// A task of the pool, as far as a curriculum may know it.
#[derive(Clone, Copy)]
pub struct CurriculumTask<'a> {
    /// Names it, whatever it is made of.
    pub id: &'a Digest,
    /// Its kind of task, in the game's word.
    pub kind: &'static str,
    /// Whether it was there before step 0 or a policy proposed it.
    pub source: Source,
    /// The step that admitted it.
    pub step: u64,
    /// How often it was solved when it was last asked; `None` where it never was.
    pub last: Option<SolveCount>,
    /// The task itself, for programs outside.
    pub content: &'a dyn TaskContent,
}

/// A task whose type is not known here.
pub trait TaskContent {
    /// The task as the log of rollouts has it.
    fn to_json(&self) -> serde_json::Result<serde_json::Value>;
}

impl<T: Serialize> TaskContent for T {
    fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

impl<'a, T: PoolTask> From<&'a PoolEntry<T>> for CurriculumTask<'a> {
    fn from(entry: &'a PoolEntry<T>) -> Self {
        let PoolEntry { id, task, step, last, .. } = entry;
        Self { id, kind: task.kind(), source: entry.source(), step: *step, last: *last, content: task }
    }
}

/// A named way to weigh the tasks of the pool.
pub trait Curriculum: Send + Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// The weight of a task, not negative. `last` says how often it was solved when it was last asked, `None` that it never was;
    /// `learnable_weight` is the config's. Here every task weighs 1.
    fn weight(&self, _last: Option<SolveCount>, _learnable_weight: f64) -> f64 {
        1.0
    }

    /// The weights of all tasks of the pool at step `step`, in their order; finite and not negative.
    ///
    /// # Errors
    /// Weights that are computed elsewhere may fail. Nothing of the step is kept then.
    fn weights(
        &self,
        _step: u64,
        tasks: &[CurriculumTask<'_>],
        learnable_weight: f64,
        _memory: &Memory,
    ) -> Result<Vec<f64>, ExternalError> {
        Ok(tasks.iter().map(|task| self.weight(task.last, learnable_weight)).collect())
    }

    /// Notes what came of the tasks of step `step`, for the weights of later ones.
    fn note(&self, _step: u64, _drawn: &[DrawnTask], _memory: &mut Memory) {}
}

/// What came of a task that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnTask {
    /// Its kind of task, in the game's word.
    pub kind: &'static str,
    /// Where it comes from: this step, the pool or the seeds.
    pub source: Source,
    /// Whether a policy proposed it.
    pub is_proposed: bool,
    /// How often it was solved.
    pub solved: SolveCount,
    /// The mean of |advantage| over its solvers' episodes: how much was learned from it. 0 where no advantages are computed.
    pub mean_advantage: f64,
}

registry! {
    /// Every curriculum; the first one is the default.
    CURRICULA: [Curriculum] = [&learnable::Learnable, &uniform::Uniform, &frontier::Frontier]
}
