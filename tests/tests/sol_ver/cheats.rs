//! The corpus of cheats: none is trusted, each is refused by the guard it names, and each guard has one that it alone refuses.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;
use veriplay_core::Status;
use veriplay_tests::assert_none;
use veriplay_verifier::agreement::{AgreementRules, GUARDS, Guard, ProposedProblem, check_statement};

use super::{Written, rules};
use crate::bugs::texts_in;

/// What a cheat is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Problem,
    Code(usize),
    Suite(usize),
}

/// A file of the corpus.
#[derive(Debug, Clone)]
pub(super) struct Cheat {
    pub(super) name: String,
    /// Empty for an honest one.
    pub(super) rule: String,
    pub(super) target: Target,
    alone: bool,
    pub(super) known: bool,
    pub(super) snippet: String,
    pub(super) written: Written,
    pub(super) rules: AgreementRules,
}

/// All of them, sorted by name.
pub(super) fn cheats() -> Vec<Cheat> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../task-corpus/sol_ver_cheats");
    let texts = texts_in(&folder).into_iter().filter(|(name, _)| name != "README");
    texts.map(|(name, text)| read(&name, &text)).collect()
}

fn read(name: &str, text: &str) -> Cheat {
    let head = text.split("```").next().unwrap();
    let values = |key: &str| -> Vec<&str> { head.lines().filter_map(|line| line.strip_prefix(key)).collect() };
    let value = |key: &str| *values(key).first().unwrap_or_else(|| panic!("{name}: `{key}` is missing"));
    let blocks: Vec<(&str, &str)> =
        text.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect();
    let of = |label: &str| -> Vec<String> {
        blocks.iter().filter(|(kind, _)| *kind == label).map(|(_, text)| (*text).to_owned()).collect()
    };
    let suite = |(kind, text): &(&str, &str)| Some((kind.strip_prefix("suite ")?.parse().unwrap(), (*text).to_owned()));
    let mut known_rules = serde_json::to_value(rules()).unwrap();
    for line in values("set: ") {
        let (key, value) = line.split_once(" = ").unwrap();
        assert!(known_rules.get(key).is_some(), "{name}: no rule is called `{key}`");
        known_rules[key] = serde_json::from_str(value).unwrap();
    }
    Cheat {
        name: name.to_owned(),
        rule: value("rule: ").trim_matches('-').to_owned(),
        target: target(value("target: ")),
        alone: values("alone: ") == ["yes"],
        known: values("known: ") == ["yes"],
        snippet: of("snippet").remove(0),
        written: Written {
            statement: of("problem").remove(0),
            codes: of("code"),
            suites: blocks.iter().filter_map(suite).collect(),
        },
        rules: serde_json::from_value(known_rules).unwrap(),
    }
}

fn target(text: &str) -> Target {
    match text.split_once(' ') {
        Some(("code", number)) => Target::Code(number.parse().unwrap()),
        Some(("suite", number)) => Target::Suite(number.parse().unwrap()),
        _ => Target::Problem,
    }
}

/// The rule that refuses the target, or nothing when it is trusted.
fn refusal(cheat: &Cheat, guards: &[Guard]) -> Option<String> {
    let Cheat { rules, snippet, written, known, .. } = cheat;
    let statement = &written.statement;
    if let Err(refusal) = check_statement(guards, &ProposedProblem { rules, statement, snippet, known: *known }) {
        return Some(refusal.rule);
    }
    let judged = written.judged_with(rules, guards);
    if let Some(refusal) = judged.refused {
        return Some(refusal.rule);
    }
    let (trusted, rule) = match cheat.target {
        Target::Problem => return None,
        Target::Code(code) => (judged.codes[code].status == Status::Accepted, &judged.codes[code].rule),
        Target::Suite(suite) => (judged.suites[suite].status == Status::Sound, &judged.suites[suite].rule),
    };
    (!trusted).then(|| rule.clone())
}

/// What is wrong with how a file ends, if anything is.
fn fault(cheat: &Cheat) -> Option<String> {
    let (found, expected) = (refusal(cheat, GUARDS), Some(cheat.rule.clone()).filter(|rule| !rule.is_empty()));
    if found != expected {
        return Some(format!("{}: {expected:?} expected, got {found:?}", cheat.name));
    }
    let others: Vec<Guard> = GUARDS.iter().filter(|guard| guard.name != cheat.rule).copied().collect();
    let left = if cheat.alone { refusal(cheat, &others) } else { None };
    left.map(|other| format!("{}: without `{}` it is refused by `{other}`", cheat.name, cheat.rule))
}

#[test]
fn every_cheat_is_refused_by_the_guard_it_names_and_the_honest_are_not() {
    let cheats = cheats();
    assert!(cheats.len() > 30, "{}", cheats.len());
    assert_none(cheats.par_iter().filter_map(fault).collect());
    assert!(cheats.iter().filter(|cheat| cheat.rule.is_empty()).count() >= 3);
}

#[test]
fn every_guard_refuses_something_that_no_other_guard_does() {
    let alone: BTreeSet<String> = cheats().into_iter().filter(|cheat| cheat.alone).map(|cheat| cheat.rule).collect();
    let names: BTreeSet<String> = GUARDS.iter().map(|guard| guard.name.to_owned()).collect();
    assert_eq!(alone, names, "a file with `alone: yes` shows what a guard is for");
    assert!(names.len() == GUARDS.len() && GUARDS.iter().all(|guard| !guard.what.is_empty()));
}
