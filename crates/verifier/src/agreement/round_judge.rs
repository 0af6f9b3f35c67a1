//! Judges whole rounds: one problem's codes and suites, against each other.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Status};

use super::guards::GuardRefusal;
use super::round::{Round, RoundRequest};
use super::suite_quality::SuiteQuality;

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundJudgement {
    /// Why nothing may be learned from the round; `None` when something may.
    pub refused: Option<GuardRefusal>,
    /// One for each code.
    pub codes: Vec<CodeDecision>,
    /// One for each suite.
    pub suites: Vec<SuiteDecision>,
    /// Sizes of the clusters, the best one first: what their codes count, and tests passed.
    pub clusters: Vec<(usize, usize)>,
    /// The code that stands for the trusted ones, an index; `None` when there is none.
    pub reference: Option<usize>,
    /// Different inputs of the tests, and those that count.
    pub inputs: (usize, usize),
    /// Mutants made of the trusted code, and those that some input tells from it.
    pub mutants: (usize, usize),
    /// Wasm fuel of all jobs.
    pub fuel: u64,
    /// Whether a job met its wall-clock deadline: such a judgement is outside reproducibility.
    pub deadline: bool,
}

/// The decision on one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeDecision {
    /// Accepted for a trusted code; WrongAnswer, or how it failed, for one that does not agree; Invalid where `rule` refused
    /// it, and where the round has no trusted code; NonDeterministic, Malformed.
    pub status: Status,
    /// Different tests of sound suites that it passes.
    pub passed: u32,
    /// Different tests of sound suites.
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
    /// Sound, Unsound or Vacuous; Invalid where `rule` refused it for something else, and where the round has no trusted
    /// code; Malformed.
    pub status: Status,
    /// What it is worth against the trusted code; nothing where there is none.
    pub quality: SuiteQuality,
    /// The guard that refused it; empty for none.
    pub rule: String,
    /// For people.
    pub detail: String,
}

/// [`judge_round`] for each request, every core busy, in the order of the requests.
pub fn judge_rounds(execute: &dyn Execute, requests: &[RoundRequest<'_>]) -> Vec<Result<RoundJudgement, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_round(execute, request)).collect()
}

/// Judges one round.
///
/// # Errors
/// A host fault: the problem is dropped.
pub fn judge_round(execute: &dyn Execute, request: &RoundRequest<'_>) -> Result<RoundJudgement, Dropped> {
    let mut round = Round::run(execute, request)?;
    let agreed = round.find_agreement();
    let Some(trusted) = agreed.clusters.first().cloned() else {
        let (rule, detail) = ("no_cluster".to_owned(), "no code returns a value wherever most codes do".to_owned());
        return Ok(round.refuse_round(&agreed, GuardRefusal { rule, detail }));
    };
    let probed = round.probe(&agreed, &trusted)?;
    // Mutants cost more than all else, and no guard on rounds asks for them.
    let accepted = round.qualities(&agreed, &trusted, &probed, &[]);
    if let Err(refusal) = round.check(&agreed, &trusted, &probed, &accepted) {
        return Ok(round.refuse_round(&agreed, refusal));
    }
    let mutants = round.draw_mutants(&probed)?;
    let qualities = round.qualities(&agreed, &trusted, &probed, &mutants);
    Ok(round.accept_cluster(&agreed, &trusted, &probed, &qualities))
}
