//! `ucb`: an arm (kind and class) weighs by its failures and by how rarely it was drawn: an upper confidence bound.
//!
//! # What it weighs
//! (1 − s) + 0.5 √(ln N / n): s is the solve rate of all the arm's rollouts so far, n the number of its tasks that were attempted, N that of all
//! arms. P(arm) = 0.9 in proportion to it + 0.1 / arms, split evenly between the arm's tasks. An arm that was never drawn weighs as the highest.
//!
//! # Why
//! It returns to what fails, and now and then to what did not. Upper confidence bounds over failed experiences replay them in Safety
//! Self-Play; its constant is not known. Unlike `sec` it keeps to what nobody can solve.
//!
//! # Example
//! 8 tasks of one arm, none solved, and 8 of another, all solved: 1 + 0.5 √(ln 16 / 8) = 1.294 and 0.294, so the weights are 0.783 and 0.217.

use super::arms::{Arm, outcomes, spread};
use super::{Curriculum, CurriculumContext, CurriculumTask, DrawnTask};
use crate::external::ExternalError;
use crate::memory::Memory;

const EXPLORATION: f64 = 0.5;
const UNIFORM: f64 = 0.1;
/// Names the number of tasks of all arms.
const ALL: &str = "tasks";

pub(super) struct Ucb;

/// The score of an arm; `None` where it was never drawn.
fn bound(arm: Arm, memory: &Memory) -> Option<f64> {
    let [tasks, solved, judged] = ["tasks", "solved", "judged"].map(|what| memory.get(&arm.key(what)));
    Some(1.0 - solved? / judged? + EXPLORATION * (memory.get(ALL)?.ln() / tasks?).sqrt())
}

impl Curriculum for Ucb {
    fn name(&self) -> &'static str {
        "ucb"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        Ok(spread(tasks, UNIFORM, |arm| bound(arm, context.memory)))
    }

    fn note(&self, _step: u64, drawn: &[DrawnTask], memory: &mut Memory) {
        for (arm, outcome) in outcomes(drawn) {
            memory.add(ALL, outcome.tasks);
            memory.add(&arm.key("tasks"), outcome.tasks);
            memory.add(&arm.key("solved"), outcome.solved);
            memory.add(&arm.key("judged"), outcome.judged);
        }
    }
}
