//! The decisions of a round on each of its codes and suites. Called by the judge of rounds.

use std::collections::BTreeSet;

use veriplay_core::{Status, content_hash};

use super::clusters::{Agreed, Answer, Cluster};
use super::facts::Quality;
use super::guards::{Check, Refusal, TrustedFacts, first};
use super::judge::{CodeDecision, Judgement, SuiteDecision};
use super::round::{Probed, Round, Standing, SuiteAttempt};
use super::suite::Test;
use crate::run::cut;

impl Round<'_> {
    /// A round in which nobody is trusted.
    pub(super) fn undecided(&self, agreed: &Agreed, refusal: Refusal) -> Judgement {
        let ruled = |standing: &Standing, refused: Status| match standing {
            Standing::Malformed => (Status::Malformed, String::new(), String::new()),
            Standing::Refused(Refusal { rule, detail }) => (refused, rule.clone(), detail.clone()),
            Standing::Votes => (Status::Invalid, refusal.rule.clone(), String::new()),
        };
        let code = |standing: &Standing| {
            let (status, rule, detail) = ruled(standing, refused_code(standing));
            CodeDecision { status, passed: 0, total: 0, rule, detail: cut(&detail) }
        };
        let suite = |standing: &Standing| {
            let (status, rule, detail) = ruled(standing, Status::Invalid);
            SuiteDecision { status, quality: Quality::default(), rule, detail: cut(&detail) }
        };
        let (codes, suites) = (self.codes.iter().map(code).collect(), self.suites.iter().map(suite).collect());
        self.judgement(agreed, Some(refusal.clone()), None, codes, suites)
    }

    /// A round with a trusted cluster.
    pub(super) fn decided(
        &self,
        agreed: &Agreed,
        trusted: &Cluster,
        probed: &Probed,
        qualities: &[Option<Quality>],
    ) -> Judgement {
        let attempts = self.request.suites.iter().zip(&self.suites).zip(qualities);
        let suites: Vec<SuiteDecision> =
            attempts.map(|((attempt, standing), quality)| self.suite_decision(attempt, standing, *quality)).collect();
        let sound = self.request.suites.iter().zip(&suites).filter(|(_, decision)| decision.status == Status::Sound);
        let mut seen = BTreeSet::new();
        let tests = sound.filter_map(|(attempt, _)| attempt.suite).flat_map(|suite| suite.distinct());
        let tests: Vec<&Test> = tests.filter(|test| seen.insert(content_hash(*test))).collect();
        let code = |(code, standing): (usize, &Standing)| {
            let decision = self.code_decision(code, standing, agreed, trusted, probed);
            if *standing == Standing::Malformed {
                return decision;
            }
            let program = self.program(code);
            let passed = tests.iter().filter(|test| self.grid.fails(program, test).is_none()).count();
            CodeDecision { passed: number(passed), total: number(tests.len()), ..decision }
        };
        let codes = self.codes.iter().enumerate().map(code).collect();
        self.judgement(agreed, None, Some(probed.reference), codes, suites)
    }

    fn judgement(
        &self,
        agreed: &Agreed,
        refused: Option<Refusal>,
        reference: Option<usize>,
        codes: Vec<CodeDecision>,
        suites: Vec<SuiteDecision>,
    ) -> Judgement {
        let counted = agreed.counts.iter().filter(|counts| **counts).count();
        Judgement {
            refused,
            codes,
            suites,
            clusters: agreed.clusters.iter().map(|cluster| (cluster.weight, cluster.tests)).collect(),
            reference,
            inputs: (agreed.counts.len(), counted),
            mutants: self.made,
            fuel: self.fuel + self.grid.fuel,
            deadline: self.deadline || self.grid.deadline,
        }
    }

    fn suite_decision(
        &self,
        attempt: &SuiteAttempt<'_>,
        standing: &Standing,
        quality: Option<Quality>,
    ) -> SuiteDecision {
        let decision = |status, rule: &str, detail: &str| SuiteDecision {
            status,
            quality: quality.unwrap_or_default(),
            rule: rule.to_owned(),
            detail: cut(detail),
        };
        let (suite, quality) = match (standing, attempt.suite, quality) {
            (Standing::Votes, Some(suite), Some(quality)) => (suite, quality),
            (Standing::Refused(Refusal { rule, detail }), ..) => return decision(Status::Invalid, rule, detail),
            _ => return decision(Status::Malformed, "", ""),
        };
        let facts = self.suite_facts(suite, quality, self.witnesses(suite, attempt.candidate));
        let ask = |check: &Check| if let Check::TrustedSuite(holds) = check { Some(holds(&facts)) } else { None };
        match first(self.request.guards, ask) {
            // What no guard refuses is trusted, whatever it is worth: a guard that is off lets its cheats through.
            Ok(()) => decision(Status::Sound, "", ""),
            Err(Refusal { rule, detail }) => {
                let status = quality.status();
                decision(if status == Status::Sound { Status::Invalid } else { status }, &rule, &detail)
            }
        }
    }

    fn code_decision(
        &self,
        code: usize,
        standing: &Standing,
        agreed: &Agreed,
        trusted: &Cluster,
        probed: &Probed,
    ) -> CodeDecision {
        let decision = |status, rule: &str, detail: &str| {
            let (rule, detail) = (rule.to_owned(), cut(detail));
            CodeDecision { status, passed: 0, total: 0, rule, detail }
        };
        match standing {
            Standing::Malformed => return decision(Status::Malformed, "", ""),
            Standing::Refused(Refusal { rule, detail }) => return decision(refused_code(standing), rule, detail),
            Standing::Votes => {}
        }
        if !trusted.codes.contains(&code) {
            let (status, detail) = self.disagrees(code, agreed);
            return decision(status, "", &detail);
        }
        let odd = (!probed.majority.contains(&code)).then_some("it does something else where no test looks");
        let ask = |check: &Check| match check {
            Check::TrustedCode(holds) => Some(holds(&TrustedFacts { odd })),
            _ => None,
        };
        match first(self.request.guards, ask) {
            Ok(()) => decision(Status::Accepted, "", ""),
            Err(Refusal { rule, detail }) => decision(Status::Invalid, &rule, &detail),
        }
    }

    /// How a code outside the trusted cluster fails: by its first failure where an input counts, or by its values.
    fn disagrees(&self, code: usize, agreed: &Agreed) -> (Status, String) {
        let answers = self.grid.row(self.program(code)).answers.iter().zip(&agreed.counts);
        let failure = answers.filter(|(_, counts)| **counts).find_map(|(answer, _)| match answer {
            Answer::Failed(status, detail) => Some((*status, detail.clone())),
            Answer::Value(_) => None,
        });
        failure.unwrap_or((Status::WrongAnswer, String::new()))
    }
}

/// The status of a code that a guard refused before codes agreed.
fn refused_code(standing: &Standing) -> Status {
    match standing {
        Standing::Refused(refusal) if refusal.rule == "nondeterministic" => Status::NonDeterministic,
        _ => Status::Invalid,
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
