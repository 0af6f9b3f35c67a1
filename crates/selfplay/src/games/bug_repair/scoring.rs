//! From verdicts to rewards, advantages, and what the learner takes.
//!
//! A turn is a sample, and all turns of an episode have the episode's advantage. Under `episode_mean` a token of an episode weighs
//! 1 / (tokens of all its turns), and the sum is divided by the number of paid solver episodes: an episode counts once, whether it
//! took one turn or thirty, and the loss of a step is the mean over episodes of the mean over their tokens.

use std::collections::HashMap;

use rand::seq::SliceRandom;
use veriplay_core::{Reward, Role, Sample, TaskType, TrainBatch};

use super::BugRepair;
use super::config::{Aggregation, InjectorMode};
use super::drive::Done;
use super::making::Injection;
use super::pay::InjectionOutcome;
use super::solving::Repair;
use super::state::GameState;
use crate::advantages::AdvantageRow;
use crate::batching::PromptGroups;
use crate::metrics::SolveCount;
use crate::randomness::{generator, ordered};

/// An episode's pay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paid {
    pub(super) role: Role,
    /// Index among the step's injections or repairs.
    pub(super) index: usize,
    /// Episodes of one group answered the same question.
    group: usize,
    pub(super) reward: Reward,
    pub(super) advantage: f64,
    weight: f64,
}

/// Estimators tell batches apart by role and task type, and this game has one kind of task.
const KIND: TaskType = TaskType::Induction;

impl BugRepair {
    /// What every episode is paid: injections first. Not among them are Dropped episodes and bugs without a solve rate.
    pub(super) fn paid(
        &self,
        state: &mut GameState,
        (seed, step): (u64, u64),
        injections: &[Injection],
        rates: &HashMap<usize, SolveCount>,
        repairs: &[Repair],
    ) -> Vec<Paid> {
        let mut paid: Vec<Paid> = injections
            .iter()
            .enumerate()
            .filter_map(|(index, injection)| {
                let reward = self.pay.injector(outcome(injection, rates.get(&index))?)?;
                // All injectors were asked the same: make a bug.
                Some(Paid { role: Role::Proposer, index, group: 0, reward, advantage: 0.0, weight: 0.0 })
            })
            .collect();
        paid.extend(repairs.iter().enumerate().filter_map(|(index, repair)| {
            let reward = self.pay.solver(repair.judged.as_ref().ok()?.status);
            let group = repair.done.assignment;
            Some(Paid { role: Role::Solver, index, group, reward, advantage: 0.0, weight: 0.0 })
        }));
        if self.pay.shuffled() {
            shuffle(&mut paid, seed, step);
        }
        self.weigh(&mut paid, state);
        paid
    }

    fn weigh(&self, paid: &mut [Paid], state: &mut GameState) {
        let row = |paid: &Paid| AdvantageRow {
            role: paid.role,
            task_type: KIND,
            group: paid.group,
            reward: paid.reward.total(),
        };
        let rows: Vec<AdvantageRow> = paid.iter().map(row).collect();
        let injector = match self.config.injector {
            InjectorMode::Train => self.config.injector_weight,
            InjectorMode::Frozen => 0.0,
        };
        for (paid, advantage) in paid.iter_mut().zip(self.advantage.advantages(&rows, state.memory_mut())) {
            paid.advantage = advantage;
            paid.weight = if paid.role == Role::Proposer { advantage * injector } else { advantage };
        }
    }

    /// Every turn of every episode whose weight is not 0, then the step's anchors; `None` when there is nothing to learn.
    pub(super) fn lesson(
        &self,
        state: &GameState,
        (seed, step): (u64, u64),
        injections: &[Injection],
        repairs: &[Repair],
        paid: &[Paid],
    ) -> Option<TrainBatch> {
        let done = |paid: &Paid| match paid.role {
            Role::Proposer => &injections[paid.index].done,
            Role::Solver | Role::Verifier => &repairs[paid.index].done,
        };
        let mut groups = PromptGroups::default();
        for paid in paid.iter().filter(|paid| paid.weight != 0.0) {
            let (done, weight) = (done(paid), paid.weight as f32);
            let scale = self.scale(tokens(done));
            for (_, rollout) in &done.said {
                groups.add(&rollout.prompt_tokens, &rollout.tokens, |prompt, response| Sample {
                    behaviour: (!rollout.logprobs.is_empty()).then(|| rollout.logprobs.clone()),
                    scale,
                    ..Sample::new(prompt, response, weight)
                });
            }
        }
        for anchor in self.anchors(state, seed, step) {
            let scale = self.scale(anchor.tokens.len());
            let weight = self.config.anchor_weight as f32;
            groups.add(&anchor.prompt_tokens, &anchor.tokens, |prompt, response| Sample {
                scale,
                ..Sample::example(prompt, response, weight)
            });
        }
        let samples = groups.finish();
        let solvers = paid.iter().filter(|paid| paid.role == Role::Solver);
        let count: usize = match self.config.aggregation {
            Aggregation::EpisodeMean => solvers.count(),
            Aggregation::TokenMean => solvers.map(|paid| tokens(done(paid))).sum(),
        };
        (!samples.is_empty()).then_some(TrainBatch { samples, normalizer: count.max(1) as f64 })
    }

    fn scale(&self, tokens: usize) -> f32 {
        match self.config.aggregation {
            Aggregation::EpisodeMean => 1.0 / tokens.max(1) as f32,
            Aggregation::TokenMean => 1.0,
        }
    }

    fn anchors<'a>(&self, state: &'a GameState, seed: u64, step: u64) -> Vec<&'a crate::games::absolute_zero::Anchor> {
        if self.config.anchor_weight == 0.0 {
            return Vec::new();
        }
        let all = state.anchors().iter().map(|anchor| (anchor, 1.0)).collect();
        let mut drawn = ordered(all, &mut generator(seed, step, "anchors"));
        drawn.truncate(self.config.anchor_samples);
        drawn
    }
}

/// What became of an injection; `None` for one that was Dropped.
fn outcome(injection: &Injection, rate: Option<&SolveCount>) -> Option<InjectionOutcome> {
    let judged = injection.judged.as_ref().ok()?;
    Some(match (&judged.bug, rate.and_then(|count| count.rate())) {
        (None, _) => InjectionOutcome::Refused,
        (Some(_), _) if judged.known => InjectionOutcome::Duplicate,
        (Some(_), Some(rate)) => InjectionOutcome::Rated { rate },
        (Some(_), None) => InjectionOutcome::Unrated,
    })
}

/// Tokens that were generated in an episode.
pub(super) fn tokens(done: &Done) -> usize {
    done.said.iter().map(|(_, rollout)| rollout.tokens.len()).sum()
}

/// Gives the rewards of each role's batch to its members anew.
fn shuffle(paid: &mut [Paid], seed: u64, step: u64) {
    let mut generator = generator(seed, step, "shuffled rewards");
    for role in [Role::Proposer, Role::Solver] {
        let mut batch: Vec<&mut Paid> = paid.iter_mut().filter(|paid| paid.role == role).collect();
        let mut rewards: Vec<Reward> = batch.iter().map(|paid| paid.reward.clone()).collect();
        rewards.shuffle(&mut generator);
        batch.iter_mut().zip(rewards).for_each(|(paid, reward)| paid.reward = reward);
    }
}
