//! `bots`: a task is drawn if a guess at its solve rate, from what is remembered of the task, is close to one half.
//!
//! # What it weighs
//! Each task has counts (α, β), at first (1, 1). Each step forgets a tenth, α ← 0.9 α + 0.1 and β likewise, of all tasks; then those that were drawn
//! add their solved rollouts to α and the others to β. The guess p is drawn from Beta(α, β), for one task of ten, chosen at random, from
//! Beta(1, 1); the task weighs exp(−|p − 0.5| / 0.001), which puts tasks in the order of |p − 0.5| but for ties. Counts below 1.01 are 1.
//!
//! # Why
//! Thompson sampling: what is not known is tried, what is known to be solved half of the time is preferred, and what changed is found out by
//! forgetting (BOTS, arXiv 2510.26374, without its reference models). Its tenth of unbiased draws keeps every task in play.
//!
//! # Example
//! Of 16 rollouts of a new task 4 are right: (5, 13). Its guesses are 0.28 ± 0.10, and 2 of 100 are above 0.5.

use rand::Rng;
use rand_distr::{Beta, Distribution};

use super::{Curriculum, CurriculumContext, CurriculumTask, DrawnTask};
use crate::external::ExternalError;
use crate::memory::Memory;
use crate::randomness::generator;

const UNIFORM: f64 = 0.1;
const TARGET: f64 = 0.5;
/// How far two guesses are apart, of which the closer one comes first e times as often.
const RESOLUTION: f64 = 0.001;
/// What is counted beyond the first 1 and is as good as forgotten.
const FORGOTTEN: f64 = 0.01;

/// `bots` with a rate of forgetting.
#[derive(Debug, Clone, Copy)]
pub struct Bots {
    /// The share of what is known that each step forgets, in [0, 1].
    pub forgetting: f64,
}

impl Bots {
    /// The one that the config names.
    pub const DEFAULT: Self = Self { forgetting: 0.1 };
}

/// Names α and β of a task.
fn keys(id: &veriplay_core::Digest) -> [String; 2] {
    ["solved", "failed"].map(|what| format!("{id}/{what}"))
}

/// Draws from Beta(a, b); counts of no distribution, which no step leaves behind, are a guess of one half.
fn draw_beta(a: f64, b: f64, random: &mut impl Rng) -> f64 {
    Beta::new(a, b).map_or(TARGET, |beta| beta.sample(random))
}

impl Curriculum for Bots {
    fn name(&self) -> &'static str {
        "bots"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        let mut random = generator(context.seed, context.step, "curriculum/bots");
        let weights = tasks.iter().map(|task| {
            let [a, b] = keys(task.id).map(|key| context.memory.get(&key).unwrap_or(1.0));
            let explores = random.random::<f64>() < UNIFORM;
            let guess = if explores { random.random() } else { draw_beta(a, b, &mut random) };
            (-(guess - TARGET).abs() / RESOLUTION).exp()
        });
        Ok(weights.collect())
    }

    fn note(&self, _step: u64, drawn: &[DrawnTask], memory: &mut Memory) {
        memory.update(|count| {
            let left = (1.0 - self.forgetting) * count + self.forgetting;
            (left >= 1.0 + FORGOTTEN).then_some(left)
        });
        for DrawnTask { id, solved, .. } in drawn.iter().filter(|task| task.solved.judged > 0) {
            let [a, b] = keys(id);
            for (key, count) in [(a, solved.solved), (b, solved.judged - solved.solved)] {
                let known = memory.get(&key).unwrap_or(1.0);
                memory.set(&key, known + f64::from(count));
            }
        }
    }
}
