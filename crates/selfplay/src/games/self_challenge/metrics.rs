//! A step in numbers: what each filter let through, what executors did and earned. Called at the end of a step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Role, Status};
use veriplay_verifier::environments::rules;

use super::challenging::{Challenge, UNREADABLE};
use super::drive::Done;
use super::executing::Attempted;
use super::tasks::{Asked, Source};
use crate::episodes::{Paid, tokens};
use crate::metrics::SolveCount;
use crate::splits::HELD_OUT;
use crate::statistics::{mean, share};

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
    /// Played.
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
    /// Mean total reward of those that were paid.
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
    /// Tasks in the buffer after the step.
    pub buffer: usize,
}

/// What a step's metrics are made of.
pub(super) struct Step<'a> {
    pub(super) challenges: &'a [Challenge],
    pub(super) asked: &'a [Asked],
    pub(super) attempts: &'a [Attempted],
    pub(super) counts: &'a [SolveCount],
    pub(super) paid: &'a [Paid],
    pub(super) buffer: usize,
}

pub(super) fn step_metrics(step: &Step<'_>) -> StepMetrics {
    let judged: Vec<&[String]> =
        step.challenges.iter().filter_map(|one| Some(one.judged.as_ref().ok()?.rules.as_slice())).collect();
    let mut refused = BTreeMap::new();
    for rule in judged.iter().copied().flatten() {
        *refused.entry(rule.clone()).or_default() += 1;
    }
    let mut tasks = BTreeMap::new();
    for asked in step.asked {
        *tasks.entry(asked.source).or_default() += 1;
    }
    let mut statuses = BTreeMap::new();
    for verdict in step.attempts.iter().filter_map(|attempt| attempt.judged.as_ref().ok()) {
        *statuses.entry(verdict.status).or_default() += 1;
    }
    let rates = |fresh: bool| -> Vec<f64> {
        let counted = step.asked.iter().zip(step.counts).filter(|(asked, _)| !fresh || asked.source == Source::Fresh);
        counted.filter_map(|(_, count)| count.rate()).collect()
    };
    let learnable = step.counts.iter().filter(|count| count.is_learnable()).count();
    let challenges = step.challenges.iter().map(|one| (&one.done, one.judged.is_err()));
    let attempts = step.attempts.iter().map(|one| (&one.done, one.judged.is_err()));
    StepMetrics {
        challenger: episodes(challenges, step.paid, Role::Proposer),
        filters: filters(&judged),
        refused,
        valid_share: share(judged.iter().filter(|rules| rules.is_empty()).count(), judged.len()),
        executor: episodes(attempts, step.paid, Role::Solver),
        tasks,
        statuses,
        solve_rate: mean(&rates(false)),
        fresh_solve_rate: mean(&rates(true)),
        learnable_share: share(learnable, step.counts.len()),
        buffer: step.buffer,
    }
}

/// `judged` has the rules that refuse each proposal.
fn filters(judged: &[&[String]]) -> Vec<FilterYield> {
    let mut left: Vec<&[String]> = judged.to_vec();
    let told = FILTERS.iter().map(|(name, stands_for)| {
        let seen = left.len();
        left.retain(|rules| !rules.iter().any(|rule| stands_for.contains(&rule.as_str())));
        FilterYield { name: (*name).to_owned(), seen, passed: left.len() }
    });
    told.collect()
}

fn episodes<'a>(all: impl Iterator<Item = (&'a Done, bool)>, paid: &[Paid], role: Role) -> EpisodeMetrics {
    let (mut metrics, mut numbers) = (EpisodeMetrics::default(), [Vec::new(), Vec::new(), Vec::new()]);
    for (done, dropped) in all {
        metrics.episodes += 1;
        if dropped {
            metrics.dropped += 1;
            continue;
        }
        let end = done.episode.end().map_or("unfinished", super::episode::End::name);
        *metrics.ends.entry(end.to_owned()).or_default() += 1;
        let [turns, calls, written] = &mut numbers;
        turns.push(done.said.len() as f64);
        calls.push(done.episode.calls().len() as f64);
        written.push(tokens(&done.said) as f64);
    }
    let rewards: Vec<f64> = paid.iter().filter(|paid| paid.role == role).map(|paid| paid.reward.total()).collect();
    let [turns_mean, calls_mean, tokens_mean] = numbers.map(|numbers| mean(&numbers));
    EpisodeMetrics { turns_mean, calls_mean, tokens_mean, reward_mean: mean(&rewards), ..metrics }
}
