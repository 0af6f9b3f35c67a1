//! Executors' episodes, and the verdicts on what they did.

use veriplay_core::{CodeTask, Dropped, Execute, Policy, Status, Verdict, content_hash};
use veriplay_verifier::environments::{EpisodeRequest, judge_episodes};

use super::SelfChallenge;
use super::dialects::Goal;
use super::drive::{Done, play, shared};
use crate::dialogue::{Sampled, Speaker};
use crate::play::PlayError;
use crate::randomness::derive_seed;

/// An executor's episode, judged. `done.goal` is its task.
pub(super) struct Attempted {
    pub(super) done: Done,
    pub(super) judged: Result<Verdict, Dropped>,
}

impl Attempted {
    /// Its task, and the verdict's status; `None` when there is no verdict.
    pub(super) fn status(&self) -> Option<(usize, Status)> {
        Some((self.done.goal, self.judged.as_ref().ok()?.status))
    }
}

/// How a group of episodes is drawn.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    /// Episodes of each task.
    pub(super) group: usize,
    pub(super) temperature: f32,
    /// Run seed, step and purpose.
    pub(super) seed: (u64, u64, &'static str),
}

impl Draw {
    /// Seeds code and verification functions.
    pub(super) fn code_seed(&self) -> u64 {
        let (run, step, purpose) = self.seed;
        derive_seed(run, step, &format!("{purpose}/code"))
    }
}

impl SelfChallenge {
    /// Plays and judges a group of episodes for each task, in the order of the tasks.
    pub(super) fn attempts(
        &self,
        policy: &dyn Policy,
        execute: &dyn Execute,
        tasks: &[&CodeTask],
        draw: Draw,
    ) -> Result<Vec<Attempted>, PlayError> {
        let max_tokens = self.config.executor_max_tokens;
        let mut speaker = Sampled { policy, temperature: draw.temperature, max_tokens, seed: draw.seed };
        self.attempts_by(&mut speaker, execute, tasks, draw.group, draw.code_seed())
    }

    /// The same, whoever answers.
    pub(super) fn attempts_by(
        &self,
        speaker: &mut dyn Speaker,
        execute: &dyn Execute,
        tasks: &[&CodeTask],
        group: usize,
        seed: u64,
    ) -> Result<Vec<Attempted>, PlayError> {
        let goals = tasks.iter().map(|task| self.execute_goal(task)).collect::<Result<Vec<_>, _>>()?;
        let done = play(&self.table(execute, seed), goals, group, speaker)?;
        let judged = self.judge_attempts(execute, tasks, &done, seed);
        Ok(done.into_iter().zip(judged).map(|(done, judged)| Attempted { done, judged }).collect())
    }

    /// What an executor is asked, with the index of its world.
    pub(super) fn execute_goal(&self, task: &CodeTask) -> Result<(usize, Goal), PlayError> {
        let CodeTask { environment, instruction, .. } = task;
        let world = self.worlds.iter().position(|world| world.environment.name == *environment);
        let unknown =
            || PlayError::Setup(format!("task `{}` is about `{environment}`, which is not here", task.task_id));
        let goal = Goal::Execute { environment: environment.clone(), instruction: instruction.clone() };
        Ok((world.ok_or_else(unknown)?, goal))
    }

    /// Those that are not dropped are judged by their calls and answers, whether or not they came to their end; what comes to the same
    /// calls and answer is judged once.
    fn judge_attempts(
        &self,
        execute: &dyn Execute,
        tasks: &[&CodeTask],
        done: &[Done],
        seed: u64,
    ) -> Vec<Result<Verdict, Dropped>> {
        let kept = done.iter().filter(|done| done.dropped.is_none());
        let request = |done: &'_ Done| -> EpisodeRequest<'_> {
            EpisodeRequest {
                environment: &self.worlds[done.world].environment,
                verify: &tasks[done.goal].verify,
                calls: &[],
                answer: None,
                image: &self.gate.image,
                limits: self.gate.limits,
                seed,
            }
        };
        let requests: Vec<EpisodeRequest<'_>> = kept
            .map(|done| EpisodeRequest { calls: done.episode.calls(), answer: done.episode.answer(), ..request(done) })
            .collect();
        let key = |request: &EpisodeRequest<'_>| {
            content_hash(&(&request.environment.name, request.verify, request.calls, request.answer))
        };
        let mut verdicts = shared(&requests, key, |distinct| judge_episodes(execute, distinct)).into_iter();
        let missing = || Err(Dropped { why: "no verdict was made".to_owned() });
        let verdict = |done: &Done| match &done.dropped {
            Some(dropped) => Err(dropped.clone()),
            None => verdicts.next().unwrap_or_else(missing),
        };
        done.iter().map(verdict).collect()
    }
}
