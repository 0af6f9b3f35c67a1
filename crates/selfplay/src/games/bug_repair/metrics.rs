//! A step in numbers: what each filter let through, what solvers did and got.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Role, Status};
use veriplay_verifier::bugs::tool_env::CallEnd;

use super::BugRepair;
use super::episode::{Episode, SUBMITTED};
use super::mutation::Derivation;
use super::task::Maker;
use crate::admission::Admission;
use crate::environment::{Judged, StepFacts};
use crate::metrics::{learnable_share, mean_rate};
use crate::multi_turn::End;
use crate::rollout::{self, Finished};
use crate::statistics::mean;

/// What came of the bugs of one maker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yield {
    /// Tried.
    pub tried: usize,
    /// Lost to a host fault.
    pub dropped: usize,
    /// Valid and new.
    pub valid: usize,
    /// Valid and known.
    pub duplicates: usize,
    /// Refused, by the rule or check that refused them first.
    pub refused: BTreeMap<String, usize>,
}

/// Calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolUse {
    /// All of them.
    pub calls: usize,
    /// Those that could not be done.
    pub refused: usize,
    /// Those that used up a limit.
    pub stopped: usize,
}

/// Episodes of one role. Means are over episodes; `None` of none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeMetrics {
    /// Sampled.
    pub episodes: usize,
    /// Lost to a host fault.
    pub dropped: usize,
    /// The others, by how they ended.
    pub ends: BTreeMap<String, usize>,
    /// Mean number of turns.
    pub turns_mean: Option<f64>,
    /// Mean number of generated tokens.
    pub tokens_mean: Option<f64>,
    /// Mean fuel of the tools.
    pub fuel_mean: Option<f64>,
    /// Turns in which no tool was called, though the episode went on: nothing could be read, or no runs were left.
    pub idle_turns: usize,
    /// Calls, by tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// Mean total reward of those that got a reward.
    pub reward_mean: Option<f64>,
}

/// A step in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMetrics {
    /// The model's bugs, by mode.
    pub injections: BTreeMap<String, Yield>,
    /// Mutants, by operator.
    pub mutants: BTreeMap<String, Yield>,
    /// Failed repairs tried as bugs.
    pub higher_order: Yield,
    /// Episodes of injectors.
    pub injector: EpisodeMetrics,
    /// Episodes of solvers.
    pub solver: EpisodeMetrics,
    /// Bugs that solvers were asked to repair, by who made them.
    pub tasks: BTreeMap<Maker, usize>,
    /// Bugs that could not be asked for.
    pub unaskable: usize,
    /// Bugs that could not be handed out for a host fault.
    pub undelivered: usize,
    /// Verdicts on repairs, by status.
    pub statuses: BTreeMap<Status, usize>,
    /// Mean solve rate over tasks.
    pub solve_rate: Option<f64>,
    /// The share of tasks with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Proposed bugs in the pool after the step.
    pub bugs: usize,
}

impl Yield {
    fn add(&mut self, judged: &Judged<BugRepair>) {
        self.tried += 1;
        match (Admission::from_judgement(judged), &judged.verdict) {
            (Admission::Admitted(_), _) => self.valid += 1,
            (Admission::Duplicate, _) => self.duplicates += 1,
            (_, Ok(verdict)) => *self.refused.entry(verdict.evidence.rule.clone()).or_default() += 1,
            (_, Err(_)) => self.dropped += 1,
        }
    }
}

pub(super) fn step_metrics(step: &StepFacts<'_, BugRepair>) -> StepMetrics {
    let mut metrics = StepMetrics::default();
    for one in step.proposals {
        metrics.injections.entry(one.request.mode.name().to_owned()).or_default().add(&one.judged);
    }
    for one in step.derived {
        match &one.derivation {
            Derivation::Mutant { injector, .. } => {
                metrics.mutants.entry(injector.clone()).or_default().add(&one.judged);
            }
            Derivation::FailedRepair { .. } => metrics.higher_order.add(&one.judged),
        }
    }
    for asked in step.tasks {
        *metrics.tasks.entry(asked.task.maker(asked.source)).or_default() += 1;
    }
    let (injections, repairs) =
        (step.proposals.iter().map(|one| &one.finished), step.solutions.iter().map(|one| &one.finished));
    let solved = step.solved_where(|_| true);
    StepMetrics {
        injector: EpisodeMetrics { reward_mean: step.reward_mean(Role::Proposer), ..episodes(injections) },
        solver: EpisodeMetrics { reward_mean: step.reward_mean(Role::Solver), ..episodes(repairs) },
        unaskable: step.unaskable,
        undelivered: step.undelivered,
        statuses: step.statuses(),
        solve_rate: mean_rate(&solved),
        learnable_share: learnable_share(&solved),
        bugs: step.pool.entries().iter().filter(|entry| !entry.seed).count(),
        ..metrics
    }
}

fn episodes<'a>(all: impl Iterator<Item = &'a Finished<Episode>>) -> EpisodeMetrics {
    let all: Vec<&Finished<Episode>> = all.collect();
    let mean_of = |number: fn(&Finished<Episode>) -> f64| mean(&all.iter().map(|one| number(one)).collect::<Vec<_>>());
    let mut metrics = EpisodeMetrics {
        episodes: all.len(),
        dropped: all.iter().filter(|one| one.dropped.is_some()).count(),
        turns_mean: mean_of(|one| one.turns.len() as f64),
        tokens_mean: mean_of(|one| one.tokens() as f64),
        fuel_mean: mean_of(|one| rollout::Episode::fuel(&one.episode) as f64),
        ..EpisodeMetrics::default()
    };
    for one in all.iter().filter(|one| one.dropped.is_none()) {
        let end = one.episode.end().map_or("", End::name);
        *metrics.ends.entry(end.to_owned()).or_default() += 1;
        metrics.count_tools(&one.episode);
    }
    metrics
}

impl EpisodeMetrics {
    fn count_tools(&mut self, episode: &Episode) {
        let calls = episode.workspace().calls();
        let submitted = usize::from(episode.end() == Some(SUBMITTED));
        self.idle_turns += episode.turns().len() - calls.len() - submitted;
        for (tool, end) in calls {
            let tool = self.tools.entry((*tool).to_owned()).or_default();
            tool.calls += 1;
            tool.refused += usize::from(*end == CallEnd::Refused);
            tool.stopped += usize::from(matches!(end, CallEnd::Stopped(_)));
        }
    }
}
