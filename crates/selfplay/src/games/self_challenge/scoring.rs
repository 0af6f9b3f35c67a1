//! From verdicts to rewards, advantages, and what the learner takes.
//!
//! A turn is a sample, and all turns of an episode have the episode's advantage. Under `episode_mean` a token of an episode weighs
//! 1 / (tokens of all its turns), and the sum is divided by the number of paid executors' episodes; under `token_mean` it is divided by
//! the number of their tokens.

use rand::seq::SliceRandom;
use veriplay_core::{Reward, Role, Sample, TaskType, TrainBatch};

use super::SelfChallenge;
use super::challenging::Challenge;
use super::config::{ChallengerMode, LearnFrom};
use super::drive::Done;
use super::executing::Attempted;
use super::pay::ChallengeOutcome;
use super::state::GameState;
use crate::advantages::AdvantageRow;
use crate::batching::PromptGroups;
use crate::games::absolute_zero::Anchor;
use crate::games::bug_repair::Aggregation;
use crate::metrics::SolveCount;
use crate::randomness::{generator, ordered};

/// An episode's pay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paid {
    pub(super) role: Role,
    /// Index among the step's challenges or attempts.
    pub(super) index: usize,
    /// Episodes of one group were asked the same.
    group: usize,
    pub(super) reward: Reward,
    pub(super) advantage: f64,
    weight: f64,
}

/// Estimators tell batches apart by role and task type, and this game has one kind of task.
const KIND: TaskType = TaskType::Induction;

impl SelfChallenge {
    /// What every episode is paid: challenges first. Not among them are Dropped episodes and valid tasks without a solve rate.
    /// `rates` has the solve counts of challenges whose task was asked.
    pub(super) fn paid(
        &self,
        state: &mut GameState,
        (seed, step): (u64, u64),
        challenges: &[Challenge],
        rates: &[Option<SolveCount>],
        attempts: &[Attempted],
    ) -> Vec<Paid> {
        let unpaid = |role, index, group, reward| Paid { role, index, group, reward, advantage: 0.0, weight: 0.0 };
        let mut paid: Vec<Paid> = challenges
            .iter()
            .zip(rates)
            .enumerate()
            .filter_map(|(index, (challenge, rate))| {
                let reward = self.pay.challenger(outcome(challenge, *rate)?)?;
                // All challengers were asked the same: make a task.
                Some(unpaid(Role::Proposer, index, 0, reward))
            })
            .collect();
        paid.extend(attempts.iter().enumerate().filter_map(|(index, attempt)| {
            let reward = self.pay.executor(attempt.judged.as_ref().ok()?.status);
            Some(unpaid(Role::Solver, index, attempt.done.goal, reward))
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
        let challenger = match self.config.challenger {
            ChallengerMode::Train => self.config.challenger_weight,
            ChallengerMode::Frozen => 0.0,
        };
        let advantages = self.advantage.advantages(&rows, state.memory_mut());
        for (paid, advantage) in paid.iter_mut().zip(advantages) {
            paid.advantage = match self.config.learn_from {
                LearnFrom::Advantages => advantage,
                LearnFrom::Successes => f64::from(u8::from(paid.reward.total() > 0.0)),
            };
            paid.weight = if paid.role == Role::Proposer { paid.advantage * challenger } else { paid.advantage };
        }
    }

    /// Every turn of every episode whose weight is not 0, then the step's anchors; `None` when there is nothing to learn.
    pub(super) fn lesson(
        &self,
        state: &GameState,
        (seed, step): (u64, u64),
        challenges: &[Challenge],
        attempts: &[Attempted],
        paid: &[Paid],
    ) -> Option<TrainBatch> {
        let done = |paid: &Paid| match paid.role {
            Role::Proposer => &challenges[paid.index].done,
            Role::Solver | Role::Verifier => &attempts[paid.index].done,
        };
        let imitate = self.config.learn_from == LearnFrom::Successes;
        let mut groups = PromptGroups::default();
        for paid in paid.iter().filter(|paid| paid.weight != 0.0) {
            let (done, weight) = (done(paid), paid.weight as f32);
            let scale = self.scale(tokens(done));
            for (_, rollout) in &done.said {
                groups.add(&rollout.prompt_tokens, &rollout.tokens, |prompt, response| Sample {
                    behaviour: (!rollout.logprobs.is_empty()).then(|| rollout.logprobs.clone()),
                    scale,
                    imitate,
                    ..Sample::new(prompt, response, weight)
                });
            }
        }
        for anchor in self.anchors(state, seed, step) {
            let (scale, weight) = (self.scale(anchor.tokens.len()), self.config.anchor_weight as f32);
            groups.add(&anchor.prompt_tokens, &anchor.tokens, |prompt, response| Sample {
                scale,
                ..Sample::example(prompt, response, weight)
            });
        }
        let samples = groups.finish();
        let counts = |paid: &&Paid| paid.role == Role::Solver && (!imitate || paid.weight != 0.0);
        let executors = paid.iter().filter(counts);
        let count: usize = match self.config.aggregation {
            Aggregation::EpisodeMean => executors.count(),
            Aggregation::TokenMean => executors.map(|paid| tokens(done(paid))).sum(),
        };
        (!samples.is_empty()).then_some(TrainBatch { samples, normalizer: count.max(1) as f64 })
    }

    fn scale(&self, tokens: usize) -> f32 {
        match self.config.aggregation {
            Aggregation::EpisodeMean => 1.0 / tokens.max(1) as f32,
            Aggregation::TokenMean => 1.0,
        }
    }

    fn anchors<'a>(&self, state: &'a GameState, seed: u64, step: u64) -> Vec<&'a Anchor> {
        if self.config.anchor_weight == 0.0 {
            return Vec::new();
        }
        let all = state.anchors().iter().map(|anchor| (anchor, 1.0)).collect();
        let mut drawn = ordered(all, &mut generator(seed, step, "anchors"));
        drawn.truncate(self.config.anchor_samples);
        drawn
    }
}

/// What became of a challenge; `None` for one that was Dropped, or whose task every attempt at was.
fn outcome(challenge: &Challenge, rate: Option<SolveCount>) -> Option<ChallengeOutcome> {
    let judged = challenge.judged.as_ref().ok()?;
    Some(match rate {
        _ if challenge.known && judged.task.is_some() => ChallengeOutcome::Duplicate,
        _ if challenge.task().is_none() => ChallengeOutcome::Refused,
        None => ChallengeOutcome::Unrated,
        Some(count) => ChallengeOutcome::Rated { rate: count.rate()? },
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
