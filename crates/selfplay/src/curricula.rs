//! Which tasks of the pool a step rather draws; names are values of the config key `curriculum`.
//!
//! One file a curriculum; each is in [`CURRICULA`] under its file's name. [`crate::external`] is the one that a program outside computes.
//! [`crate::task_pool::TaskChoice`] draws without replacement, in proportion to the weights of what is left. How many tasks come from
//! where is the environment's matter.
//!
//! `learnable`, `uniform` and `frontier` weigh one task at a time by its last solve rate. `bots` remembers every task. `sec`, `alp` and `ucb`
//! remember arms: tasks of one kind and class share a score.

mod alp;
mod arms;
mod bots;
mod frontier;
mod learnable;
mod sec;
mod ucb;
mod uniform;

use veriplay_core::Digest;

pub use self::bots::Bots;
use arms::Arm;

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

impl CurriculumTask<'_> {
    /// Its arm. The class is computed anew: ask once.
    pub(crate) fn arm(&self) -> Arm {
        Arm { kind: self.kind, class: self.content.class() }
    }
}

/// A task whose type is not known here.
pub trait TaskContent {
    /// The task as the log of rollouts has it.
    fn to_json(&self) -> serde_json::Result<serde_json::Value>;

    /// [`PoolTask::class`], which only the curricula that use it compute.
    fn class(&self) -> u64;
}

impl<T: PoolTask> TaskContent for T {
    fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn class(&self) -> u64 {
        PoolTask::class(self)
    }
}

/// What weights may depend on besides the tasks.
#[derive(Debug, Clone, Copy)]
pub struct CurriculumContext<'a> {
    /// The step that draws the tasks.
    pub step: u64,
    /// The run's seed. Draw with [`crate::randomness::generator`], under a purpose of your own.
    pub seed: u64,
    /// The value of the config key `resample_learnable`.
    pub learnable_weight: f64,
    /// What [`Curriculum::note`] left in earlier steps.
    pub memory: &'a Memory,
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

    /// The weights of all tasks of the pool, in their order; finite and not negative.
    ///
    /// # Errors
    /// Weights that are computed elsewhere may fail. Nothing of the step is kept then.
    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        Ok(tasks.iter().map(|task| self.weight(task.last, context.learnable_weight)).collect())
    }

    /// Notes what came of the tasks of step `step`, for the weights of later ones.
    fn note(&self, _step: u64, _drawn: &[DrawnTask], _memory: &mut Memory) {}
}

/// What came of a task that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnTask {
    /// Names it, whatever it is made of.
    pub id: Digest,
    /// Its kind of task, in the game's word.
    pub kind: &'static str,
    /// The class of the task ([`PoolTask::class`]).
    pub class: u64,
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
    CURRICULA: [Curriculum] = [
        &learnable::Learnable, &uniform::Uniform, &frontier::Frontier, &sec::Sec, &Bots::DEFAULT, &alp::Alp, &ucb::Ucb,
    ]
}
