//! From judged records to rewards and advantages. Called by the cli at the end of a step.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Attempt, Digest, Reward, Role, Status, TaskType};

use super::metrics::{StepMetrics, step_metrics};
use super::records::{Origin, ProposalRecord, SolverRecord, SolverTurn};
use super::state::{GameState, proposal_digest};
use super::turns::accepted_task;
use super::{AbsoluteZero, ProposerMode};
use crate::advantages::{AdvantageMemory, AdvantageRow};
use crate::metrics::SolveCount;
use crate::randomness::generator;
use crate::rewards::{self, ProposalOutcome};

/// Which record a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleRef {
    /// Index into the proposal records.
    Proposal(usize),
    /// Index into the solver records.
    Solver(usize),
}

/// A rollout with what it is paid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredSample {
    /// The rollout.
    pub source: SampleRef,
    /// Its role.
    pub role: Role,
    /// Its kind of task.
    pub task_type: TaskType,
    /// The reward; under the control `random`, somebody else's.
    pub reward: Reward,
    /// The advantage.
    pub advantage: f64,
    /// The advantage times the weight of the role: what the learner multiplies −log p with. 0 for a frozen proposer.
    pub weight: f64,
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Every rollout that is paid: proposals first, each kind in the order of its records. Not among them are Dropped
    /// rollouts, and valid proposals that got no solve rate.
    pub samples: Vec<ScoredSample>,
    /// The solve count of each solver turn.
    pub solved: Vec<SolveCount>,
    /// The step in numbers.
    pub metrics: StepMetrics,
}

/// What became of a proposal record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Standing {
    /// It, or the original of which it is a copy, met a host fault.
    Dropped,
    /// Valid and new, and no rollout of the solver was judged on it.
    Unrated,
    /// It is paid for this.
    Paid(ProposalOutcome),
}

impl AbsoluteZero {
    /// Rewards and advantages of the step, and its metrics. Notes the solve rates in the buffers.
    pub fn score(
        &self,
        state: &mut GameState,
        seed: u64,
        step: u64,
        proposals: &[ProposalRecord],
        turns: &[SolverTurn],
        solutions: &[SolverRecord],
    ) -> Scored {
        let solved = solve_counts(turns, solutions);
        note_solve_counts(state, turns, &solved);
        let standings = standings(proposals, turns, &solved);
        let mut samples = self.proposer_samples(proposals, &standings);
        samples.extend(self.solver_samples(turns, solutions));
        if self.reward.shuffled() {
            shuffle_rewards(&mut samples, seed, step);
        }
        self.weigh(&mut samples, solutions, state.memory_mut());
        let metrics = step_metrics(proposals, &standings, turns, solutions, &solved, &samples);
        Scored { samples, solved, metrics }
    }

    fn proposer_samples(&self, proposals: &[ProposalRecord], standings: &[Standing]) -> Vec<ScoredSample> {
        let paid = |(index, standing): (usize, &Standing)| match standing {
            Standing::Paid(outcome) => {
                let well_formed = self.responses.is_well_formed(&proposals[index].rollout.text);
                let reward = self.reward.proposer(*outcome, well_formed);
                Some(sample(SampleRef::Proposal(index), Role::Proposer, proposals[index].task_type, reward))
            }
            Standing::Dropped | Standing::Unrated => None,
        };
        standings.iter().enumerate().filter_map(paid).collect()
    }

    fn solver_samples(&self, turns: &[SolverTurn], solutions: &[SolverRecord]) -> Vec<ScoredSample> {
        let paid = |(index, record): (usize, &SolverRecord)| {
            let verdict = record.judged.as_ref().ok()?;
            let task_type = turns[record.turn].task_type();
            let reward = self.reward.solver(verdict.status, self.responses.is_well_formed(&record.rollout.text));
            Some(sample(SampleRef::Solver(index), Role::Solver, task_type, reward))
        };
        solutions.iter().enumerate().filter_map(paid).collect()
    }

    /// Fills in advantages and weights.
    fn weigh(&self, samples: &mut [ScoredSample], solutions: &[SolverRecord], memory: &mut AdvantageMemory) {
        let rows: Vec<AdvantageRow> = samples.iter().map(|sample| row(sample, solutions)).collect();
        let proposer_weight = match self.config.proposer {
            ProposerMode::Train => self.config.proposer_weight,
            ProposerMode::Frozen => 0.0,
        };
        for (sample, advantage) in samples.iter_mut().zip(self.advantage.advantages(&rows, memory)) {
            let role_weight = if sample.role == Role::Proposer { proposer_weight } else { 1.0 };
            sample.advantage = advantage;
            sample.weight = advantage * role_weight;
        }
    }
}

fn sample(source: SampleRef, role: Role, task_type: TaskType, reward: Reward) -> ScoredSample {
    ScoredSample { source, role, task_type, reward, advantage: 0.0, weight: 0.0 }
}

/// All proposals of a type answered the same question, "invent a task", whatever references they saw: they are one group.
fn row(sample: &ScoredSample, solutions: &[SolverRecord]) -> AdvantageRow {
    let group = match sample.source {
        SampleRef::Proposal(_) => 0,
        SampleRef::Solver(index) => solutions[index].turn,
    };
    AdvantageRow { role: sample.role, task_type: sample.task_type, group, reward: sample.reward.total() }
}

fn solve_counts(turns: &[SolverTurn], solutions: &[SolverRecord]) -> Vec<SolveCount> {
    let mut counts = vec![SolveCount::default(); turns.len()];
    for record in solutions {
        if let Ok(verdict) = &record.judged {
            counts[record.turn].add(verdict.status == Status::Accepted);
        }
    }
    counts
}

fn note_solve_counts(state: &mut GameState, turns: &[SolverTurn], counts: &[SolveCount]) {
    for (turn, count) in turns.iter().zip(counts).filter(|(_, count)| count.judged > 0) {
        state.buffer_mut(turn.task_type()).note(&turn.task.id(), *count);
    }
}

fn standings(proposals: &[ProposalRecord], turns: &[SolverTurn], solved: &[SolveCount]) -> Vec<Standing> {
    let mut rates: HashMap<usize, f64> = HashMap::new();
    for (turn, count) in turns.iter().zip(solved) {
        if let (Origin::Fresh { proposal }, Some(rate)) = (turn.origin, count.rate()) {
            rates.insert(proposal, rate);
        }
    }
    let originals = originals(proposals);
    let standing = |(index, record): (usize, &ProposalRecord)| match originals[index] {
        Some(original) if record.known => copied(own_standing(&proposals[original], None)),
        _ => own_standing(record, rates.get(&index).copied()),
    };
    proposals.iter().enumerate().map(standing).collect()
}

/// For each record the first of the batch that makes the same proposal, if that is another one.
fn originals(proposals: &[ProposalRecord]) -> Vec<Option<usize>> {
    let mut first: HashMap<Digest, usize> = HashMap::new();
    let mut original = |(index, record): (usize, &ProposalRecord)| match &record.attempt {
        Attempt::Proposal(proposal) => {
            Some(*first.entry(proposal_digest(proposal)).or_insert(index)).filter(|original| *original != index)
        }
        _ => None,
    };
    proposals.iter().enumerate().map(&mut original).collect()
}

/// What a copy is, given what its original is: a copy of a refused proposal is refused too, or repeating a bad proposal
/// would pay better than making it once.
fn copied(original: Standing) -> Standing {
    match original {
        Standing::Dropped => Standing::Dropped,
        Standing::Unrated | Standing::Paid(ProposalOutcome::Solved { .. }) => {
            Standing::Paid(ProposalOutcome::Duplicate)
        }
        Standing::Paid(outcome) => Standing::Paid(outcome),
    }
}

fn own_standing(record: &ProposalRecord, rate: Option<f64>) -> Standing {
    let Ok(judged) = &record.judged else { return Standing::Dropped };
    let malformed = matches!(record.attempt, Attempt::Malformed { .. }) || judged.verdict.status == Status::Malformed;
    match rate {
        _ if malformed => Standing::Paid(ProposalOutcome::Malformed),
        _ if record.known => Standing::Paid(ProposalOutcome::Duplicate),
        _ if accepted_task(record).is_none() => Standing::Paid(ProposalOutcome::Invalid),
        Some(rate) => Standing::Paid(ProposalOutcome::Solved { rate }),
        None => Standing::Unrated,
    }
}

/// Gives the rewards of each (role, task type) batch to its members anew.
fn shuffle_rewards(samples: &mut [ScoredSample], seed: u64, step: u64) {
    let mut generator = generator(seed, step, "shuffled rewards");
    for role in [Role::Proposer, Role::Solver] {
        for task_type in TaskType::ALL {
            let of_batch = |sample: &&mut ScoredSample| (sample.role, sample.task_type) == (role, task_type);
            let batch = samples.iter_mut().filter(of_batch).map(|sample| &mut sample.reward);
            rewards::shuffle(batch.collect(), &mut generator);
        }
    }
}
