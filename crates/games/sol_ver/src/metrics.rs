//! An iteration in numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use veriplay_core::{Role, Status, Verdict};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::metrics::{FilterCount, FilterYield};
use veriplay_selfplay::preferences::{Preferences, Response};
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::scoring::ScoredEpisode;
use veriplay_selfplay::splits::HELD_OUT;
use veriplay_selfplay::statistics::{mean_over, share};
use veriplay_verifier::agreement::{GUARDS, GuardCheck, SuiteQuality};

use super::SolVer;
use super::preferences::{JudgedProblem, judged_problems};
use super::rounds::AgreementRound;

/// An iteration in numbers. Rates are in [0, 1]; `None` where nothing was counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolVerMetrics {
    /// Of each role: the share of responses from which what was asked for could be read, whatever it is worth.
    pub well_formed_share: BTreeMap<Role, Option<f64>>,
    /// Problems proposed.
    pub problems: usize,
    /// Those that solvers attempted.
    pub asked: usize,
    /// Those of them that a host fault dropped.
    pub dropped: usize,
    /// Those with trusted codes.
    pub decided: usize,
    /// Those that something is learned from.
    pub learned: usize,
    /// Every filter, in order.
    pub filters: Vec<FilterYield>,
    /// Of the codes of decided rounds: the share that is trusted.
    pub code_pass_rate: Option<f64>,
    /// Of the suites of decided rounds: the share that the trusted code passes.
    pub test_accuracy: Option<f64>,
    /// Of the codes that do not agree, over all suites that the trusted code passes: the share they accept.
    pub false_positive_rate: Option<f64>,
    /// Of the mutants, over the same suites: the share they kill.
    pub mutation_score: Option<f64>,
    /// Mean number of clusters of a round.
    pub clusters: Option<f64>,
    /// Mean size of the best cluster of a round.
    pub best_cluster: Option<f64>,
    /// Codes that are imitated.
    pub sft_codes: usize,
    /// Suites that are imitated.
    pub sft_suites: usize,
    /// Pairs of codes.
    pub code_pairs: usize,
    /// Pairs of suites.
    pub test_pairs: usize,
}

pub(super) fn step_metrics(game: &SolVer, facts: &StepFacts<SolVer>) -> SolVerMetrics {
    let judged = judged_problems(facts);
    let decided: Vec<&JudgedProblem<'_>> = judged.iter().filter(|one| one.round.refused.is_none()).collect();
    let codes = || decided.iter().flat_map(|one| one.code_verdicts());
    let qualities: Vec<SuiteQuality> =
        decided.iter().flat_map(|one| one.suite_verdicts()).map(|(_, quality)| quality).collect();
    let quality = SuiteNumbers::from_suites(&qualities);
    let Preferences { examples, pairs } = &facts.preferences;
    let count = |part: Part| examples.iter().filter(|one| one.response.part == part).count();
    let pairs = |part: Part| pairs.iter().filter(|pair| pair.chosen.part == part).count();
    let sizes = |of: fn(&AgreementRound) -> usize| mean_over(&judged, |one| of(one.round) as f64);
    SolVerMetrics {
        well_formed_share: well_formed_shares(game, facts),
        problems: facts.proposals.len(),
        asked: facts.tasks.iter().filter(|asked| asked.proposal.is_some()).count(),
        dropped: facts.rounds.iter().filter(|round| round.is_none()).count(),
        decided: decided.len(),
        learned: count_learned(facts),
        filters: filters(facts, &judged),
        code_pass_rate: share(codes().filter(|code| code.status == Status::Accepted).count(), codes().count()),
        test_accuracy: share(quality.accepted, qualities.len()),
        false_positive_rate: quality.false_positive_rate,
        mutation_score: quality.mutation_score,
        clusters: sizes(|round| round.clusters.len()),
        best_cluster: sizes(|round| round.clusters.first().map_or(0, |(codes, _)| *codes)),
        sft_codes: count(Part::Solution),
        sft_suites: count(Part::Verification),
        code_pairs: pairs(Part::Solution),
        test_pairs: pairs(Part::Verification),
    }
}

fn well_formed_shares(game: &SolVer, facts: &StepFacts<SolVer>) -> BTreeMap<Role, Option<f64>> {
    let problems = facts.proposals.iter().filter(|one| game.read_statement(&one.finished).is_ok());
    let codes = facts.solutions.iter().filter(|one| game.read_program(&one.finished).is_ok());
    let suites = facts.verifications.iter().filter(|one| game.read_suite(&one.finished).is_ok());
    BTreeMap::from([
        (Role::PROPOSER, share(problems.count(), facts.proposals.len())),
        (Role::SOLVER, share(codes.count(), facts.solutions.len())),
        (Role::VERIFIER, share(suites.count(), facts.verifications.len())),
    ])
}

/// What suites are worth together.
pub(super) struct SuiteNumbers {
    /// Those that the trusted code passes.
    accepted: usize,
    /// Over these suites and the wrong codes of their problem: the share that is accepted. `None` where there is no such pair.
    pub(super) false_positive_rate: Option<f64>,
    /// Over the same suites and the mutants of the trusted code: the share that is killed.
    pub(super) mutation_score: Option<f64>,
}

impl SuiteNumbers {
    pub(super) fn from_suites(suites: &[SuiteQuality]) -> Self {
        let accepted: Vec<&SuiteQuality> = suites.iter().filter(|one| one.is_accepted()).collect();
        let sum = |part: fn(&SuiteQuality) -> u32| accepted.iter().map(|one| part(one) as usize).sum::<usize>();
        let wrong = sum(|one| one.wrong);
        Self {
            accepted: accepted.len(),
            false_positive_rate: share(wrong - sum(|one| one.rejected), wrong),
            mutation_score: share(sum(|one| one.mutants_killed), sum(|one| one.mutants)),
        }
    }
}

/// The problems that something is learned from, by their responses.
fn count_learned(facts: &StepFacts<SolVer>) -> usize {
    let Preferences { examples, pairs } = &facts.preferences;
    let responses = examples.iter().map(|one| one.response).chain(pairs.iter().map(|pair| pair.chosen));
    let rewarded = facts.scored.iter().filter(|one| one.weight != 0.0);
    let responses = responses.chain(rewarded.map(ScoredEpisode::response));
    let problem = |response: Response| match response.part {
        Part::Proposal => facts.tasks.iter().position(|asked| asked.proposal == Some(response.index)),
        Part::Deferred => None,
        Part::Solution => Some(facts.solutions[response.index].finished.source),
        Part::Verification => Some(facts.verifications[response.index].task),
    };
    responses.filter_map(problem).collect::<BTreeSet<usize>>().len()
}

/// All filters in order: what one refuses, later ones do not see. Their names are those of guards, and
/// `malformed_problem`, `malformed_code`, `malformed_suite`, `no_cluster`, `held_out` for statements, `held_out_code` for trusted codes.
fn filters(facts: &StepFacts<SolVer>, judged: &[JudgedProblem<'_>]) -> Vec<FilterYield> {
    let verdicts = facts.proposals.iter().filter_map(|one| one.judged.verdict.as_ref().ok());
    let problems: Vec<&str> = verdicts
        .filter(|verdict| verdict.status != Status::Valid)
        .map(|verdict| rule_of(verdict, "malformed_problem"))
        .collect();
    let rounds = judged.iter().filter_map(|one| one.round.refused.as_ref()).map(|refusal| refusal.rule.as_str());
    let rounds: Vec<&str> = rounds.map(|rule| if rule == HELD_OUT { "held_out_code" } else { rule }).collect();
    let decided: Vec<&JudgedProblem<'_>> = judged.iter().filter(|one| one.round.refused.is_none()).collect();
    let judged: Vec<&JudgedProblem<'_>> = judged.iter().collect();
    let (codes, suites) = (code_rules(&judged), suite_rules(&judged));
    let trusted = |code: &&Verdict| code.status == Status::Accepted || code.evidence.rule == "special_case";
    let trusted = decided.iter().flat_map(|one| one.code_verdicts()).filter(trusted).count();
    let voting = decided.iter().flat_map(|one| one.suite_verdicts()).filter(|(_, quality)| quality.tests > 0).count();
    let round_refusals = rounds.iter().filter(|rule| **rule != "held_out_code").count();
    let stages = [
        stage(
            &["malformed_problem", HELD_OUT],
            |check| matches!(check, GuardCheck::Statement(_)),
            facts.proposals.len(),
            &problems,
        ),
        stage(&["malformed_code"], |check| matches!(check, GuardCheck::Code(_)), codes.len(), &codes),
        stage(&["malformed_suite"], |check| matches!(check, GuardCheck::Suite(_)), suites.len(), &suites),
        stage(&["no_cluster"], |check| matches!(check, GuardCheck::Round(_)), judged.len(), &rounds),
        stage(&["held_out_code"], |_| false, judged.len() - round_refusals, &rounds),
        stage(&[], |check| matches!(check, GuardCheck::TrustedCode(_)), trusted, &code_rules(&decided)),
        stage(&[], |check| matches!(check, GuardCheck::TrustedSuite(_)), voting, &suite_rules(&decided)),
    ];
    stages.concat()
}

/// The rule of each code, one for those that could not be read, and nothing for those that none refused.
fn code_rules<'a>(judged: &[&JudgedProblem<'a>]) -> Vec<&'a str> {
    judged.iter().flat_map(|one| one.code_verdicts()).map(|code| rule_of(code, "malformed_code")).collect()
}

/// As [`code_rules`], of suites.
fn suite_rules<'a>(judged: &[&JudgedProblem<'a>]) -> Vec<&'a str> {
    judged.iter().flat_map(|one| one.suite_verdicts()).map(|(suite, _)| rule_of(suite, "malformed_suite")).collect()
}

fn rule_of<'a>(verdict: &'a Verdict, malformed: &'static str) -> &'a str {
    if verdict.status == Status::Malformed { malformed } else { &verdict.evidence.rule }
}

/// Asks `first`, and then the guards of one kind: `rules` are those of all `things`.
fn stage(first: &[&str], kind: fn(&GuardCheck) -> bool, things: usize, rules: &[&str]) -> Vec<FilterYield> {
    let guards = GUARDS.iter().filter(|guard| kind(&guard.check)).map(|guard| guard.name);
    let mut seen = things;
    let yields = first.iter().copied().chain(guards).map(|name| {
        let refused = rules.iter().filter(|rule| **rule == name).count();
        seen -= refused;
        FilterYield { name: name.to_owned(), seen: seen + refused, count: FilterCount::Refused(refused) }
    });
    yields.collect()
}
