//! A bug that only tests beside the package can judge, in a package that the image has too: `task-corpus/bug_cheats/called`.

use std::path::Path;
use std::sync::OnceLock;

use rayon::prelude::*;
use veriplay_core::{Fuzz, Limits, Patch, Status, TextFiles, Trust};
use veriplay_tests::assert_none;
use veriplay_verifier::bugs::{BugArtifact, RepairRequest, RepoContext, grade_repair};
use veriplay_verifier::repository::{FileRun, Repository, TestResult, run_split, run_tests};

use super::cheats::cheats_of;
use super::{Bed, LIMITS, corpus, ending, measured_once};

const CODE: &str = "toolz/functions.py";
const TESTS: &str = "test_compose.py";

fn called() -> Option<(&'static Bed, &'static BugArtifact)> {
    static BED: OnceLock<Option<Bed>> = OnceLock::new();
    let bed = measured_once(&BED, "toolz", "called/repository")?;
    Some((bed, bed.artifact.get_or_init(|| artifact(bed))))
}

fn artifact(bed: &Bed) -> BugArtifact {
    let buggy = bed.with(CODE, "in reversed(functions)", "in functions");
    let (start, end) = ("def test_compose():\n", "def test_compose_one():\n");
    let text = &bed.texts[TESTS];
    let gone = &text[text.find(start).unwrap()..text.find(end).unwrap()];
    bed.valid(Trust::Shared, &bed.bug(&buggy, &bed.with(TESTS, gone, ""), TESTS))
}

#[test]
fn no_cheat_on_tests_beside_the_package_is_accepted() {
    let Some((bed, artifact)) = called() else { return };
    let cheats = cheats_of(&corpus().join("called/repairs"));
    assert!(cheats.len() > 15);
    assert_none(cheats.par_iter().filter_map(|cheat| cheat.fault(bed, Trust::Shared, artifact, false)).collect());
}

/// The repaired text of the code, with something more.
fn repaired(bed: &Bed, artifact: &BugArtifact, more: &str) -> TextFiles {
    let mut after = bed.weakened(artifact);
    after.insert(CODE.to_owned(), bed.texts[CODE].clone() + more);
    after
}

#[test]
fn honest_repairs_are_accepted() {
    let Some((bed, artifact)) = called() else { return };
    let repairs = cheats_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bugs/called"));
    assert_eq!(repairs.len(), 5);
    assert_none(repairs.iter().filter_map(|repair| repair.fault(bed, Trust::Shared, artifact, true)).collect());
}

#[test]
fn a_patch_that_is_too_much_for_the_scan_is_malformed_and_says_why() {
    let Some((bed, artifact)) = called() else { return };
    let long = "A".repeat(60_000);
    let methods: String = (0..2000).map(|at| format!("    def a{at}(s):pass\n")).collect();
    for (rule, more) in [
        ("too_large", "x = 1\n".repeat(40_000)),
        ("too_large", "x = 1\n".repeat(300_000)),
        ("machinery", format!("\nclass {long}:\n{methods}")),
        ("machinery", format!("\nx = 1{}\n", "+1".repeat(30_000))),
        ("machinery", format!("\nx = {}1{}\n", "(".repeat(5000), ")".repeat(5000))),
        ("machinery", "\nx = '\\0\n".to_owned()),
    ] {
        let verdict = bed.graded(Trust::Shared, artifact, &repaired(bed, artifact, &more));
        assert_eq!(ending(&verdict), (Status::Malformed, rule), "{}", verdict.evidence.detail);
        // The scan costs fuel.
        assert_eq!(verdict.evidence.fuel > 0, rule == "machinery");
    }
    let repo = RepoContext { limits: Limits { fuel: 50_000_000, ..LIMITS }, ..bed.repo() };
    let after = repaired(bed, artifact, "# as it was\n");
    let patch = Patch::make(&bed.weakened(artifact), &after).unwrap().to_string();
    let request = RepairRequest { artifact, patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
    let verdict = grade_repair(&bed.sandbox, &repo, &request).unwrap();
    assert_eq!(ending(&verdict), (Status::Malformed, "scan"), "{:?}", verdict.evidence);
}

#[test]
fn the_package_is_never_the_one_that_the_image_has() {
    let Some((bed, _)) = called() else { return };
    let plain = b"from toolz import first\n\n\ndef test_first():\n    assert first([1, 2]) == 1\n".to_vec();
    let files = [("test_first.py".to_owned(), plain)];
    let own = vec!["toolz".to_owned()];
    let all = ["toolz/__init__.py".to_owned(), CODE.to_owned()];
    let is_own = |without: &[String], own: &[String], file: &str, split: bool| {
        let repository = Repository { without, ..bed.repository(own, &files) };
        let ids = [format!("{file}::test_first"), format!("{file}::test_compose")];
        let run: FileRun = match split {
            true => run_split(&bed.sandbox, &repository, file, None, None).unwrap(),
            false => run_tests(&bed.sandbox, &repository, file, &ids).unwrap(),
        };
        run.tests.iter().all(|test| test.result != TestResult::Passed)
    };
    for without in [&all[..1], &all] {
        for (file, split) in [("test_first.py", false), ("test_first.py", true), (TESTS, false)] {
            assert!(is_own(without, &own, file, split), "{without:?} {file} {split}");
        }
    }
    // The image has one: that is what the names are for.
    assert!(!is_own(&all, &[], "test_first.py", false));
}
