//! Which tasks of the pool a step rather draws; names are values of the config key `curriculum`.
//!
//! One file a curriculum; each is in [`CURRICULA`] under its file's name. A curriculum weighs one task at a time by how often it was
//! solved when it was last asked; [`crate::task_pool::TaskChoice`] draws without replacement, in proportion to the weights of what is
//! left. How many tasks come from where is the environment's matter.

mod frontier;
mod learnable;
mod uniform;

use crate::metrics::SolveCount;
use crate::registry::registry;

/// A named way to weigh the tasks of the pool.
pub trait Curriculum: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// The weight of a task, not negative. `last` says how often it was solved when it was last asked, `None` that it never was;
    /// `learnable_weight` is the config's.
    fn weight(&self, last: Option<SolveCount>, learnable_weight: f64) -> f64;
}

registry! {
    /// Every curriculum; the first one is the default.
    CURRICULA: [Curriculum] = [&learnable::Learnable, &uniform::Uniform, &frontier::Frontier]
}
