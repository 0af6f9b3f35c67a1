//! Bugs that turn a function into one that is measured: refused by name and counted, whoever makes them; others are admitted.

use veriplay_core::TextFiles;
use veriplay_python::fingerprint::functions;
use veriplay_selfplay::splits::HELD_OUT;
use veriplay_verifier::bugs::FileMap;
use veriplay_verifier::repository::Function;

use super::*;

/// What [`CODE`]'s `total` is when it subtracts, in other words.
const MEASURED: &str = "def difference(values):\n    \"\"\"Takes all away.\"\"\"\n    left = 0\n    for value in values: left -= value\n    return left\n";

/// A held-out repository with this code. Nothing is run in it.
fn held_out(bed: &Bed, code: &str) -> Repository {
    let mut held_out = repository(bed);
    (held_out.baseline.package, held_out.map.package) = (Digest::of(b"held out"), Digest::of(b"held out"));
    held_out.texts = TextFiles::from([("src/held.py".to_owned(), code.to_owned())]);
    let functions = vec![Function { path: "src/held.py".to_owned(), name: "held".to_owned() }];
    let path = "tests/test_held.py".to_owned();
    held_out.map.files = vec![FileMap { path, functions, ..FileMap::default() }];
    held_out
}

fn guarded(bed: &Bed, config: BugRepairConfig, training: &[BugArtifact], code: &str) -> Game {
    let repositories = Repositories { held_out: vec![held_out(bed, code)], ..training_on(repository(bed)) };
    SelfPlay::new(BugRepair::new(config, repositories, training, &[]).unwrap())
}

#[test]
fn an_injection_that_makes_a_measured_function_is_refused_and_counted_and_another_is_admitted() {
    let Some(bed) = bed() else { return };
    let adds = vec![edit(CODE, "        result += number\n", "        result += number + 1\n")];
    let game = guarded(bed, injecting(2, &[InjectionMode::Direct]), &[], MEASURED);
    let (played, state) = first_step(bed, &game, &players(vec![vec![]], vec![breaks(), adds]));
    let yields = &played.metrics.injections["direct"];
    assert_eq!((yields.valid, yields.refused.get(HELD_OUT)), (1, Some(&1)), "{yields:?}");
    assert_eq!((played.counts.valid_proposals, played.counts.proposals_in_held_out), (1, 1));
    assert_eq!(made(&state).len(), 1);
    let record = injection(&played);
    let verdict = record.judged.verdict.as_ref().unwrap();
    assert_eq!((verdict.status, &record.judged.task), (Status::Invalid, &None));
    assert_eq!(verdict.evidence.detail, "it holds `difference` of `tally/src/held.py` of the held_out set");
    same_again(bed, &game, &played);
}

/// The functions at the margin that a bug makes of others.
fn changed(bed: &Bed, bug: &BugTask) -> Option<String> {
    let buggy = bug.bug.bug_inject.apply(&bed.texts).unwrap();
    let (path, text) = buggy.iter().find(|(path, text)| bed.texts.get(*path) != Some(text))?;
    let new = |part: &&str| {
        !functions(part).is_empty() && part.starts_with("def ") && !bed.texts[path].contains(part.trim_end())
    };
    text.split("\n\n\n").find(new).map(str::to_owned)
}

#[test]
fn a_mutant_that_is_a_measured_function_is_refused_and_counted_and_others_are_admitted() {
    let Some(bed) = bed() else { return };
    let config = config("think").with(|c| {
        c.own.mutants_per_step = 12;
        c.own.mutant_share = 0.5;
        c.own.tasks_per_step = 2;
    });
    let (policy, plain) = (solver(vec![vec![]]), game(bed, config.clone(), &[]));
    let (_, state) = first_step(bed, &plain, &policy);
    let code = made(&state).iter().find_map(|entry| changed(bed, &entry.task)).expect("a mutant of a function");
    let guarded = guarded(bed, config, &[], &code);
    let (played, other) = first_step(bed, &guarded, &policy);
    let refused: usize = played.metrics.mutants.values().filter_map(|yields| yields.refused.get(HELD_OUT)).sum();
    assert!(refused > 0 && played.counts.proposals_in_held_out == refused as u64, "{:?}", played.metrics.mutants);
    assert!(!made(&other).is_empty() && made(&other).len() < made(&state).len());
    assert!(made(&other).iter().all(|entry| changed(bed, &entry.task).as_deref() != Some(code.as_str())));
    same_again(bed, &guarded, &played);
}

#[test]
fn a_failed_repair_that_makes_a_measured_function_is_no_bug_of_the_second_order() {
    let Some(bed) = bed() else { return };
    let config = config("think").with(|c| {
        c.own.higher_order_per_step = 4;
        c.own.higher_order_share = 1.0;
        c.shared.group_size = 2;
    });
    let plans = vec![[right(), breaks()].concat(), vec![begins("1", "3")]];
    let game = guarded(bed, config, &[bed.artifact().clone()], MEASURED);
    let (played, state) = first_step(bed, &game, &solver(plans));
    let yields = &played.metrics.higher_order;
    assert_eq!((yields.tried, yields.valid, yields.refused.get(HELD_OUT)), (2, 1, Some(&1)), "{yields:?}");
    assert_eq!(played.counts.proposals_in_held_out, 1);
    assert!(made(&state).iter().all(|entry| entry.task.is_higher_order()) && made(&state).len() == 1);
    same_again(bed, &game, &played);
}
