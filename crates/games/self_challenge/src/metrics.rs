//! A step in numbers: what each filter let through, what executors did and got.

use std::collections::BTreeMap;

use serde::Serialize;
use veriplay_core::{Role, Status};
use veriplay_selfplay::episode_metrics::EpisodeMetrics;
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::metrics::{FilterCount, FilterYield, learnable_share, mean_rate};
use veriplay_selfplay::play::Measurement;
use veriplay_selfplay::rollout::FinishedEpisode;
use veriplay_selfplay::splits::HELD_OUT;
use veriplay_selfplay::statistics::{mean_over, share};
use veriplay_selfplay::task_pool::Source;
use veriplay_verifier::environments::rules;

use super::SelfChallenge;
use super::environment::UNREADABLE;
use super::episode::ToolEpisode;

/// The filters in order, each with the rules of the gate that it stands for. `executable`, `solution` and `failures` are the rows of the
/// paper's table (47.7 %, 9.5 % and 5.2 % of proposals for a model of 8 billion parameters): the verification function runs, it accepts
/// the solution, it accepts no failure case. `all` is what the gate checks beyond.
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

/// A step in numbers. Rates are in [0, 1].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelfChallengeMetrics {
    pub challenger: EpisodeMetrics,
    /// What each filter let through, in order.
    pub filters: Vec<FilterYield>,
    /// Proposals that each rule refuses; one may be refused by several, as far as it was run.
    pub refused: BTreeMap<String, usize>,
    /// The share of proposals that is valid and new.
    pub valid_share: Option<f64>,
    pub executor: EpisodeMetrics,
    pub tasks: BTreeMap<Source, usize>,
    pub statuses: BTreeMap<Status, usize>,
    pub solve_rate: Option<f64>,
    /// The same over this step's new ones.
    pub fresh_solve_rate: Option<f64>,
    /// The share of tasks with 0 < s < 1.
    pub learnable_share: Option<f64>,
    /// Proposed tasks in the pool after the step.
    pub buffer: usize,
}

pub(super) fn step_metrics(step: &StepFacts<SelfChallenge>) -> SelfChallengeMetrics {
    let verdicts = step.proposals.iter().filter(|one| one.judged.verdict.is_ok());
    let judged: Vec<&[String]> = verdicts.map(|one| one.judged.detail.as_slice()).collect();
    let mut refused = BTreeMap::new();
    for rule in judged.iter().copied().flatten() {
        *refused.entry(rule.clone()).or_default() += 1;
    }
    let challenges = step.proposals.iter().map(|one| (&one.finished, one.judged.verdict.is_err()));
    let executions = step.solutions.iter().map(|one| (&one.finished, one.judged.verdict.is_err()));
    let all = step.solved_where(|_| true);
    SelfChallengeMetrics {
        challenger: episode_metrics(challenges, step.reward_mean(Role::PROPOSER)),
        filters: filters(&judged),
        refused,
        valid_share: share(judged.iter().filter(|rules| rules.is_empty()).count(), judged.len()),
        executor: episode_metrics(executions, step.reward_mean(Role::SOLVER)),
        tasks: step.sources(),
        statuses: step.statuses(),
        solve_rate: mean_rate(&all),
        fresh_solve_rate: mean_rate(&step.solved_where(|asked| asked.source == Source::Fresh)),
        learnable_share: learnable_share(&all),
        buffer: step.pool_proposals,
    }
}

/// `judged` has the rules that refuse each proposal.
fn filters(judged: &[&[String]]) -> Vec<FilterYield> {
    let mut left: Vec<&[String]> = judged.to_vec();
    let yields = FILTERS.iter().map(|(name, stands_for)| {
        let seen = left.len();
        left.retain(|rules| !rules.iter().any(|rule| stands_for.contains(&rule.as_str())));
        FilterYield { name: (*name).to_owned(), seen, count: FilterCount::Passed(left.len()) }
    });
    yields.collect()
}

/// The numbers of episodes, each with whether the host failed on it.
fn episode_metrics<'a>(
    all: impl Iterator<Item = (&'a FinishedEpisode<ToolEpisode>, bool)>,
    reward_mean: Option<f64>,
) -> EpisodeMetrics {
    let (dropped, kept): (Vec<_>, Vec<_>) = all.partition(|(_, dropped)| *dropped);
    let kept: Vec<&FinishedEpisode<ToolEpisode>> = kept.into_iter().map(|(one, _)| one).collect();
    let calls_mean = mean_over(&kept, |one| one.episode.workspace().calls().len() as f64);
    let metrics = EpisodeMetrics::new(&kept, dropped.len(), reward_mean);
    EpisodeMetrics { calls_mean: Some(Measurement::Number(calls_mean)), ..metrics }
}
