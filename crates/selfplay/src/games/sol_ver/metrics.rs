//! An iteration in numbers.

use serde::{Deserialize, Serialize};
use veriplay_core::Status;
use veriplay_verifier::agreement::{Judgement, Quality};

use super::filters::{FilterYield, filters};
use super::records::SolVerRecord;
use super::select::{Chosen, Response};
use crate::statistics::{mean, share};

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
