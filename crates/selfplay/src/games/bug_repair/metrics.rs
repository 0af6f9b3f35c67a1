//! A step in numbers: what each filter let through, what solvers did and earned. Called at the end of a step.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Role, Status};
use veriplay_verifier::bugs::desk::CallEnd;

use super::drive::Done;
use super::making::{Candidate, Injection};
use super::records::{JudgedBug, Tried};
use super::solving::Repair;
use super::state::Source;
use super::tasks::Task;
use crate::episodes::{Paid, tokens};
use crate::metrics::SolveCount;
use crate::statistics::{mean, share};

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
    /// Played.
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
    /// Mean total reward of those that were paid.
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
    /// Bugs that solvers were asked to repair, by where they come from.
    pub tasks: BTreeMap<Source, usize>,
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
    /// Bugs in the buffer after the step.
    pub bugs: usize,
}

pub(super) fn yields<'a>(
    judged: impl Iterator<Item = (&'a str, &'a Result<JudgedBug, Dropped>)>,
) -> BTreeMap<String, Yield> {
    let mut yields: BTreeMap<String, Yield> = BTreeMap::new();
    for (name, judged) in judged {
        yields.entry(name.to_owned()).or_default().add(judged);
    }
    yields
}

impl Yield {
    fn add(&mut self, judged: &Result<JudgedBug, Dropped>) {
        self.tried += 1;
        match judged {
            Err(_) => self.dropped += 1,
            Ok(JudgedBug { bug: Some(_), known: true, .. }) => self.duplicates += 1,
            Ok(JudgedBug { bug: Some(_), .. }) => self.valid += 1,
            Ok(judged) => *self.refused.entry(judged.verdict.evidence.rule.clone()).or_default() += 1,
        }
    }
}

/// What a step's metrics are made of.
pub(super) struct Step<'a> {
    pub(super) injections: &'a [Injection],
    pub(super) candidates: &'a [Candidate],
    pub(super) tasks: &'a [Task],
    pub(super) unaskable: usize,
    pub(super) undelivered: usize,
    pub(super) repairs: &'a [Repair],
    pub(super) counts: &'a [SolveCount],
    pub(super) paid: &'a [Paid],
    pub(super) bugs: usize,
}

pub(super) fn step_metrics(step: &Step<'_>) -> StepMetrics {
    let injections = step.injections.iter().map(|injection| (injection.site.mode.name(), &injection.judged));
    let (mutants, higher): (Vec<&Candidate>, Vec<&Candidate>) =
        step.candidates.iter().partition(|candidate| matches!(candidate.tried, Tried::Mutant(_)));
    let mut higher_order = Yield::default();
    higher.iter().for_each(|candidate| higher_order.add(&candidate.judged));
    let mut statuses = BTreeMap::new();
    for verdict in step.repairs.iter().filter_map(|repair| repair.judged.as_ref().ok()) {
        *statuses.entry(verdict.status).or_default() += 1;
    }
    let mut tasks = BTreeMap::new();
    step.tasks.iter().for_each(|task| *tasks.entry(task.source).or_default() += 1);
    let rates: Vec<f64> = step.counts.iter().filter_map(|count| count.rate()).collect();
    let learnable = step.counts.iter().filter(|count| count.is_learnable()).count();
    StepMetrics {
        injections: yields(injections),
        mutants: yields(mutants.iter().map(|candidate| (candidate.injector.as_str(), &candidate.judged))),
        higher_order,
        injector: episodes(step, Role::Proposer, step.injections.iter().map(|injection| &injection.done)),
        solver: episodes(step, Role::Solver, step.repairs.iter().map(|repair| &repair.done)),
        tasks,
        unaskable: step.unaskable,
        undelivered: step.undelivered,
        statuses,
        solve_rate: mean(&rates),
        learnable_share: share(learnable, rates.len()),
        bugs: step.bugs,
    }
}

fn episodes<'a>(step: &Step<'_>, role: Role, done: impl Iterator<Item = &'a Done>) -> EpisodeMetrics {
    let done: Vec<&Done> = done.collect();
    let mean_of = |number: fn(&Done) -> f64| mean(&done.iter().map(|done| number(done)).collect::<Vec<_>>());
    let paid = step.paid.iter().filter(|paid| paid.role == role);
    let rewards: Vec<f64> = paid.map(|paid| paid.reward.total()).collect();
    let mut metrics = EpisodeMetrics {
        episodes: done.len(),
        dropped: done.iter().filter(|done| done.dropped.is_some()).count(),
        turns_mean: mean_of(|done| done.said.len() as f64),
        tokens_mean: mean_of(|done| tokens(&done.said) as f64),
        fuel_mean: mean_of(|done| done.episode.fuel() as f64),
        reward_mean: mean(&rewards),
        ..EpisodeMetrics::default()
    };
    for done in done.iter().filter(|done| done.dropped.is_none()) {
        let end = done.episode.end().map_or_else(String::new, |end| snake(&format!("{end:?}")));
        *metrics.ends.entry(end).or_default() += 1;
        metrics.count_tools(done);
    }
    metrics
}

impl EpisodeMetrics {
    fn count_tools(&mut self, done: &Done) {
        for turn in done.episode.turns() {
            let Some((tool, end)) = turn.called else {
                // The turn that submits is shown nothing.
                self.idle_turns += usize::from(!turn.shown.is_empty());
                continue;
            };
            let tool = self.tools.entry(tool.to_owned()).or_default();
            tool.calls += 1;
            tool.refused += usize::from(end == CallEnd::Refused);
            tool.stopped += usize::from(matches!(end, CallEnd::Stopped(_)));
        }
    }
}

/// `OutOfTurns` as `out_of_turns`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The solve count of each injection that was asked for.
pub(super) fn rates(tasks: &[Task], counts: &[SolveCount]) -> HashMap<usize, SolveCount> {
    tasks.iter().zip(counts).filter_map(|(task, count)| Some((task.injection?, *count))).collect()
}
