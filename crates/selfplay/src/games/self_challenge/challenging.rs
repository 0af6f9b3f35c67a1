//! Challengers' episodes, and the verdicts on what they proposed.

use std::collections::BTreeSet;

use rand::seq::{IndexedRandom, SliceRandom};
use veriplay_core::{CodeTask, Digest, Dropped, Evidence, Execute, Status, Verdict};
use veriplay_verifier::environments::{ArtifactRequest, CompleteRequest, Examined, complete, examine_artifacts};

use super::SelfChallenge;
use super::dialects::Goal;
use super::drive::{Done, play};
use super::episode::End;
use super::records::JudgedTask;
use super::state::solution_digest;
use crate::dialogue::{Sampled, Speaker};
use crate::play::{Arena, PlayError};
use crate::randomness::{derive_seed, generator};
use crate::splits::HELD_OUT;

/// The rule of challenges in which nothing was proposed.
pub(super) const UNREADABLE: &str = "malformed";

/// A challenger's episode, judged.
pub(super) struct Challenge {
    pub(super) tool: String,
    pub(super) known: bool,
    pub(super) done: Done,
    pub(super) judged: Result<JudgedTask, Dropped>,
}

impl Challenge {
    /// The environment it was to be about.
    pub(super) fn environment(&self) -> String {
        match self.done.episode.goal() {
            Goal::Challenge { environment, .. } | Goal::Execute { environment, .. } => environment.clone(),
        }
    }

    /// The task, where it is valid.
    pub(super) fn task(&self) -> Option<&CodeTask> {
        let judged = self.judged.as_ref().ok()?;
        judged.task.as_ref().filter(|_| judged.verdict.status == Status::Valid)
    }
}

/// What is to be judged of an episode, and whether such a task is known.
pub(super) type Proposed = Option<(CodeTask, bool)>;

impl SelfChallenge {
    /// The seed of challengers' code.
    pub(super) fn challenge_seed(seed: u64, step: u64) -> u64 {
        derive_seed(seed, step, "self_challenge/code of challengers")
    }

    /// What challengers of a step are asked: each environment in turn, a tool of it drawn.
    pub(super) fn challenge_goals(&self, seed: u64, step: u64, count: usize) -> Vec<(usize, Goal)> {
        let mut generator = generator(seed, step, "self_challenge/challenges");
        let mut worlds: Vec<usize> = (0..self.worlds.len()).collect();
        worlds.shuffle(&mut generator);
        let goal = |(index, world): (usize, usize)| {
            let tools = &self.worlds[world].about.tools;
            let tool = tools.choose(&mut generator).map_or_else(String::new, |tool| tool.name.clone());
            (world, self.challenge_goal(world, step, index, tool))
        };
        worlds.into_iter().cycle().take(count).enumerate().map(goal).collect()
    }

    pub(super) fn challenge_goal(&self, world: usize, step: u64, index: usize, tool: String) -> Goal {
        let environment = self.worlds[world].environment.name.clone();
        Goal::Challenge { task_id: format!("proposed/{step}/{index}"), environment, tool }
    }

    /// Plays a step's challengers and judges what they proposed. `known` grows by what is read.
    pub(super) fn challenges(
        &self,
        arena: &Arena<'_>,
        known: &mut BTreeSet<Digest>,
        step: u64,
        count: usize,
    ) -> Result<Vec<Challenge>, PlayError> {
        let goals = self.challenge_goals(arena.seed, step, count);
        let mut speaker = Sampled {
            policy: arena.policy,
            temperature: self.config.challenger_temperature,
            max_tokens: self.config.challenger_max_tokens,
            seed: (arena.seed, step, "challenger"),
        };
        let done = self.played(arena.execute, goals, Self::challenge_seed(arena.seed, step), &mut speaker)?;
        let mut is_known = |task: &CodeTask| !known.insert(solution_digest(task));
        let proposed: Vec<Proposed> = done.iter().map(|done| proposed(done, &mut is_known)).collect();
        let judged = self.judge_proposals(arena.execute, &done, &proposed);
        let challenge = |((done, proposed), judged): ((Done, Proposed), _)| Challenge {
            tool: tool(done.episode.goal()),
            known: proposed.is_some_and(|(_, known)| known),
            done,
            judged,
        };
        Ok(done.into_iter().zip(proposed).zip(judged).map(challenge).collect())
    }

    pub(super) fn played(
        &self,
        execute: &dyn Execute,
        goals: Vec<(usize, Goal)>,
        seed: u64,
        speaker: &mut dyn Speaker,
    ) -> Result<Vec<Done>, PlayError> {
        play(&self.table(execute, seed), goals, 1, speaker)
    }

    /// Verdicts on what challengers proposed, completed first where the dialect leaves that to us. Nothing runs for what is measured.
    pub(super) fn judge_proposals(
        &self,
        execute: &dyn Execute,
        done: &[Done],
        proposed: &[Proposed],
    ) -> Vec<Result<JudgedTask, Dropped>> {
        let refused: Vec<Option<JudgedTask>> =
            proposed.iter().map(|proposed| self.refuse_measured(&proposed.as_ref()?.0)).collect();
        let is_left = |place: &usize| proposed[*place].is_some() && refused[*place].is_none();
        let places: Vec<usize> = (0..done.len()).filter(is_left).collect();
        let tasks: Vec<&CodeTask> = places.iter().filter_map(|place| Some(&proposed[*place].as_ref()?.0)).collect();
        let environment = |place: usize| &self.worlds[done[place].world].environment;
        let whole: Vec<Result<CodeTask, Dropped>> = if self.dialect.is_single_turn() {
            let requests = places.iter().zip(&tasks);
            let requests: Vec<_> =
                requests.map(|(place, task)| CompleteRequest { environment: environment(*place), task }).collect();
            complete(execute, &self.gate, &requests)
        } else {
            tasks.into_iter().map(|task| Ok(task.clone())).collect()
        };
        let ready: Vec<(usize, &CodeTask)> =
            places.iter().zip(&whole).filter_map(|(place, task)| Some((*place, task.as_ref().ok()?))).collect();
        let requests: Vec<ArtifactRequest<'_>> = ready
            .iter()
            .map(|(place, task)| ArtifactRequest {
                environment: environment(*place),
                task,
                known: proposed[*place].as_ref().is_some_and(|(_, known)| *known),
            })
            .collect();
        let mut examined = examine_artifacts(execute, &self.gate, &requests).into_iter();
        drop(requests);
        let mut whole = whole.into_iter();
        let judge =
            |((done, proposed), refused): ((&Done, &Proposed), Option<JudgedTask>)| match (&done.dropped, proposed) {
                (Some(dropped), _) => Err(dropped.clone()),
                (None, None) => Ok(nothing_proposed(done)),
                (None, Some(_)) => {
                    if let Some(refused) = refused {
                        return Ok(refused);
                    }
                    let task = whole.next().unwrap_or_else(no_verdict)?;
                    let Examined { verdict, rules } = examined.next().unwrap_or_else(no_verdict)?;
                    let rules = rules.into_iter().map(str::to_owned).collect();
                    Ok(JudgedTask { verdict, rules, task: Some(task) })
                }
            };
        done.iter().zip(proposed).zip(refused).map(judge).collect()
    }

    fn refuse_measured(&self, task: &CodeTask) -> Option<JudgedTask> {
        let verdict = self.guard.refuse_task(&task.instruction, &task.solution)?;
        Some(JudgedTask { verdict, rules: vec![HELD_OUT.to_owned()], task: Some(task.clone()) })
    }
}

/// The tool that a challenger was told.
pub(super) fn tool(goal: &Goal) -> String {
    match goal {
        Goal::Challenge { tool, .. } => tool.clone(),
        Goal::Execute { .. } => String::new(),
    }
}

/// What an episode proposed, and whether `is_known` says that such a task is known.
pub(super) fn proposed(done: &Done, is_known: impl FnOnce(&CodeTask) -> bool) -> Proposed {
    match done.episode.end() {
        Some(End::Proposed(task)) if done.dropped.is_none() => Some((task.clone(), is_known(task))),
        _ => None,
    }
}

fn no_verdict<T>() -> Result<T, Dropped> {
    Err(Dropped { why: "no verdict was made".to_owned() })
}

fn nothing_proposed(done: &Done) -> JudgedTask {
    let detail = done.episode.end().map_or("", End::name).to_owned();
    let evidence = Evidence { rule: UNREADABLE.to_owned(), detail, ..Evidence::default() };
    let verdict = Verdict { status: Status::Malformed, passed: 0, total: 1, evidence };
    JudgedTask { verdict, rules: vec![UNREADABLE.to_owned()], task: None }
}
