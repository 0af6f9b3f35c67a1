//! Judges rounds: the codes and suites of one problem against each other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Status, content_hash};

use super::clusters::{Agreement, Cluster, CodeOutput};
use super::guards::{GuardCheck, GuardRefusal, first_refusal};
use super::round::{AgreementRequest, ProbeResult, Round, SuiteAttempt, VotingStatus};
use super::suite_quality::SuiteQuality;
use super::test_suite::SuiteTest;
use super::test_tiers::{PassedTiers, passed_tiers, test_tiers};
use crate::runner::{saturating_u32, truncate_detail};

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
    /// The tiers of these tests that it passes, of a code that was compared with the trusted ones; none of others.
    pub tiers: PassedTiers,
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

/// Judges one round.
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
    Ok(round.accept_cluster(&agreed, &trusted, &probed, &qualities, &mutants))
}

impl Round<'_> {
    /// The judgement of a round without a trusted cluster.
    pub(super) fn refuse_round(&self, agreed: &Agreement, refusal: GuardRefusal) -> RoundJudgement {
        let codes = self.codes.iter().map(|standing| {
            let (status, rule, detail) = standing.settled().unwrap_or((Status::Invalid, &refusal.rule, ""));
            CodeDecision::new(status, rule, detail)
        });
        let suites = self.suites.iter().map(|standing| {
            let (status, rule, detail) = standing.settled().unwrap_or((Status::Invalid, &refusal.rule, ""));
            SuiteDecision::new(status, SuiteQuality::default(), rule, detail)
        });
        let (codes, suites) = (codes.collect(), suites.collect());
        self.judgement(agreed, Some(refusal), None, codes, suites)
    }

    /// The judgement of a round with a trusted cluster.
    pub(super) fn accept_cluster(
        &self,
        agreed: &Agreement,
        trusted: &Cluster,
        probed: &ProbeResult,
        qualities: &[Option<SuiteQuality>],
        mutants: &[String],
    ) -> RoundJudgement {
        let attempts = self.request.suites.iter().zip(&self.suites).zip(qualities);
        let suites: Vec<SuiteDecision> =
            attempts.map(|((attempt, standing), quality)| self.suite_decision(attempt, standing, *quality)).collect();
        let sound = self.request.suites.iter().zip(&suites).filter(|(_, decision)| decision.status == Status::Sound);
        let mut seen = BTreeSet::new();
        let tests = sound.filter_map(|(attempt, _)| attempt.suite).flat_map(|suite| suite.distinct());
        let tests: Vec<&SuiteTest> = tests.filter(|test| seen.insert(content_hash(*test))).collect();
        let fails = |program: &str, test: &&SuiteTest| self.grid.failed_status(program, test).is_some();
        let kills = |test: &&SuiteTest| mutants.iter().map(|mutant| fails(mutant, test)).collect::<Vec<bool>>();
        let tiers = test_tiers(&tests.iter().map(kills).collect::<Vec<_>>());
        let codes = self.codes.iter().enumerate().map(|(code, standing)| {
            let decision = self.code_decision(code, standing, agreed, trusted, probed);
            if *standing == VotingStatus::Malformed {
                return decision;
            }
            let program = self.program(code);
            let passes: Vec<bool> = tests.iter().map(|test| !fails(program, test)).collect();
            let is_compared = *standing == VotingStatus::Votes && decision.status != Status::Invalid;
            CodeDecision {
                passed: saturating_u32(passes.iter().filter(|passes| **passes).count()),
                total: saturating_u32(tests.len()),
                tiers: if is_compared { passed_tiers(&tiers, &passes) } else { PassedTiers::default() },
                ..decision
            }
        });
        self.judgement(agreed, None, Some(probed.reference), codes.collect(), suites)
    }

    fn judgement(
        &self,
        agreed: &Agreement,
        refused: Option<GuardRefusal>,
        reference: Option<usize>,
        codes: Vec<CodeDecision>,
        suites: Vec<SuiteDecision>,
    ) -> RoundJudgement {
        let counted = agreed.counts.iter().filter(|counts| **counts).count();
        RoundJudgement {
            refused,
            codes,
            suites,
            clusters: agreed.clusters.iter().map(|cluster| (cluster.weight, cluster.tests)).collect(),
            reference,
            inputs: (agreed.counts.len(), counted),
            mutants: self.mutant_counts,
            fuel: self.cost.fuel + self.grid.cost.fuel,
            deadline: self.cost.met_deadline || self.grid.cost.met_deadline,
        }
    }

    fn suite_decision(
        &self,
        attempt: &SuiteAttempt<'_>,
        standing: &VotingStatus,
        quality: Option<SuiteQuality>,
    ) -> SuiteDecision {
        let (Some(suite), Some(quality)) = (attempt.suite, quality) else {
            let (status, rule, detail) = standing.settled().unwrap_or((Status::Malformed, "", ""));
            return SuiteDecision::new(status, SuiteQuality::default(), rule, detail);
        };
        let facts = self.suite_facts(suite, quality, self.witnesses(suite, attempt.candidate));
        let refused = first_refusal(self.request.guards, |check| match check {
            GuardCheck::TrustedSuite(holds) => Some(holds(&facts)),
            _ => None,
        });
        match refused {
            // The guards alone decide, whatever the suite's quality: a disabled guard lets its cheats through.
            Ok(()) => SuiteDecision::new(Status::Sound, quality, "", ""),
            Err(GuardRefusal { rule, detail }) => {
                let status = quality.status();
                let status = if status == Status::Sound { Status::Invalid } else { status };
                SuiteDecision::new(status, quality, &rule, &detail)
            }
        }
    }

    fn code_decision(
        &self,
        code: usize,
        standing: &VotingStatus,
        agreed: &Agreement,
        trusted: &Cluster,
        probed: &ProbeResult,
    ) -> CodeDecision {
        if let Some((status, rule, detail)) = standing.settled() {
            return CodeDecision::new(status, rule, detail);
        }
        if !trusted.codes.contains(&code) {
            return self.disagreement(code, agreed);
        }
        let odd = (!probed.majority.contains(&code)).then_some("it does something else where no test looks");
        let ask = |check: &GuardCheck| if let GuardCheck::TrustedCode(holds) = check { Some(holds(odd)) } else { None };
        match first_refusal(self.request.guards, ask) {
            Ok(()) => CodeDecision::new(Status::Accepted, "", ""),
            Err(GuardRefusal { rule, detail }) => CodeDecision::new(Status::Invalid, &rule, &detail),
        }
    }

    /// The decision on a code outside the trusted cluster: its first failure at an input that counts, or a wrong answer.
    fn disagreement(&self, code: usize, agreed: &Agreement) -> CodeDecision {
        let answers = self.grid.results(self.program(code)).outputs.iter().zip(&agreed.counts);
        let failure = answers.filter(|(_, counts)| **counts).find_map(|(answer, _)| match answer {
            CodeOutput::Failed(status, detail) => Some(CodeDecision::new(*status, "", detail)),
            CodeOutput::Value(_) => None,
        });
        failure.unwrap_or_else(|| CodeDecision::new(Status::WrongAnswer, "", ""))
    }
}

impl VotingStatus {
    /// The status, the rule and the reason of a response without a vote.
    fn settled(&self) -> Option<(Status, &str, &str)> {
        match self {
            VotingStatus::Votes => None,
            VotingStatus::Malformed => Some((Status::Malformed, "", "")),
            VotingStatus::Refused(GuardRefusal { rule, detail }) => {
                let status = if rule == "nondeterministic" { Status::NonDeterministic } else { Status::Invalid };
                Some((status, rule, detail))
            }
        }
    }
}

impl CodeDecision {
    fn new(status: Status, rule: &str, detail: &str) -> Self {
        let (rule, detail) = (rule.to_owned(), truncate_detail(detail));
        Self { status, passed: 0, total: 0, tiers: PassedTiers::default(), rule, detail }
    }
}

impl SuiteDecision {
    fn new(status: Status, quality: SuiteQuality, rule: &str, detail: &str) -> Self {
        Self { status, quality, rule: rule.to_owned(), detail: truncate_detail(detail) }
    }
}
