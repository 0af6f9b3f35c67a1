//! Judges rounds: the codes and suites of one problem against each other.

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Status};

use super::guards::GuardRefusal;
use super::round::{AgreementRequest, Round};
use super::suite_quality::SuiteQuality;
use crate::runner::on_all_cores;

/// The judgement of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundJudgement {
    /// Why the round is excluded from training; `None` when it is not.
    pub refused: Option<GuardRefusal>,
    /// One decision per code.
    pub codes: Vec<CodeDecision>,
    /// One decision per suite.
    pub suites: Vec<SuiteDecision>,
    /// Weight and number of passed tests of each cluster, the best first.
    pub clusters: Vec<(usize, usize)>,
    /// The index of the code that represents the trusted cluster.
    pub reference: Option<usize>,
    /// The number of distinct inputs of the tests, and of those that count.
    pub inputs: (usize, usize),
    /// The number of mutants of the trusted code, and of those that differ from it at some input.
    pub mutants: (usize, usize),
    /// Wasm fuel of all jobs.
    pub fuel: u64,
    /// Whether a job met its wall-clock deadline, so that the judgement may not be reproducible.
    pub deadline: bool,
}

/// The decision on one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeDecision {
    /// Accepted for a trusted code; WrongAnswer or its failure for a code that does not agree; Invalid where `rule` refused it, and where
    /// the round has no trusted code; NonDeterministic; Malformed.
    pub status: Status,
    /// Distinct tests of sound suites that it passes.
    pub passed: u32,
    /// Distinct tests of sound suites.
    pub total: u32,
    /// The guard that refused it; empty for none.
    pub rule: String,
    /// For people.
    pub detail: String,
}

/// The decision on one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteDecision {
    /// Sound, Unsound or Vacuous; Invalid where another `rule` refused it, and where the round has no trusted code; Malformed.
    pub status: Status,
    /// Its quality against the trusted code; zeros without one.
    pub quality: SuiteQuality,
    /// The guard that refused it; empty for none.
    pub rule: String,
    /// For people.
    pub detail: String,
}

/// [`judge_round`] for each request, every core busy, in the order of the requests.
pub fn judge_rounds(execute: &dyn Execute, requests: &[AgreementRequest<'_>]) -> Vec<Result<RoundJudgement, Dropped>> {
    on_all_cores(requests, |request| judge_round(execute, request))
}

/// Judges one round.
///
/// # Errors
/// A host fault: the problem is dropped.
pub fn judge_round(execute: &dyn Execute, request: &AgreementRequest<'_>) -> Result<RoundJudgement, Dropped> {
    let mut round = Round::run(execute, request)?;
    let agreed = round.find_agreement();
    let Some(trusted) = agreed.clusters.first().cloned() else {
        let (rule, detail) = ("no_cluster".to_owned(), "no code returns a value wherever most codes do".to_owned());
        return Ok(round.refuse_round(&agreed, GuardRefusal { rule, detail }));
    };
    let probed = round.probe(&agreed, &trusted)?;
    // Mutants cost more than all else, and guards on rounds do not need them.
    let accepted = round.qualities(&agreed, &trusted, &probed, &[]);
    if let Err(refusal) = round.check(&agreed, &trusted, &probed, &accepted) {
        return Ok(round.refuse_round(&agreed, refusal));
    }
    let mutants = round.draw_mutants(&probed)?;
    let qualities = round.qualities(&agreed, &trusted, &probed, &mutants);
    Ok(round.accept_cluster(&agreed, &trusted, &probed, &qualities))
}
