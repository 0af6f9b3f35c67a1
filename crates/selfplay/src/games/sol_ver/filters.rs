//! What each filter let through, from a step's records. Called by its metrics.

use serde::{Deserialize, Serialize};
use veriplay_core::{Status, Verdict};
use veriplay_verifier::agreement::{GUARDS, GuardCheck};

use super::SolVer;
use super::rounds::RoundVerdicts;
use crate::environment::StepFacts;
use crate::splits::HELD_OUT;

/// What one filter let through. In the order in which they are asked: what one refuses, later ones do not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterYield {
    /// A guard's name, or what else nothing passes: `malformed_problem`, `malformed_code`, `malformed_suite`, `no_cluster`, and
    /// what is measured: `held_out` of statements, `held_out_code` of trusted codes.
    pub name: String,
    /// What it was asked of.
    pub seen: usize,
    /// What it refused.
    pub refused: usize,
}

/// All filters, in the order in which they are asked.
pub(super) fn filters(facts: &StepFacts<'_, SolVer>, judged: &[RoundVerdicts<'_>]) -> Vec<FilterYield> {
    let verdicts = facts.proposals.iter().filter_map(|one| one.judged.verdict.as_ref().ok());
    let problems: Vec<&str> = verdicts
        .filter(|verdict| verdict.status != Status::Valid)
        .map(|verdict| rule_of(verdict, "malformed_problem"))
        .collect();
    let rounds = judged.iter().filter_map(|one| one.facts.refused.as_ref()).map(|refusal| refusal.rule.as_str());
    let rounds: Vec<&str> = rounds.map(|rule| if rule == HELD_OUT { "held_out_code" } else { rule }).collect();
    let decided: Vec<&RoundVerdicts<'_>> = judged.iter().filter(|one| one.facts.refused.is_none()).collect();
    let judged: Vec<&RoundVerdicts<'_>> = judged.iter().collect();
    let (codes, suites) = (code_rules(&judged), suite_rules(&judged));
    let trusted = |code: &&&Verdict| code.status == Status::Accepted || code.evidence.rule == "special_case";
    let trusted = decided.iter().flat_map(|one| &one.codes).filter(trusted).count();
    let voting = decided.iter().flat_map(|one| &one.suites).filter(|(_, quality)| quality.tests > 0).count();
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
fn code_rules<'a>(judged: &[&RoundVerdicts<'a>]) -> Vec<&'a str> {
    judged.iter().flat_map(|one| &one.codes).map(|code| rule_of(code, "malformed_code")).collect()
}

/// As [`code_rules`], of suites.
fn suite_rules<'a>(judged: &[&RoundVerdicts<'a>]) -> Vec<&'a str> {
    judged.iter().flat_map(|one| &one.suites).map(|(suite, _)| rule_of(suite, "malformed_suite")).collect()
}

fn rule_of<'a>(verdict: &'a Verdict, malformed: &'static str) -> &'a str {
    if verdict.status == Status::Malformed { malformed } else { &verdict.evidence.rule }
}

/// Asks `first`, and then the guards of one kind: `rules` are those of all `things`.
fn stage(first: &[&str], kind: fn(&GuardCheck) -> bool, things: usize, rules: &[&str]) -> Vec<FilterYield> {
    let guards = GUARDS.iter().filter(|guard| kind(&guard.check)).map(|guard| guard.name);
    let mut seen = things;
    let told = first.iter().copied().chain(guards).map(|name| {
        let refused = rules.iter().filter(|rule| **rule == name).count();
        let told = FilterYield { name: name.to_owned(), seen, refused };
        seen -= refused;
        told
    });
    told.collect()
}
