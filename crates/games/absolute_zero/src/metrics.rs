//! A step in numbers. The cli writes them to the events of the run.

use std::collections::BTreeSet;

use serde::Serialize;
use veriplay_core::{Attempt, FinishReason, Role, Status, TaskType};
use veriplay_selfplay::admission::Admission;
use veriplay_selfplay::environment::{Environment, ProposalEpisode, SolverEpisode};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::metrics::{SolveCount, learnable_share, mean_rate};
use veriplay_selfplay::rollout::FinishedEpisode;
use veriplay_selfplay::statistics::{mean_over, share};
use veriplay_selfplay::task_pool::{PoolTask, Source, StepTask};

use crate::TripletTask;

/// One role on one task type. Rates are in [0, 1]; `None` where nothing was counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The share of all rollouts that came to their end and have the frame that the prompt asks for, whatever is in it.
    pub well_formed_share: Option<f64>,
    /// What became of proposals. `None` for the solver, whose events have none of these keys.
    #[serde(flatten)]
    pub proposals: Option<ProposalCounts>,
    /// Tasks with a solve rate: the fresh ones for the proposer, all for the solver.
    pub tasks: usize,
    /// Their mean solve rate.
    pub solve_rate: Option<f64>,
    /// The share of them with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Mean total reward of the rewarded rollouts.
    pub reward_mean: Option<f64>,
    /// Mean number of response tokens.
    pub response_tokens_mean: Option<f64>,
}

/// What became of a proposer's rollouts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposalCounts {
    /// Those that were known already.
    pub duplicates: usize,
    /// Those that are valid and new.
    pub valid: usize,
    /// Valid, new ones that got no solve rate and are not trained on.
    pub unrated: usize,
    /// `valid` out of the judged ones. `None` where none was judged.
    pub valid_rate: Option<f64>,
}

/// A step in numbers: proposer then solver, each in the order of [`TaskType::ALL`]. Error tasks are there where the run has them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AbsoluteZeroMetrics {
    /// Six of them, or eight.
    pub roles: Vec<RoleMetrics>,
}

/// A game with Absolute Zero's tasks and attempts, whoever judges them.
pub trait Triplets: Environment<Task = TripletTask, ProposalDetail = Attempt, SolutionDetail = Attempt> {}

impl<E: Environment<Task = TripletTask, ProposalDetail = Attempt, SolutionDetail = Attempt>> Triplets for E {}

/// The numbers of a step of Absolute Zero, or of `game`, which has its tasks and attempts.
pub fn step_metrics<E: Triplets>(game: &E, step: &StepFacts<E>) -> AbsoluteZeroMetrics {
    let kinds = game.kinds();
    let is_reported = |one: &TaskType| TaskType::STANDARD.contains(one) || kinds.contains(&one.name());
    let types: Vec<TaskType> = TaskType::ALL.into_iter().filter(is_reported).collect();
    let proposers = types.iter().map(|task_type| proposer_metrics(game, step, *task_type));
    let solvers = types.iter().map(|task_type| solver_metrics(game, step, *task_type));
    AbsoluteZeroMetrics { roles: proposers.chain(solvers).collect() }
}

fn proposer_metrics<E: Triplets>(game: &E, step: &StepFacts<E>, task_type: TaskType) -> RoleMetrics {
    let of_type: Vec<(usize, &ProposalEpisode<E>)> =
        step.proposals.iter().enumerate().filter(|(_, one)| one.kind == task_type.name()).collect();
    let asked = step.tasks.iter().zip(&step.solved).filter(|(_, count)| count.judged > 0);
    let rated: BTreeSet<usize> = asked.filter_map(|(asked, _)| asked.proposal).collect();
    let (mut dropped, mut malformed, mut duplicates, mut valid, mut unrated) = (0, 0, 0, 0, 0);
    for (index, one) in &of_type {
        match one.admission {
            Admission::Dropped => dropped += 1,
            Admission::Malformed => malformed += 1,
            Admission::Invalid => {}
            Admission::Duplicate => duplicates += 1,
            Admission::Admitted(_) => {
                valid += 1;
                unrated += usize::from(!rated.contains(index));
            }
        }
    }
    let valid_rate = share(valid, of_type.len() - dropped);
    let responses: Vec<_> = of_type.iter().map(|(_, one)| &one.finished).collect();
    let is_proposed = |asked: &StepTask<TripletTask>| asked.source == Source::Fresh && asked.derivation.is_none();
    let fresh = step.solved_where(|asked| asked.task.kind() == task_type.name() && is_proposed(asked));
    RoleMetrics {
        dropped,
        malformed,
        proposals: Some(ProposalCounts { duplicates, valid, unrated, valid_rate }),
        ..role_metrics(game, step, Role::PROPOSER, task_type, &responses, &fresh)
    }
}

fn solver_metrics<E: Triplets>(game: &E, step: &StepFacts<E>, task_type: TaskType) -> RoleMetrics {
    let kind = |one: &&SolverEpisode<E>| step.tasks[one.finished.source].task.kind() == task_type.name();
    let of_type: Vec<&SolverEpisode<E>> = step.solutions.iter().filter(kind).collect();
    let responses: Vec<_> = of_type.iter().map(|one| &one.finished).collect();
    let solved = step.solved_where(|asked| asked.task.kind() == task_type.name());
    RoleMetrics {
        dropped: of_type.iter().filter(|one| one.judged.verdict.is_err()).count(),
        malformed: of_type.iter().filter(|one| is_malformed(one)).count(),
        ..role_metrics(game, step, Role::SOLVER, task_type, &responses, &solved)
    }
}

/// What is counted of both roles alike.
fn role_metrics<E: Triplets>(
    game: &E,
    step: &StepFacts<E>,
    role: Role,
    task_type: TaskType,
    responses: &[&FinishedEpisode<E::Episode>],
    counts: &[SolveCount],
) -> RoleMetrics {
    let of_batch = step.scored.iter().filter(|scored| (scored.role, scored.kind) == (role, task_type.name()));
    // As in every game, a response that was cut off has not the form that was asked for.
    let is_whole = |one: &FinishedEpisode<E::Episode>| one.last().is_some_and(|last| last.finish == FinishReason::Stop);
    let well_formed = responses.iter().filter(|one| is_whole(one) && game.is_well_formed(one));
    // Of rollouts whose tokens are known; each has its end token at least.
    let tokens = responses.iter().map(|one| one.tokens()).filter(|tokens| *tokens > 0);
    RoleMetrics {
        role,
        task_type,
        rollouts: responses.len(),
        dropped: 0,
        malformed: 0,
        well_formed_share: share(well_formed.count(), responses.len()),
        proposals: None,
        tasks: counts.iter().filter(|count| count.judged > 0).count(),
        solve_rate: mean_rate(counts),
        learnable_share: learnable_share(counts),
        reward_mean: mean_over(of_batch, |scored| scored.reward.total()),
        response_tokens_mean: mean_over(tokens, |tokens| tokens as f64),
    }
}

fn is_malformed<E: Triplets>(one: &SolverEpisode<E>) -> bool {
    let extracted_nothing = matches!(one.judged.detail, Attempt::Malformed { .. });
    one.judged.verdict.as_ref().is_ok_and(|verdict| extracted_nothing || verdict.status == Status::Malformed)
}
