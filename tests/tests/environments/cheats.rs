//! The corpus of cheats on the real sandbox: none is accepted, each ends as its file says, and the honest ones pass beside it.

use std::collections::BTreeSet;

use rayon::prelude::*;
use veriplay_core::{CodeTask, Status};
use veriplay_corpus::environments::cheats::{Cheat, CheatKind, built_in_cheats};
use veriplay_verifier::environments::{ArtifactGate, rules};

use super::{examined, gate, judged, python, task};

/// What is wrong with how a cheat ended, if anything is.
fn fault(cheat: &Cheat) -> Option<String> {
    let what = match &cheat.kind {
        CheatKind::Code { code, status } => {
            let verdict = judged(python(), &cheat.task, code);
            (verdict.status != *status || verdict.passed != 0)
                .then(|| format!("{status:?} expected, got {:?} ({})", verdict.status, verdict.evidence.detail))
        }
        CheatKind::Artifact { rule, alone, max_changed_lines } => {
            let gate = ArtifactGate { max_changed_lines: *max_changed_lines, ..gate() };
            let found = examined(&gate, &cheat.task);
            let is_first = found.rules.first().is_some_and(|first| first == rule);
            let as_told = is_first && !(*alone && found.rules.len() > 1);
            (!as_told).then(|| format!("{rule} expected (alone: {alone}), got {found:?}"))
        }
    };
    what.map(|what| format!("{}: {what}", cheat.name))
}

#[test]
fn every_cheat_ends_as_its_file_says_and_none_is_accepted() {
    let cheats = built_in_cheats();
    assert!(cheats.len() >= 50, "{} cheats", cheats.len());
    let faults: Vec<String> = cheats.par_iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cheats.len(), faults.join("\n"));
}

#[test]
fn honest_codes_and_artifacts_pass_where_cheats_do_not() {
    let of_codes = built_in_cheats().into_iter().filter(|cheat| matches!(cheat.kind, CheatKind::Code { .. }));
    let attacked: BTreeSet<String> = of_codes.map(|cheat| cheat.task.task_id).collect();
    assert!(attacked.len() >= 4, "{attacked:?}");
    for task_id in attacked {
        let task = task(&task_id);
        assert_eq!(judged(python(), task, &task.solution).status, Status::Accepted, "{task_id}");
    }
}

#[test]
fn every_rule_of_the_gate_refuses_something_that_no_other_rule_does() {
    let is_alone = |kind: &CheatKind, wanted: &&str| matches!(kind, CheatKind::Artifact { rule, alone: true, .. } if rule == wanted);
    let (cheats, mut missing) = (built_in_cheats(), rules::RULES.to_vec());
    missing.retain(|rule| !cheats.iter().any(|cheat| is_alone(&cheat.kind, rule)));
    // A file with `alone = true` shows what a rule is for; duplicates have a test of their own.
    assert_eq!(missing, [rules::DUPLICATE]);
}

/// A search that could find nothing anywhere would show nothing.
#[test]
fn the_cheats_that_search_would_find_what_they_look_for() {
    let all = built_in_cheats();
    let of = |name: &str| all.iter().find(|cheat| cheat.name == name).expect("a cheat");
    let reader = &of("verifier_reads_the_solution").task;
    let planted = CodeTask { verify: format!("PLANTED = 'find_customer()'\n{}", reader.verify), ..reader.clone() };
    assert_eq!(examined(&gate(), reader).rules, [rules::SOLUTION_REFUSED]);
    assert_eq!(examined(&gate(), &planted).rules, [rules::FAILURE_ACCEPTED, rules::NOTHING_ACCEPTED]);

    let searcher = of("verification_searched");
    let CheatKind::Code { code, .. } = &searcher.kind else { panic!("{searcher:?}") };
    let planted = format!("import sys\nsys.planted = {{'text': 'def verify' + '(before'}}\n{code}");
    assert_eq!(judged(python(), &searcher.task, code).status, Status::WrongAnswer);
    assert_eq!(judged(python(), &searcher.task, &planted).status, Status::Accepted);
}

#[test]
fn a_rule_that_is_off_lets_its_cheat_through() {
    let cheats = built_in_cheats();
    for (gate, name) in [
        (ArtifactGate { distinct_outcomes: false, ..gate() }, "failures_alike"),
        (ArtifactGate { min_calls: 0, ..gate() }, "solution_without_tools"),
        (ArtifactGate { canned_answers: Vec::new(), ..gate() }, "verifier_likes_done"),
        (ArtifactGate { failures: 2, ..gate() }, "failures_missing"),
        (gate(), "failures_far_away"),
    ] {
        let cheat = cheats.iter().find(|cheat| cheat.name == name).expect("a cheat");
        assert_eq!(examined(&gate, &cheat.task).rules, [""; 0], "{name}");
    }
}
