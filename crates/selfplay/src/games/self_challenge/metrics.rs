//! A step in numbers: what each filter let through, what executors did and got.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Role, Status};
use veriplay_verifier::environments::rules;

use super::SelfChallenge;
use super::episode::Episode;
use super::judge::UNREADABLE;
use crate::environment::StepFacts;
use crate::metrics::{learnable_share, mean_rate};
use crate::multi_turn::End;
use crate::rollout::Finished;
use crate::splits::HELD_OUT;
use crate::statistics::{mean, share};
use crate::task_pool::Source;

/// What one filter let through, of what the ones before it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterYield {
    /// `readable`, `disjoint`, `new`, `executable`, `solution`, `failures`, `all`: see [`FILTERS`].
    pub name: String,
    /// What it was asked of.
    pub seen: usize,
    /// What it let through.
    pub passed: usize,
}

/// The filters in order, each with the rules of the gate that it stands for. `executable`, `solution` and `failures` are the rows of the
/// paper's table (47.7 %, 9.5 % and 5.2 % of proposals for a model of 8 billion parameters): the verification function runs, it accepts
/// the solution, it accepts no failure case. `all` is what the gate asks beyond.
pub const FILTERS: &[(&str, &[&str])] = &[
    ("readable", &[UNREADABLE]),
    ("disjoint", &[HELD_OUT]),
    ("new", &[rules::DUPLICATE]),
    ("executable", &[rules::LENGTH, rules::VERIFIER_RUNS, rules::VERIFIER_NONDETERMINISTIC]),
    ("solution", &[rules::SOLUTION_RUNS, rules::SOLUTION_REFUSED]),
    ("failures", &[rules::FAILURE_COUNT, rules::FAILURE_RUNS, rules::FAILURE_ACCEPTED]),
    (
        "all",
        &[
            rules::LEAK,
            rules::REPEATED_CASE,
            rules::DISTANT_CASE,
            rules::CASE_NONDETERMINISTIC,
            rules::TOO_FEW_CALLS,
            rules::NOTHING_ACCEPTED,
            rules::SAME_OUTCOME,
        ],
    ),
];

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
    /// Mean number of calls of tools.
    pub calls_mean: Option<f64>,
    /// Mean number of generated tokens.
    pub tokens_mean: Option<f64>,
    /// Mean total reward of those that got a reward.
    pub reward_mean: Option<f64>,
}

/// A step in numbers. Rates are in [0, 1].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMetrics {
    /// Episodes of challengers.
    pub challenger: EpisodeMetrics,
    /// What each filter let through, in order.
    pub filters: Vec<FilterYield>,
    /// Proposals that each rule refuses; one may be refused by several, as far as it was run.
    pub refused: BTreeMap<String, usize>,
    /// The share of proposals that is valid and new.
    pub valid_share: Option<f64>,
    /// Episodes of executors.
    pub executor: EpisodeMetrics,
    /// Tasks that executors were asked, by where they come from.
    pub tasks: BTreeMap<Source, usize>,
    /// Verdicts on attempts, by status.
    pub statuses: BTreeMap<Status, usize>,
    /// Mean solve rate over tasks.
    pub solve_rate: Option<f64>,
    /// The same over this step's new ones.
    pub fresh_solve_rate: Option<f64>,
    /// The share of tasks with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Proposed tasks in the pool after the step.
    pub buffer: usize,
}

pub(super) fn step_metrics(step: &StepFacts<'_, SelfChallenge>) -> StepMetrics {
    let verdicts = step.proposals.iter().filter(|one| one.judged.verdict.is_ok());
    let judged: Vec<&[String]> = verdicts.map(|one| one.judged.detail.as_slice()).collect();
    let mut refused = BTreeMap::new();
    for rule in judged.iter().copied().flatten() {
        *refused.entry(rule.clone()).or_default() += 1;
    }
    let challenges = step.proposals.iter().map(|one| (&one.finished, one.judged.verdict.is_err()));
    let executions = step.solutions.iter().map(|one| (&one.finished, one.judged.verdict.is_err()));
    let all = step.solved_where(|_| true);
    StepMetrics {
        challenger: EpisodeMetrics { reward_mean: step.reward_mean(Role::Proposer), ..episodes(challenges) },
        filters: filters(&judged),
        refused,
        valid_share: share(judged.iter().filter(|rules| rules.is_empty()).count(), judged.len()),
        executor: EpisodeMetrics { reward_mean: step.reward_mean(Role::Solver), ..episodes(executions) },
        tasks: step.sources(),
        statuses: step.statuses(),
        solve_rate: mean_rate(&all),
        fresh_solve_rate: mean_rate(&step.solved_where(|asked| asked.source == Source::Fresh)),
        learnable_share: learnable_share(&all),
        buffer: step.pool.entries().iter().filter(|entry| !entry.seed).count(),
    }
}

/// `judged` has the rules that refuse each proposal.
fn filters(judged: &[&[String]]) -> Vec<FilterYield> {
    let mut left: Vec<&[String]> = judged.to_vec();
    let yields = FILTERS.iter().map(|(name, stands_for)| {
        let seen = left.len();
        left.retain(|rules| !rules.iter().any(|rule| stands_for.contains(&rule.as_str())));
        FilterYield { name: (*name).to_owned(), seen, passed: left.len() }
    });
    yields.collect()
}

/// The numbers of episodes, each with whether the host failed on it.
fn episodes<'a>(all: impl Iterator<Item = (&'a Finished<Episode>, bool)>) -> EpisodeMetrics {
    let (mut metrics, mut numbers) = (EpisodeMetrics::default(), [Vec::new(), Vec::new(), Vec::new()]);
    for (finished, dropped) in all {
        metrics.episodes += 1;
        if dropped {
            metrics.dropped += 1;
            continue;
        }
        let end = finished.episode.end().map_or("unfinished", End::name);
        *metrics.ends.entry(end.to_owned()).or_default() += 1;
        let [turns, calls, tokens] = &mut numbers;
        turns.push(finished.turns.len() as f64);
        calls.push(finished.episode.workspace().calls().len() as f64);
        tokens.push(finished.tokens() as f64);
    }
    let [turns_mean, calls_mean, tokens_mean] = numbers.map(|numbers| mean(&numbers));
    EpisodeMetrics { turns_mean, calls_mean, tokens_mean, ..metrics }
}
