//! From verdicts to rewards and advantages, and what the learner takes of them.

use veriplay_core::{Role, TrainBatch};

use super::SelfChallenge;
use super::challenging::Challenge;
use super::config::{ChallengerMode, LearnFrom};
use super::executing::Attempted;
use super::pay::ChallengeOutcome;
use super::state::GameState;
use crate::anchors::Imitation;
use crate::episodes::{Lessons, Paid, rows, shuffle, weigh};
use crate::metrics::SolveCount;
use crate::splits;

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
        let mut paid: Vec<Paid> = challenges
            .iter()
            .zip(rates)
            .enumerate()
            .filter_map(|(index, (challenge, rate))| {
                let reward = self.pay.challenger(outcome(challenge, *rate)?)?;
                // All challengers were asked the same: make a task.
                Some(Paid::new(Role::Proposer, index, 0, reward))
            })
            .collect();
        paid.extend(attempts.iter().enumerate().filter_map(|(index, attempt)| {
            let reward = self.pay.executor(attempt.judged.as_ref().ok()?.status);
            Some(Paid::new(Role::Solver, index, attempt.done.goal, reward))
        }));
        if self.pay.shuffled() {
            shuffle(&mut paid, seed, step);
        }
        let advantages = self.advantages(state, &paid);
        let challenger = match self.config.challenger {
            ChallengerMode::Train => self.config.challenger_weight,
            ChallengerMode::Frozen => 0.0,
        };
        weigh(&mut paid, &advantages, challenger);
        paid
    }

    fn advantages(&self, state: &mut GameState, paid: &[Paid]) -> Vec<f64> {
        match self.config.learn_from {
            LearnFrom::Advantages => self.advantage.advantages(&rows(paid), state.memory_mut()),
            LearnFrom::Successes => paid.iter().map(|paid| f64::from(u8::from(paid.reward.total() > 0.0))).collect(),
        }
    }

    /// What is learned from the step; `None` for nothing.
    pub(super) fn lesson(
        &self,
        state: &GameState,
        now: (u64, u64),
        challenges: &[Challenge],
        attempts: &[Attempted],
        paid: &[Paid],
    ) -> Option<TrainBatch> {
        let (samples, weight) = (self.config.anchor_samples, self.config.anchor_weight);
        let anchors = Imitation { anchors: state.anchors(), samples, weight };
        let imitate = self.config.learn_from == LearnFrom::Successes;
        let lessons = Lessons { aggregation: self.config.aggregation, imitate, anchors };
        lessons.of(now, paid, |paid| match paid.role {
            Role::Proposer => &challenges[paid.index].done.said,
            Role::Solver | Role::Verifier => &attempts[paid.index].done.said,
        })
    }
}

/// What became of a challenge; `None` for one that was Dropped, or whose task every attempt at was.
fn outcome(challenge: &Challenge, rate: Option<SolveCount>) -> Option<ChallengeOutcome> {
    let judged = challenge.judged.as_ref().ok()?;
    Some(match rate {
        _ if splits::is_refusal(&judged.verdict) => ChallengeOutcome::Refused,
        _ if challenge.known && judged.task.is_some() => ChallengeOutcome::Duplicate,
        _ if challenge.task().is_none() => ChallengeOutcome::Refused,
        None => ChallengeOutcome::Unrated,
        Some(count) => ChallengeOutcome::Rated { rate: count.rate()? },
    })
}
