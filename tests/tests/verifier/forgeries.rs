//! The corpus of forgeries on the real sandbox, against every judge and every trust it applies to.
//!
//! Each must end as its file says; beside it an honest attempt at the same problem is Accepted in the same setting, so that
//! a judge which refuses everything fails here too. `undefended` files must in fact be Accepted: the list in
//! docs/verifying.md is true.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use veriplay_core::{Checks, Comparison, Dropped, Limits, Problem, Status, Trust, Verdict};
use veriplay_corpus::forgeries::{ForgeryEnding, ForgeryTarget, JudgingMode};
use veriplay_corpus::{Forgery, ForgeryCorpus, built_in_forgeries};
use veriplay_tests::assert_none;
use veriplay_verifier::judges::OutputKind;
use veriplay_verifier::{JUDGES, ProblemRequest, judge_programs};

use super::{LONG, for_the_test_runner, python};

/// Enough for every honest attempt many times over, little enough that one that hangs ends soon.
const LIMITS: Limits = Limits { fuel: 1_000_000_000, ..LONG };

type Judged = Result<Verdict, Dropped>;

fn corpus() -> &'static ForgeryCorpus {
    static CORPUS: OnceLock<ForgeryCorpus> = OnceLock::new();
    CORPUS.get_or_init(built_in_forgeries)
}

/// A problem as one judge, or one trust, sees it.
struct Setting {
    /// The judge's name, or the trust's.
    word: &'static str,
    problem: Problem,
}

fn settings(target: &ForgeryTarget, judging: JudgingMode) -> Vec<Setting> {
    match &target.problem.checks {
        Checks::Calls(checks) => judged_by(target, &checks.comparison, OutputKind::Values),
        Checks::Stdio(checks) => judged_by(target, &checks.comparison, OutputKind::Texts),
        Checks::Tests(_) if judging == JudgingMode::Shared => vec![trusting(target, Trust::Shared)],
        // Tests that are cases are read as such, and the test runner must hold against what attacks them, too.
        Checks::Tests(_) => {
            let (split, mut run) = (trusting(target, Trust::Split), trusting(target, Trust::Split));
            if let Checks::Tests(code) = &mut run.problem.checks {
                *code = for_the_test_runner(code.clone());
            }
            vec![split, Setting { word: "split, by the test runner", ..run }]
        }
        Checks::Prediction(_) => vec![Setting { word: "cruxeval", problem: target.problem.clone() }],
        // Cheats in environments have a corpus of their own.
        Checks::Environment(_) | Checks::Sql(_) | Checks::Appended(_) => Vec::new(),
    }
}

/// With every judge that takes the kind. A problem whose answer is one of many has a checker alone.
fn judged_by(target: &ForgeryTarget, own: &Comparison, kind: OutputKind) -> Vec<Setting> {
    let judges =
        JUDGES.iter().filter(|judge| judge.supports(kind) && (own.judge != "checker" || judge.name() == "checker"));
    let mut settings = Vec::new();
    for word in judges.map(|judge| judge.name()) {
        let mut problem = target.problem.clone();
        match &mut problem.checks {
            Checks::Calls(checks) => checks.comparison.judge = word.to_owned(),
            Checks::Stdio(checks) => checks.comparison.judge = word.to_owned(),
            _ => {}
        }
        settings.push(Setting { word, problem });
    }
    settings
}

fn trusting(target: &ForgeryTarget, trust: Trust) -> Setting {
    let mut problem = target.problem.clone();
    if let Checks::Tests(code) = &mut problem.checks {
        code.trust = trust;
    }
    Setting { word: if trust == Trust::Shared { "shared" } else { "split" }, problem }
}

/// One attempt in one setting, and the ending it must have.
struct Cell<'a> {
    name: String,
    program: &'a str,
    setting: Setting,
    ending: ForgeryEnding,
}

fn cells(forgery: &'static Forgery) -> Vec<Cell<'static>> {
    let mut cells = Vec::new();
    for expected in &forgery.expected {
        for setting in settings(&corpus().targets[&expected.problem], expected.judging) {
            let by_rule = expected.by_rule.iter().any(|judge| judge == setting.word);
            let ending = if by_rule { ForgeryEnding::Undefended } else { expected.ending };
            let name = format!("{} against {} by {}", forgery.name, expected.problem, setting.word);
            cells.push(Cell { name, program: &forgery.attempt, setting, ending });
        }
    }
    cells
}

fn honest_cells() -> Vec<Cell<'static>> {
    let mut cells = Vec::new();
    for target in corpus().targets.values() {
        let mut settings = settings(target, JudgingMode::Split);
        if matches!(target.problem.checks, Checks::Tests(_)) {
            settings.push(trusting(target, Trust::Shared));
        }
        for setting in settings {
            let ending = match target.unjudgeable && setting.word.starts_with("split") {
                true => ForgeryEnding::Status(Status::Unjudgeable),
                false => ForgeryEnding::Undefended,
            };
            let name = format!("the honest attempt at {} by {}", target.name, setting.word);
            cells.push(Cell { name, program: &target.honest, setting, ending });
        }
    }
    cells
}

fn judged(cells: &[Cell<'_>]) -> Vec<Judged> {
    let requests = cells.iter().map(|cell| {
        let Cell { program, setting, .. } = cell;
        ProblemRequest { limits: LIMITS, seed: 11, ..ProblemRequest::new(&setting.problem, program) }
    });
    judge_programs(python(), &requests.collect::<Vec<_>>())
}

/// The fault of a cell's ending, if any.
fn fault(cell: &Cell<'_>, judged: &Judged) -> Option<String> {
    let right = match (cell.ending, judged) {
        (ForgeryEnding::Status(status), Ok(verdict)) => verdict.status == status && verdict.passed < verdict.total,
        (ForgeryEnding::Undefended, Ok(verdict)) => verdict.status == Status::Accepted,
        (ForgeryEnding::Dropped, judged) => judged.is_err(),
        (_, Err(_)) => false,
    };
    (!right).then(|| format!("{}: {:?} expected, got {judged:?}", cell.name, cell.ending))
}

#[test]
fn every_forgery_ends_as_its_file_says_twice_and_honest_attempts_are_accepted_before_and_after() {
    let honest = honest_cells();
    let before = judged(&honest);
    let cells: Vec<Cell<'_>> = corpus().forgeries.iter().flat_map(cells).collect();
    let first = judged(&cells);
    let second = judged(&cells);
    let ended = honest.iter().zip(&before).chain(cells.iter().zip(&first));
    let mut faults: Vec<String> = ended.filter_map(|(cell, judged)| fault(cell, judged)).collect();
    let changed = cells.iter().zip(first.iter().zip(&second)).filter(|(_, (first, second))| first != second);
    faults.extend(changed.map(|(cell, (_, second))| format!("{}: a second time {second:?}", cell.name)));
    assert_none(faults);
    assert_eq!(judged(&honest), before, "honest attempts are judged differently after the forgeries");
}

#[test]
fn the_page_lists_exactly_the_forgeries_that_shared_trust_accepts() {
    let text = include_str!("../../../docs/verifying.md");
    let section = text.split_once("\n## Shared trust\n").expect("a section on shared trust").1;
    let section = section.split("\n## ").next().unwrap_or(section);
    let names: BTreeSet<&str> = corpus().forgeries.iter().map(|forgery| forgery.name.as_str()).collect();
    let listed: BTreeSet<&str> = section.split('`').filter(|word| names.contains(word)).collect();
    let undefended = |forgery: &&Forgery| forgery.expected.iter().any(|one| one.ending == ForgeryEnding::Undefended);
    let undefended = corpus().forgeries.iter().filter(undefended).map(|forgery| forgery.name.as_str());
    assert_eq!(listed, undefended.collect());
    assert!(!listed.is_empty());
}

#[test]
fn judges_that_accept_by_rule_exist_and_every_problem_is_attacked() {
    let corpus = corpus();
    let mut attacked = BTreeSet::new();
    for expected in corpus.forgeries.iter().flat_map(|forgery| &forgery.expected) {
        attacked.insert(&expected.problem);
        let known: Vec<_> =
            settings(&corpus.targets[&expected.problem], expected.judging).iter().map(|one| one.word).collect();
        assert!(expected.by_rule.iter().all(|judge| known.contains(&judge.as_str())), "{expected:?}");
        assert!(expected.by_rule.len() < known.len(), "every judge takes it for right: {expected:?}");
    }
    let alone: Vec<&String> = corpus.targets.keys().filter(|problem| !attacked.contains(problem)).collect();
    assert!(alone.is_empty(), "nobody attacks {alone:?}");
}
