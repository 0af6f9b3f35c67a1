//! `alp`: an arm (kind and class) weighs by its absolute learning progress: how much its solve rate has changed lately.
//!
//! # What it weighs
//! An arm's rollouts are pooled until there are 64 of them or more, mostly those of a few steps. Its score is |mean solve rate of its last 5 pools −
//! that of the 5 before|. P(arm) = 0.8 in proportion to it + 0.2 / arms, split evenly between the arm's tasks. Until an arm has 10 pools it weighs as
//! the highest of the others.
//!
//! # Why
//! It leaves what is solved, what cannot be solved, and coin flips, which hold `sec` and `bots`; it returns to what is forgotten (absolute learning
//! progress, as in ALP-GMM, arXiv 1910.07224, by arms instead of mixtures). Two groups of 8 at s = 0.5 differ by 0.19 by chance: hence the pools.
//!
//! # Example
//! An arm that rises from 0.2 to 0.8 in 20 pools scores 0.16, one that stays at 0.5 scores 0.03 by chance.

use super::arms::{Arm, outcomes, spread};
use super::{Curriculum, CurriculumContext, CurriculumTask, DrawnTask};
use crate::external::ExternalError;
use crate::memory::Memory;
use crate::statistics::mean;

/// Rollouts of a pool, at least.
const POOLED: f64 = 64.0;
/// Pools that each mean is over.
const POOLS: usize = 5;
const UNIFORM: f64 = 0.2;

pub(super) struct Alp;

/// Adds the solve rate of a pool, and scores the arm when it has enough of them.
fn add_pool(arm: Arm, rate: f64, memory: &mut Memory) {
    let keys: Vec<String> = (0..2 * POOLS).map(|age| arm.key(&format!("rate {age}"))).collect();
    let earlier = keys.iter().map_while(|key| memory.get(key));
    let rates: Vec<f64> = std::iter::once(rate).chain(earlier).take(keys.len()).collect();
    keys.iter().zip(&rates).for_each(|(key, rate)| memory.set(key, *rate));
    if rates.len() == keys.len() {
        let (late, early) = rates.split_at(POOLS);
        let progress = mean(late).zip(mean(early)).map(|(late, early)| (late - early).abs());
        memory.set(&arm.key("progress"), progress.unwrap_or_default());
    }
}

impl Curriculum for Alp {
    fn name(&self) -> &'static str {
        "alp"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        Ok(spread(tasks, UNIFORM, |arm| context.memory.get(&arm.key("progress"))))
    }

    fn note(&self, _step: u64, drawn: &[DrawnTask], memory: &mut Memory) {
        for (arm, outcome) in outcomes(drawn) {
            let [solved, judged] = ["solved", "judged"].map(|what| arm.key(what));
            let pool = (memory.add(&solved, outcome.solved), memory.add(&judged, outcome.judged));
            if pool.1 >= POOLED {
                add_pool(arm, pool.0 / pool.1, memory);
                [solved, judged].iter().for_each(|key| memory.set(key, 0.0));
            }
        }
    }
}
