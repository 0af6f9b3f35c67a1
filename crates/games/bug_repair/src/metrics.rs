//! A step in numbers: what each filter let through, what solvers did and got.

use std::collections::BTreeMap;

use serde::Serialize;
use veriplay_core::{Role, Status};
use veriplay_selfplay::admission::Admission;
use veriplay_selfplay::environment::JudgedProposalOf;
use veriplay_selfplay::episode_metrics::{EpisodeMetrics, ToolMetrics};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::metrics::{learnable_share, mean_rate};
use veriplay_selfplay::rollout::{self, FinishedEpisode};
use veriplay_selfplay::statistics::mean_over;
use veriplay_verifier::bugs::tool_env::CallEnd;

use super::BugRepair;
use super::episode::{RepoEpisode, SUBMITTED};
use super::mutation::Derivation;
use super::task::BugOrigin;

/// What came of the bugs of one maker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BugYield {
    pub tried: usize,
    pub dropped: usize,
    pub valid: usize,
    pub duplicates: usize,
    /// Refused, by the rule or check that refused them first.
    pub refused: BTreeMap<String, usize>,
}

/// A step in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BugRepairMetrics {
    pub injections: BTreeMap<String, BugYield>,
    pub mutants: BTreeMap<String, BugYield>,
    pub higher_order: BugYield,
    pub injector: EpisodeMetrics,
    pub solver: EpisodeMetrics,
    /// Bugs that solvers attempted, by origin.
    pub tasks: BTreeMap<BugOrigin, usize>,
    pub without_prompt: usize,
    /// Bugs that a host fault kept from solvers.
    pub dropped_tasks: usize,
    pub statuses: BTreeMap<Status, usize>,
    pub solve_rate: Option<f64>,
    /// The share of tasks with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Proposed bugs in the pool after the step.
    pub bugs: usize,
}

impl BugYield {
    fn add(&mut self, judged: &JudgedProposalOf<BugRepair>) {
        self.tried += 1;
        match (Admission::from_judgement(judged), &judged.verdict) {
            (Admission::Admitted(_), _) => self.valid += 1,
            (Admission::Duplicate, _) => self.duplicates += 1,
            (_, Ok(verdict)) => *self.refused.entry(verdict.evidence.rule.clone()).or_default() += 1,
            (_, Err(_)) => self.dropped += 1,
        }
    }
}

pub(super) fn step_metrics(step: &StepFacts<BugRepair>) -> BugRepairMetrics {
    let mut metrics = BugRepairMetrics::default();
    for one in &step.proposals {
        metrics.injections.entry(one.request.mode.name().to_owned()).or_default().add(&one.judged);
    }
    for one in &step.derived {
        match &one.derivation {
            Derivation::Mutant { injector, .. } => {
                metrics.mutants.entry(injector.clone()).or_default().add(&one.judged);
            }
            Derivation::FailedRepair { .. } => metrics.higher_order.add(&one.judged),
        }
    }
    for asked in &step.tasks {
        *metrics.tasks.entry(asked.task.maker(asked.source)).or_default() += 1;
    }
    let (injections, repairs) =
        (step.proposals.iter().map(|one| &one.finished), step.solutions.iter().map(|one| &one.finished));
    let solved = step.solved_where(|_| true);
    BugRepairMetrics {
        injector: episode_metrics(injections, step.reward_mean(Role::PROPOSER)),
        solver: episode_metrics(repairs, step.reward_mean(Role::SOLVER)),
        without_prompt: step.without_prompt,
        dropped_tasks: step.dropped_tasks,
        statuses: step.statuses(),
        solve_rate: mean_rate(&solved),
        learnable_share: learnable_share(&solved),
        bugs: step.pool_proposals,
        ..metrics
    }
}

fn episode_metrics<'a>(
    all: impl Iterator<Item = &'a FinishedEpisode<RepoEpisode>>,
    reward_mean: Option<f64>,
) -> EpisodeMetrics {
    let (dropped, kept): (Vec<_>, Vec<_>) = all.partition(|one| one.dropped.is_some());
    let fuel_mean = mean_over(&kept, |one| rollout::Episode::fuel(&one.episode) as f64);
    let mut tool_use = ToolMetrics { fuel_mean, ..ToolMetrics::default() };
    for episode in kept.iter().map(|one| &one.episode) {
        let calls = episode.workspace().calls();
        let submitted = usize::from(episode.end() == Some(SUBMITTED));
        tool_use.idle_turns += episode.turns().len() - calls.len() - submitted;
        for (tool, end) in calls {
            let tool = tool_use.tools.entry((*tool).to_owned()).or_default();
            tool.calls += 1;
            tool.refused += usize::from(*end == CallEnd::Refused);
            tool.stopped += usize::from(matches!(end, CallEnd::Stopped(_)));
        }
    }
    EpisodeMetrics { tool_use: Some(tool_use), ..EpisodeMetrics::new(&kept, dropped.len(), reward_mean) }
}
