//! Decides on each code and suite of a round.

use std::collections::BTreeSet;

use veriplay_core::{Status, content_hash};

use super::clusters::{Agreement, Cluster, CodeOutput};
use super::guards::{GuardCheck, GuardRefusal, TrustedFacts, first_refusal};
use super::round::{ProbeResult, Round, SuiteAttempt, VotingStatus};
use super::round_judge::{CodeDecision, RoundJudgement, SuiteDecision};
use super::suite_quality::SuiteQuality;
use super::test_suite::SuiteTest;
use crate::runner::{saturating_u32, truncate_detail};

impl Round<'_> {
    /// The judgement of a round without a trusted cluster.
    pub(super) fn refuse_round(&self, agreed: &Agreement, refusal: GuardRefusal) -> RoundJudgement {
        let decide = |standing: &VotingStatus, refused: Status| match standing {
            VotingStatus::Malformed => (Status::Malformed, String::new(), String::new()),
            VotingStatus::Refused(GuardRefusal { rule, detail }) => (refused, rule.clone(), detail.clone()),
            VotingStatus::Votes => (Status::Invalid, refusal.rule.clone(), String::new()),
        };
        let code = |standing: &VotingStatus| {
            let (status, rule, detail) = decide(standing, refused_code(standing));
            CodeDecision { status, passed: 0, total: 0, rule, detail: truncate_detail(&detail) }
        };
        let suite = |standing: &VotingStatus| {
            let (status, rule, detail) = decide(standing, Status::Invalid);
            SuiteDecision { status, quality: SuiteQuality::default(), rule, detail: truncate_detail(&detail) }
        };
        let (codes, suites) = (self.codes.iter().map(code).collect(), self.suites.iter().map(suite).collect());
        self.judgement(agreed, Some(refusal.clone()), None, codes, suites)
    }

    /// The judgement of a round with a trusted cluster.
    pub(super) fn accept_cluster(
        &self,
        agreed: &Agreement,
        trusted: &Cluster,
        probed: &ProbeResult,
        qualities: &[Option<SuiteQuality>],
    ) -> RoundJudgement {
        let attempts = self.request.suites.iter().zip(&self.suites).zip(qualities);
        let suites: Vec<SuiteDecision> =
            attempts.map(|((attempt, standing), quality)| self.suite_decision(attempt, standing, *quality)).collect();
        let sound = self.request.suites.iter().zip(&suites).filter(|(_, decision)| decision.status == Status::Sound);
        let mut seen = BTreeSet::new();
        let tests = sound.filter_map(|(attempt, _)| attempt.suite).flat_map(|suite| suite.distinct());
        let tests: Vec<&SuiteTest> = tests.filter(|test| seen.insert(content_hash(*test))).collect();
        let code = |(code, standing): (usize, &VotingStatus)| {
            let decision = self.code_decision(code, standing, agreed, trusted, probed);
            if *standing == VotingStatus::Malformed {
                return decision;
            }
            let program = self.program(code);
            let passed = tests.iter().filter(|test| self.grid.failed_status(program, test).is_none()).count();
            CodeDecision { passed: saturating_u32(passed), total: saturating_u32(tests.len()), ..decision }
        };
        let codes = self.codes.iter().enumerate().map(code).collect();
        self.judgement(agreed, None, Some(probed.reference), codes, suites)
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
            fuel: self.fuel + self.grid.fuel,
            deadline: self.deadline || self.grid.deadline,
        }
    }

    fn suite_decision(
        &self,
        attempt: &SuiteAttempt<'_>,
        standing: &VotingStatus,
        quality: Option<SuiteQuality>,
    ) -> SuiteDecision {
        let decision = |status, rule: &str, detail: &str| SuiteDecision {
            status,
            quality: quality.unwrap_or_default(),
            rule: rule.to_owned(),
            detail: truncate_detail(detail),
        };
        let (suite, quality) = match (standing, attempt.suite, quality) {
            (VotingStatus::Votes, Some(suite), Some(quality)) => (suite, quality),
            (VotingStatus::Refused(GuardRefusal { rule, detail }), ..) => {
                return decision(Status::Invalid, rule, detail);
            }
            _ => return decision(Status::Malformed, "", ""),
        };
        let facts = self.suite_facts(suite, quality, self.witnesses(suite, attempt.candidate));
        let ask =
            |check: &GuardCheck| if let GuardCheck::TrustedSuite(holds) = check { Some(holds(&facts)) } else { None };
        match first_refusal(self.request.guards, ask) {
            // The guards alone decide, whatever the suite's quality: a disabled guard lets its cheats through.
            Ok(()) => decision(Status::Sound, "", ""),
            Err(GuardRefusal { rule, detail }) => {
                let status = quality.status();
                decision(if status == Status::Sound { Status::Invalid } else { status }, &rule, &detail)
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
        let decision = |status, rule: &str, detail: &str| {
            let (rule, detail) = (rule.to_owned(), truncate_detail(detail));
            CodeDecision { status, passed: 0, total: 0, rule, detail }
        };
        match standing {
            VotingStatus::Malformed => return decision(Status::Malformed, "", ""),
            VotingStatus::Refused(GuardRefusal { rule, detail }) => {
                return decision(refused_code(standing), rule, detail);
            }
            VotingStatus::Votes => {}
        }
        if !trusted.codes.contains(&code) {
            let (status, detail) = self.disagreement(code, agreed);
            return decision(status, "", &detail);
        }
        let odd = (!probed.majority.contains(&code)).then_some("it does something else where no test looks");
        let ask = |check: &GuardCheck| match check {
            GuardCheck::TrustedCode(holds) => Some(holds(&TrustedFacts { odd })),
            _ => None,
        };
        match first_refusal(self.request.guards, ask) {
            Ok(()) => decision(Status::Accepted, "", ""),
            Err(GuardRefusal { rule, detail }) => decision(Status::Invalid, &rule, &detail),
        }
    }

    /// The status of a code outside the trusted cluster: its first failure at an input that counts, or a wrong answer.
    fn disagreement(&self, code: usize, agreed: &Agreement) -> (Status, String) {
        let answers = self.grid.results(self.program(code)).outputs.iter().zip(&agreed.counts);
        let failure = answers.filter(|(_, counts)| **counts).find_map(|(answer, _)| match answer {
            CodeOutput::Failed(status, detail) => Some((*status, detail.clone())),
            CodeOutput::Value(_) => None,
        });
        failure.unwrap_or((Status::WrongAnswer, String::new()))
    }
}

/// The status of a code that a guard refused before the vote.
fn refused_code(standing: &VotingStatus) -> Status {
    match standing {
        VotingStatus::Refused(refusal) if refusal.rule == "nondeterministic" => Status::NonDeterministic,
        _ => Status::Invalid,
    }
}
