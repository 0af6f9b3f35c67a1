//! An iteration in numbers.

use serde::{Deserialize, Serialize};
use veriplay_core::Status;
use veriplay_verifier::agreement::{Check, GUARDS, Judgement, Quality};

use super::records::SolVerRecord;
use super::select::{Chosen, Response};
use super::step::MALFORMED;
use crate::statistics::{mean, share};

/// What one filter let through. In the order in which they are asked: what one refuses, later ones do not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterYield {
    /// A guard's name, or what else nothing passes: `malformed_problem`, `malformed_code`, `malformed_suite`, `no_cluster`.
    pub name: String,
    /// What it was asked of.
    pub seen: usize,
    /// What it refused.
    pub refused: usize,
}

/// An iteration in numbers. Rates are in [0, 1]; `None` where nothing was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerMetrics {
    /// Problems proposed.
    pub problems: usize,
    /// Those that somebody was asked.
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

pub(super) fn metrics(records: &[SolVerRecord], chosen: &Chosen) -> SolVerMetrics {
    let judged: Vec<&Judgement> = records.iter().filter_map(SolVerRecord::judgement).collect();
    let decided: Vec<&Judgement> = judged.iter().copied().filter(|judgement| judgement.refused.is_none()).collect();
    let codes = || decided.iter().flat_map(|judgement| &judgement.codes);
    let suites = || decided.iter().flat_map(|judgement| &judgement.suites);
    let accepted: Vec<&Quality> =
        suites().map(|suite| &suite.quality).filter(|quality| quality.is_accepted()).collect();
    let sum = |part: fn(&Quality) -> u32| accepted.iter().map(|quality| part(quality) as usize).sum::<usize>();
    let wrong = sum(|quality| quality.wrong);
    let count = |kind: fn(&Response) -> bool| chosen.examples.iter().filter(|response| kind(response)).count();
    let pairs = |kind: fn(&Response) -> bool| chosen.pairs.iter().filter(|pair| kind(&pair.chosen)).count();
    let sizes = |of: fn(&Judgement) -> usize| mean(&judged.iter().map(|one| of(one) as f64).collect::<Vec<_>>());
    SolVerMetrics {
        problems: records.len(),
        asked: records.iter().filter(|record| record.refused.is_none()).count(),
        dropped: records.iter().filter(|record| matches!(record.judged, Some(Err(_)))).count(),
        decided: decided.len(),
        learned: learned(chosen),
        filters: filters(records, &judged),
        code_pass_rate: share(codes().filter(|code| code.status == Status::Accepted).count(), codes().count()),
        test_accuracy: share(accepted.len(), suites().count()),
        false_positive_rate: share(wrong - sum(|quality| quality.rejected), wrong),
        mutation_score: share(sum(|quality| quality.mutants_killed), sum(|quality| quality.mutants)),
        clusters: sizes(|judgement| judgement.clusters.len()),
        best_cluster: sizes(|judgement| judgement.clusters.first().map_or(0, |(codes, _)| *codes)),
        sft_codes: count(is_code),
        sft_suites: count(is_suite),
        code_pairs: pairs(is_code),
        test_pairs: pairs(is_suite),
    }
}

const fn is_code(response: &Response) -> bool {
    matches!(response, Response::Code(..))
}

const fn is_suite(response: &Response) -> bool {
    matches!(response, Response::Suite(..))
}

fn learned(chosen: &Chosen) -> usize {
    let responses = chosen.examples.iter().chain(chosen.pairs.iter().map(|pair| &pair.chosen));
    let problem = |response: &Response| match *response {
        Response::Problem(problem) | Response::Code(problem, _) | Response::Suite(problem, _) => problem,
    };
    responses.map(problem).collect::<std::collections::BTreeSet<_>>().len()
}

/// What rules refused, at one stage: the number of things, and the rule of each that one refused.
struct Stage<'a> {
    things: usize,
    refused: Vec<&'a str>,
}

impl Stage<'_> {
    /// Asks these filters in order.
    fn yields<'n>(&self, names: impl IntoIterator<Item = &'n str>, told: &mut Vec<FilterYield>) {
        let mut seen = self.things;
        for name in names {
            let refused = self.refused.iter().filter(|rule| **rule == name).count();
            told.push(FilterYield { name: display(name), seen, refused });
            seen -= refused;
        }
    }
}

/// A thing that could not be read, by its kind.
fn display(name: &str) -> String {
    if name == MALFORMED { format!("{MALFORMED}_problem") } else { name.to_owned() }
}

fn filters(records: &[SolVerRecord], judged: &[&Judgement]) -> Vec<FilterYield> {
    let named =
        |wanted: fn(&Check) -> bool| GUARDS.iter().filter(move |guard| wanted(&guard.check)).map(|guard| guard.name);
    let refused = records.iter().filter_map(|record| record.refused.as_ref()).map(|refusal| refusal.rule.as_str());
    let problems = Stage { things: records.len(), refused: refused.collect() };
    let rounds = Stage {
        things: judged.len(),
        refused: judged.iter().filter_map(|one| one.refused.as_ref()).map(|refusal| refusal.rule.as_str()).collect(),
    };
    let of_code = |(status, rule): (Status, &'_ str)| {
        if status == Status::Malformed { "malformed_code" } else { guard_name(rule) }
    };
    let of_suite = |(status, rule): (Status, &'_ str)| {
        if status == Status::Malformed { "malformed_suite" } else { guard_name(rule) }
    };
    let codes = judged.iter().flat_map(|one| &one.codes).map(|code| of_code((code.status, &code.rule)));
    let suites = judged.iter().flat_map(|one| &one.suites).map(|suite| of_suite((suite.status, &suite.rule)));
    let (codes, suites): (Vec<&str>, Vec<&str>) = (codes.collect(), suites.collect());
    let mut told = Vec::new();
    problems.yields([MALFORMED].into_iter().chain(named(|check| matches!(check, Check::Statement(_)))), &mut told);
    let of_codes = ["malformed_code"].into_iter().chain(named(|check| matches!(check, Check::Code(_))));
    Stage { things: codes.len(), refused: codes.clone() }.yields(of_codes, &mut told);
    let of_suites = ["malformed_suite"].into_iter().chain(named(|check| matches!(check, Check::Suite(_))));
    Stage { things: suites.len(), refused: suites.clone() }.yields(of_suites, &mut told);
    rounds.yields(["no_cluster"].into_iter().chain(named(|check| matches!(check, Check::Round(_)))), &mut told);
    let trusted = judged.iter().filter(|one| one.refused.is_none()).flat_map(|one| &one.codes);
    let trusted = trusted.filter(|code| code.status == Status::Accepted || code.rule == "special_case");
    Stage { things: trusted.count(), refused: codes }
        .yields(named(|check| matches!(check, Check::TrustedCode(_))), &mut told);
    let voting = judged.iter().filter(|one| one.refused.is_none()).flat_map(|one| &one.suites);
    let voting = voting.filter(|suite| suite.quality.tests > 0);
    Stage { things: voting.count(), refused: suites }
        .yields(named(|check| matches!(check, Check::TrustedSuite(_))), &mut told);
    told
}

/// The guard's own name for a rule.
fn guard_name(rule: &str) -> &'static str {
    GUARDS.iter().find(|guard| guard.name == rule).map_or("", |guard| guard.name)
}
