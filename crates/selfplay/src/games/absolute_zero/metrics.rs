//! A step in numbers. Called by `score`; the cli writes them to the events of the run.

use serde::{Deserialize, Serialize};
use veriplay_core::{Attempt, Role, Rollout, Status, TaskType};

use super::records::{Origin, ProposalRecord, SolverRecord, SolverTurn};
use super::score::{ScoredSample, Standing};
use crate::metrics::SolveCount;
use crate::rewards::ProposalOutcome;
use crate::statistics::{mean, share};

/// One role on one task type. Rates are in [0, 1]; `None` where nothing was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleMetrics {
    /// The role.
    pub role: Role,
    /// The kind of task.
    pub task_type: TaskType,
    /// Rollouts generated.
    pub rollouts: usize,
    /// Rollouts Dropped by a host fault.
    pub dropped: usize,
    /// Rollouts from which nothing could be extracted.
    pub malformed: usize,
    /// Proposals that were known already. 0 for the solver.
    pub duplicates: usize,
    /// Proposals that are valid and new. 0 for the solver.
    pub valid: usize,
    /// Valid, new proposals that got no solve rate and are not trained on. 0 for the solver.
    pub unrated: usize,
    /// `valid` out of the judged proposals. `None` for the solver.
    pub valid_rate: Option<f64>,
    /// Tasks with a solve rate: the fresh ones for the proposer, all for the solver.
    pub tasks: usize,
    /// Their mean solve rate.
    pub solve_rate: Option<f64>,
    /// The share of them with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Mean total reward of the paid rollouts.
    pub reward_mean: Option<f64>,
    /// Mean number of response tokens.
    pub response_tokens_mean: Option<f64>,
}

/// A step in numbers: proposer then solver, each in the order of [`TaskType::ALL`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMetrics {
    /// Six of them.
    pub roles: Vec<RoleMetrics>,
}

impl StepMetrics {
    /// The numbers of `role` on `task_type`.
    #[must_use]
    pub fn of(&self, role: Role, task_type: TaskType) -> Option<&RoleMetrics> {
        self.roles.iter().find(|metrics| metrics.role == role && metrics.task_type == task_type)
    }

    /// Rollouts Dropped, of all.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.roles.iter().map(|metrics| metrics.dropped).sum()
    }

    /// Valid, new proposals, and judged proposals. Their quotient is the valid-proposal rate; sum them over steps first.
    #[must_use]
    pub fn valid_proposals(&self) -> (usize, usize) {
        let proposer = || self.roles.iter().filter(|metrics| metrics.role == Role::Proposer);
        (
            proposer().map(|metrics| metrics.valid).sum(),
            proposer().map(|metrics| metrics.rollouts - metrics.dropped).sum(),
        )
    }

    /// Mean solve rate over all solver tasks.
    #[must_use]
    pub fn solve_rate(&self) -> Option<f64> {
        let solver = || self.roles.iter().filter(|metrics| metrics.role == Role::Solver);
        let tasks: usize = solver().map(|metrics| metrics.tasks).sum();
        let sum: f64 = solver().filter_map(|metrics| Some(metrics.solve_rate? * metrics.tasks as f64)).sum();
        (tasks > 0).then(|| sum / tasks as f64)
    }
}

pub(super) fn step_metrics(
    proposals: &[ProposalRecord],
    standings: &[Standing],
    turns: &[SolverTurn],
    solutions: &[SolverRecord],
    solved: &[SolveCount],
    samples: &[ScoredSample],
) -> StepMetrics {
    let proposer = |task_type| {
        let of_type = |(record, _): &(&ProposalRecord, &Standing)| record.task_type == task_type;
        let rows: Vec<_> = proposals.iter().zip(standings).filter(of_type).collect();
        let counts = counts_of(turns, solved, task_type, |turn| matches!(turn.origin, Origin::Fresh { .. }));
        finished(proposer_metrics(task_type, &rows), &counts, samples)
    };
    let solver = |task_type| {
        let of_type = |record: &&SolverRecord| turns[record.turn].task_type() == task_type;
        let rows: Vec<_> = solutions.iter().filter(of_type).collect();
        finished(solver_metrics(task_type, &rows), &counts_of(turns, solved, task_type, |_| true), samples)
    };
    StepMetrics { roles: TaskType::ALL.map(proposer).into_iter().chain(TaskType::ALL.map(solver)).collect() }
}

fn empty(role: Role, task_type: TaskType) -> RoleMetrics {
    RoleMetrics {
        role,
        task_type,
        rollouts: 0,
        dropped: 0,
        malformed: 0,
        duplicates: 0,
        valid: 0,
        unrated: 0,
        valid_rate: None,
        tasks: 0,
        solve_rate: None,
        learnable_share: None,
        reward_mean: None,
        response_tokens_mean: None,
    }
}

fn proposer_metrics(task_type: TaskType, rows: &[(&ProposalRecord, &Standing)]) -> RoleMetrics {
    let standing_count = |is: fn(&Standing) -> bool| rows.iter().filter(|(_, standing)| is(standing)).count();
    let dropped = standing_count(|standing| *standing == Standing::Dropped);
    let unrated = standing_count(|standing| *standing == Standing::Unrated);
    let rated = standing_count(|standing| matches!(standing, Standing::Paid(ProposalOutcome::Solved { .. })));
    RoleMetrics {
        rollouts: rows.len(),
        dropped,
        malformed: standing_count(|standing| *standing == Standing::Paid(ProposalOutcome::Malformed)),
        duplicates: standing_count(|standing| *standing == Standing::Paid(ProposalOutcome::Duplicate)),
        valid: rated + unrated,
        unrated,
        valid_rate: share(rated + unrated, rows.len() - dropped),
        response_tokens_mean: tokens_mean(rows.iter().map(|(record, _)| &record.rollout)),
        ..empty(Role::Proposer, task_type)
    }
}

fn solver_metrics(task_type: TaskType, rows: &[&SolverRecord]) -> RoleMetrics {
    RoleMetrics {
        rollouts: rows.len(),
        dropped: rows.iter().filter(|record| record.judged.is_err()).count(),
        malformed: rows.iter().filter(|record| is_malformed(record)).count(),
        response_tokens_mean: tokens_mean(rows.iter().map(|record| &record.rollout)),
        ..empty(Role::Solver, task_type)
    }
}

fn is_malformed(record: &SolverRecord) -> bool {
    let extracted_nothing = matches!(record.attempt, Attempt::Malformed { .. });
    record.judged.as_ref().is_ok_and(|verdict| extracted_nothing || verdict.status == Status::Malformed)
}

/// Adds what both roles have: solve rates and the mean reward.
fn finished(metrics: RoleMetrics, counts: &[SolveCount], samples: &[ScoredSample]) -> RoleMetrics {
    let rates: Vec<f64> = counts.iter().filter_map(|count| count.rate()).collect();
    let learnable = counts.iter().filter(|count| count.is_learnable()).count();
    let of_batch = |sample: &&ScoredSample| (sample.role, sample.task_type) == (metrics.role, metrics.task_type);
    let rewards: Vec<f64> = samples.iter().filter(of_batch).map(|sample| sample.reward.total()).collect();
    RoleMetrics {
        tasks: rates.len(),
        solve_rate: mean(&rates),
        learnable_share: share(learnable, rates.len()),
        reward_mean: mean(&rewards),
        ..metrics
    }
}

fn counts_of(
    turns: &[SolverTurn],
    solved: &[SolveCount],
    task_type: TaskType,
    wanted: impl Fn(&SolverTurn) -> bool,
) -> Vec<SolveCount> {
    let of_type = |(turn, _): &(&SolverTurn, &SolveCount)| turn.task_type() == task_type && wanted(turn);
    turns.iter().zip(solved).filter(of_type).map(|(_, count)| *count).collect()
}

fn tokens_mean<'a>(rollouts: impl Iterator<Item = &'a Rollout>) -> Option<f64> {
    mean(&rollouts.map(|rollout| rollout.tokens.len() as f64).collect::<Vec<_>>())
}
