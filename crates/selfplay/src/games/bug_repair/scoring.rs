//! From verdicts to rewards and advantages, and what the learner takes of them.

use std::collections::HashMap;

use veriplay_core::{Role, TrainBatch};

use super::BugRepair;
use super::config::InjectorMode;
use super::making::Injection;
use super::pay::InjectionOutcome;
use super::solving::Repair;
use super::state::GameState;
use crate::anchors::Imitation;
use crate::episodes::{Lessons, Paid, rows, shuffle, weigh};
use crate::metrics::SolveCount;

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
                Some(Paid::new(Role::Proposer, index, 0, reward))
            })
            .collect();
        paid.extend(repairs.iter().enumerate().filter_map(|(index, repair)| {
            let reward = self.pay.solver(repair.judged.as_ref().ok()?.status);
            Some(Paid::new(Role::Solver, index, repair.done.assignment, reward))
        }));
        if self.pay.shuffled() {
            shuffle(&mut paid, seed, step);
        }
        let advantages = self.advantage.advantages(&rows(&paid), state.memory_mut());
        let injector = match self.config.injector {
            InjectorMode::Train => self.config.injector_weight,
            InjectorMode::Frozen => 0.0,
        };
        weigh(&mut paid, &advantages, injector);
        paid
    }

    /// What is learned from the step; `None` for nothing.
    pub(super) fn lesson(
        &self,
        state: &GameState,
        now: (u64, u64),
        injections: &[Injection],
        repairs: &[Repair],
        paid: &[Paid],
    ) -> Option<TrainBatch> {
        let (samples, weight) = (self.config.anchor_samples, self.config.anchor_weight);
        let anchors = Imitation { anchors: state.anchors(), samples, weight };
        let lessons = Lessons { aggregation: self.config.aggregation, imitate: false, anchors };
        lessons.of(now, paid, |paid| match paid.role {
            Role::Proposer => &injections[paid.index].done.said,
            Role::Solver | Role::Verifier => &repairs[paid.index].done.said,
        })
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
