//! Solvers' episodes, and the verdicts on what they made.

use std::sync::Arc;

use veriplay_core::{Dropped, Evidence, Execute, Fuzz, Policy, Status, Verdict};
use veriplay_verifier::bugs::desk::{GradeRequest, grade_all, repair_of};
use veriplay_verifier::bugs::{Ground, RepairRequest};

use super::BugRepair;
use super::drive::{Done, play};
use super::episode::{Assignment, End};
use super::place::Place;
use super::tasks::Task;
use crate::dialogue::Sampled;
use crate::play::PlayError;
use crate::randomness::derive_seed;

/// A solver's episode, judged. `done.assignment` is its task.
#[derive(Debug, Clone)]
pub(super) struct Repair {
    pub(super) done: Done,
    /// What it made; empty for nothing.
    pub(super) patch: String,
    pub(super) judged: Result<Verdict, Dropped>,
}

impl Repair {
    /// Its task, and the verdict's status; `None` when there is no verdict.
    pub(super) fn status(&self) -> Option<(usize, Status)> {
        Some((self.done.assignment, self.judged.as_ref().ok()?.status))
    }
}

/// How a group of episodes is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// Episodes of each task.
    pub(super) group: usize,
    pub(super) temperature: f32,
    /// Run seed, step and purpose.
    pub(super) seed: (u64, u64, &'static str),
}

/// The seeds of runs of tests, and of grading.
pub(super) fn seeds(seed: (u64, u64, &'static str)) -> (u64, u64) {
    let (run, step, purpose) = seed;
    (derive_seed(run, step, &format!("{purpose}/tests")), derive_seed(run, step, &format!("{purpose}/grade")))
}

impl BugRepair {
    /// Plays and judges a group of episodes for each task, in the order of the tasks.
    pub(super) fn repairs(
        &self,
        policy: &dyn Policy,
        execute: &dyn Execute,
        tasks: &[Task],
        draw: Draw,
    ) -> Result<Vec<Repair>, PlayError> {
        let (tests, grading) = seeds(draw.seed);
        let assignments: Vec<Arc<Assignment>> = tasks.iter().map(|task| Arc::clone(&task.assignment)).collect();
        let max_tokens = self.config.solver_max_tokens;
        let mut speaker = Sampled { policy, temperature: draw.temperature, max_tokens, seed: draw.seed };
        let done = play(&self.table(execute, tests), &assignments, draw.group, &mut speaker)?;
        let of_task: Vec<(&Task, u64)> = done.iter().map(|done| (&tasks[done.assignment], grading)).collect();
        Ok(self.judge_repairs(execute, &of_task, done))
    }

    /// Verdicts on what solvers left; each with its task and the seed of its grading.
    pub(super) fn judge_repairs(&self, execute: &dyn Execute, tasks: &[(&Task, u64)], done: Vec<Done>) -> Vec<Repair> {
        let grounds: Vec<Ground<'_>> = self.places.iter().map(Place::ground).collect();
        let patches: Vec<Result<String, Verdict>> = tasks
            .iter()
            .zip(&done)
            .map(|((task, _), done)| self.patch(&grounds[task.assignment.place], done))
            .collect();
        let wanted: Vec<usize> =
            (0..done.len()).filter(|index| done[*index].dropped.is_none() && patches[*index].is_ok()).collect();
        let requests: Vec<GradeRequest<'_>> = wanted
            .iter()
            .filter_map(|index| {
                let (task, seed) = tasks[*index];
                let patch = patches[*index].as_deref().ok()?;
                let repair = RepairRequest { artifact: &task.artifact, patch, fuzz: Fuzz::NONE, seed };
                Some(GradeRequest { ground: &grounds[task.assignment.place], repair })
            })
            .collect();
        let mut verdicts = grade_all(execute, &requests).into_iter();
        drop(requests);
        let repair = |(done, patch): (Done, Result<String, Verdict>)| {
            let judged = match (&done.dropped, &patch) {
                (Some(dropped), _) => Err(dropped.clone()),
                (None, Err(verdict)) => Ok(verdict.clone()),
                (None, Ok(_)) => {
                    verdicts.next().unwrap_or_else(|| Err(Dropped { why: "no verdict was made".to_owned() }))
                }
            };
            Repair { done, patch: patch.unwrap_or_default(), judged }
        };
        done.into_iter().zip(patches).map(repair).collect()
    }

    /// What an episode made, or the verdict on one that is graded no further.
    fn patch(&self, ground: &Ground<'_>, done: &Done) -> Result<String, Verdict> {
        if !self.config.grade_unfinished && done.episode.end() != Some(End::Submitted) {
            return Err(malformed("unfinished", "it submitted nothing"));
        }
        let patch = repair_of(ground, &done.episode.assignment().tree, done.episode.tree());
        patch.map(|patch| patch.to_string()).map_err(|error| malformed("patch", &error.to_string()))
    }
}

fn malformed(rule: &str, detail: &str) -> Verdict {
    let evidence = Evidence { rule: rule.to_owned(), detail: detail.to_owned(), ..Evidence::default() };
    Verdict { status: Status::Malformed, passed: 0, total: 0, evidence }
}
