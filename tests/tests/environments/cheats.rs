//! The corpus of cheats on the real sandbox: none is accepted, each ends as its file says, and the honest ones pass beside it.

use std::collections::BTreeSet;

use rayon::prelude::*;
use veriplay_core::{CodeTask, Status};
use veriplay_corpus::environments::cheats::{Cheat, CheatKind, built_in_cheats};
use veriplay_verifier::environments::{ArtifactGate, rules};

use super::{gate, inspected, judged, python, task};

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
            let found: Vec<String> =
                inspected(&gate, &cheat.task).into_iter().map(|one| format!("{}: {}", one.rule, one.detail)).collect();
            let first = found.first().is_some_and(|first| first.starts_with(&format!("{rule}: ")));
            (!first || (*alone && found.len() > 1)).then(|| format!("{rule} expected (alone: {alone}), got {found:?}"))
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
    let attacked: BTreeSet<String> = built_in_cheats().into_iter().filter_map(base).collect();
    assert!(attacked.len() >= 4, "{attacked:?}");
    for task_id in attacked {
        let task = task(&task_id);
        assert_eq!(judged(python(), task, &task.solution).status, Status::Accepted, "{task_id}");
    }
}

fn base(cheat: Cheat) -> Option<String> {
    matches!(cheat.kind, CheatKind::Code { .. }).then_some(cheat.task.task_id)
}

#[test]
fn every_rule_of_the_gate_refuses_something_that_no_other_rule_does() {
    let alone: BTreeSet<String> = built_in_cheats()
        .into_iter()
        .filter_map(|cheat| match cheat.kind {
            CheatKind::Artifact { rule, alone: true, .. } => Some(rule),
            _ => None,
        })
        .collect();
    let missing: Vec<&str> = rules::RULES.into_iter().filter(|rule| !alone.contains(*rule)).collect();
    assert_eq!(
        missing,
        [rules::DUPLICATE],
        "a file with `alone = true` shows what a rule is for; duplicates have a test of their own"
    );
}

/// A search that could find nothing anywhere would show nothing.
#[test]
fn the_cheats_that_search_would_find_what_they_look_for() {
    let all = built_in_cheats();
    let of = |name: &str| all.iter().find(|cheat| cheat.name == name).expect("a cheat");
    let reader = &of("verifier_reads_the_solution").task;
    let planted = CodeTask { verify: format!("PLANTED = 'find_customer()'\n{}", reader.verify), ..reader.clone() };
    let rules = |task: &CodeTask| inspected(&gate(), task).into_iter().map(|one| one.rule).collect::<Vec<_>>();
    assert_eq!(rules(reader), [rules::SOLUTION_REFUSED]);
    assert_eq!(rules(&planted), [rules::FAILURE_ACCEPTED, rules::NOTHING_ACCEPTED]);

    let searcher = of("verification_searched");
    let CheatKind::Code { code, .. } = &searcher.kind else { panic!("{searcher:?}") };
    let planted = format!("import sys\nsys.planted = {{'text': 'def verify' + '(before'}}\n{code}");
    assert_eq!(judged(python(), &searcher.task, code).status, Status::WrongAnswer);
    assert_eq!(judged(python(), &searcher.task, &planted).status, Status::Accepted);
}

#[test]
fn a_rule_that_is_off_lets_its_cheat_through() {
    let of = |name: &str| built_in_cheats().into_iter().find(|cheat| cheat.name == name).expect("a cheat").task;
    let found = |gate: ArtifactGate, task: &CodeTask| inspected(&gate, task).len();
    assert_eq!(found(ArtifactGate { distinct_outcomes: false, ..gate() }, &of("failures_alike")), 0);
    assert_eq!(found(ArtifactGate { min_calls: 0, ..gate() }, &of("solution_without_tools")), 0);
    assert_eq!(found(ArtifactGate { canned_answers: Vec::new(), ..gate() }, &of("verifier_likes_done")), 0);
    assert_eq!(found(ArtifactGate { failures: 2, ..gate() }, &of("failures_missing")), 0);
    assert_eq!(found(gate(), &of("failures_far_away")), 0);
}
