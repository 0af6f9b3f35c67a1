//! What each filter let through, from a step's records. Called by its metrics.

use serde::{Deserialize, Serialize};
use veriplay_core::Status;
use veriplay_verifier::agreement::{Check, GUARDS, Judgement};

use super::records::SolVerRecord;
use super::step::MALFORMED;
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
pub(super) fn filters(records: &[SolVerRecord], judged: &[&Judgement]) -> Vec<FilterYield> {
    let refused = records.iter().filter_map(|record| record.refused.as_ref()).map(|refusal| refusal.rule.as_str());
    let problems: Vec<&str> = refused.map(|rule| if rule == MALFORMED { "malformed_problem" } else { rule }).collect();
    let rounds = judged.iter().filter_map(|one| one.refused.as_ref()).map(|refusal| refusal.rule.as_str());
    let rounds: Vec<&str> = rounds.map(|rule| if rule == HELD_OUT { "held_out_code" } else { rule }).collect();
    let (codes, suites) = (code_rules(judged), suite_rules(judged));
    let decided: Vec<&Judgement> = judged.iter().copied().filter(|one| one.refused.is_none()).collect();
    let trusted = |status: Status, rule: &str| status == Status::Accepted || rule == "special_case";
    let trusted = decided.iter().flat_map(|one| &one.codes).filter(|code| trusted(code.status, &code.rule)).count();
    let voting = decided.iter().flat_map(|one| &one.suites).filter(|suite| suite.quality.tests > 0).count();
    let round_refusals = rounds.iter().filter(|rule| **rule != "held_out_code").count();
    let stages = [
        stage(&["malformed_problem", HELD_OUT], |check| matches!(check, Check::Statement(_)), records.len(), &problems),
        stage(&["malformed_code"], |check| matches!(check, Check::Code(_)), codes.len(), &codes),
        stage(&["malformed_suite"], |check| matches!(check, Check::Suite(_)), suites.len(), &suites),
        stage(&["no_cluster"], |check| matches!(check, Check::Round(_)), judged.len(), &rounds),
        stage(&["held_out_code"], |_| false, judged.len() - round_refusals, &rounds),
        stage(&[], |check| matches!(check, Check::TrustedCode(_)), trusted, &code_rules(&decided)),
        stage(&[], |check| matches!(check, Check::TrustedSuite(_)), voting, &suite_rules(&decided)),
    ];
    stages.concat()
}

/// The rule of each code, one for those that could not be read, and nothing for those that none refused.
fn code_rules<'a>(judged: &[&'a Judgement]) -> Vec<&'a str> {
    let rule = |status: Status, rule: &'a str| if status == Status::Malformed { "malformed_code" } else { rule };
    judged.iter().flat_map(|one| &one.codes).map(|code| rule(code.status, &code.rule)).collect()
}

/// As [`code_rules`], of suites.
fn suite_rules<'a>(judged: &[&'a Judgement]) -> Vec<&'a str> {
    let rule = |status: Status, rule: &'a str| if status == Status::Malformed { "malformed_suite" } else { rule };
    judged.iter().flat_map(|one| &one.suites).map(|suite| rule(suite.status, &suite.rule)).collect()
}

/// Asks `first`, and then the guards of one kind: `rules` are those of all `things`.
fn stage(first: &[&str], kind: fn(&Check) -> bool, things: usize, rules: &[&str]) -> Vec<FilterYield> {
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
