//! `sec`: an arm (kind and class) weighs by how much was learned from it: a softmax of running means of |advantage|.
//!
//! # What it weighs
//! Q is 0 at first. After each step Q ← (1 − 0.5) Q + 0.5 · mean |advantage| of the arm's rollouts. P(arm) = 0.9 softmax(Q / 0.1) + 0.1 / arms,
//! split evenly between the arm's tasks. A Q above 50 counts as 50. Where no advantages are computed, all arms weigh the same.
//!
//! # Why
//! Under `grpo` the mean |advantage| of a group is 2 √(s (1 − s)): it seeks what is solved half of the time, without a target (SEC,
//! arXiv 2505.14970; its constants are not known). An arm of coin flips holds it for ever.
//!
//! # Example
//! After one step with |advantage| of 1 in one arm and 0 in another, Q is 0.5 and 0, and the weights are 0.944 and 0.056.

use super::arms::{outcomes, spread};
use super::{Curriculum, CurriculumContext, CurriculumTask, DrawnTask};
use crate::external::ExternalError;
use crate::memory::Memory;

const RATE: f64 = 0.5;
const TEMPERATURE: f64 = 0.1;
const UNIFORM: f64 = 0.1;
/// Its exponential and sums of it are finite.
const HIGHEST: f64 = 50.0;

pub(super) struct Sec;

impl Curriculum for Sec {
    fn name(&self) -> &'static str {
        "sec"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        let learned = |key: &str| context.memory.get(key).unwrap_or_default().min(HIGHEST);
        Ok(spread(tasks, UNIFORM, |arm| Some((learned(&arm.key("learned")) / TEMPERATURE).exp())))
    }

    fn note(&self, _step: u64, drawn: &[DrawnTask], memory: &mut Memory) {
        for (arm, outcome) in outcomes(drawn) {
            let key = arm.key("learned");
            let before = memory.get(&key).unwrap_or_default();
            memory.set(&key, (1.0 - RATE) * before + RATE * outcome.advantage / outcome.judged);
        }
    }
}
