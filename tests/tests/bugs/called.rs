//! A bug that only tests beside the package can judge, in a package that the image has too: `task-corpus/bug_cheats/called`.

use std::sync::OnceLock;

use rayon::prelude::*;
use veriplay_core::{Fuzz, Limits, Patch, Status, TextFiles, Trust};
use veriplay_verifier::bugs::{BugArtifact, RepairRequest, RepoContext, grade_repair};
use veriplay_verifier::repository::{FileRun, Repository, TestResult, run_split, run_tests};

use super::cheats::cheats_of;
use super::{Bed, LIMITS, corpus, ending, measured, pytest, replaced};

const CODE: &str = "toolz/functions.py";
const TESTS: &str = "test_compose.py";

fn called() -> Option<(&'static Bed, &'static BugArtifact)> {
    static BED: OnceLock<Option<(Bed, BugArtifact)>> = OnceLock::new();
    // Reports the test as skipped where there is no pytest.
    super::bed()?;
    let made = BED.get_or_init(|| {
        let bed = measured(pytest()?, "toolz", &corpus().join("called/repository"));
        let artifact = artifact(&bed);
        Some((bed, artifact))
    });
    made.as_ref().map(|(bed, artifact)| (bed, artifact))
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
    let faults = cheats.par_iter().filter_map(|cheat| cheat.fault(bed, Trust::Shared, artifact, false));
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
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
    let loop_ = "        for function in functions:\n            value = function(value)\n        return value\n";
    let by_type = "        kind = type(functions)\n        for function in reversed(functions if kind is tuple else ()):\n            \
                   value = function(value)\n        return value\n";
    let by_length = "\n\nclass Chain:\n    def __init__(self, links):\n        self.links = links\n\n    def \
                     __len__(self):\n        return len(self.links)\n\n    def __repr__(self):\n        return \
                     \"{} links\".format(len(self))\n";
    let weakened = bed.weakened(artifact);
    let mut with_tests = repaired(bed, artifact, "");
    with_tests.get_mut(TESTS).unwrap().push_str("\n\ndef test_more():\n    assert compose(double)(1) == 2\n");
    let mut with_a_new_test = repaired(bed, artifact, "");
    with_a_new_test.insert("tests/test_new.py".to_owned(), "def test_new():\n    assert True\n".to_owned());
    let repairs = [
        ("another text", replaced(&weakened, CODE, loop_, by_type)),
        ("a class with a length", repaired(bed, artifact, by_length)),
        ("the original", bed.texts.clone()),
        ("another test", with_tests),
        ("a new test file", with_a_new_test),
    ];
    for (name, after) in repairs {
        let verdict = bed.graded(Trust::Shared, artifact, &after);
        assert_eq!(verdict.status, Status::Accepted, "{name}: {:?}", verdict.evidence);
    }
}

#[test]
fn a_patch_that_is_too_much_for_the_scan_is_malformed_and_says_why() {
    let Some((bed, artifact)) = called() else { return };
    let long = "A".repeat(60_000);
    let methods: String = (0..2000).map(|at| format!("    def a{at}(s):pass\n")).collect();
    let cases = [
        ("too_large", "x = 1\n".repeat(40_000)),
        ("too_large", "x = 1\n".repeat(300_000)),
        ("machinery", format!("\nclass {long}:\n{methods}")),
        ("machinery", format!("\nx = 1{}\n", "+1".repeat(30_000))),
        ("machinery", format!("\nx = {}1{}\n", "(".repeat(5000), ")".repeat(5000))),
        ("machinery", "\nx = '\\0\n".to_owned()),
    ];
    for (rule, more) in cases {
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
    let init = vec!["toolz/__init__.py".to_owned()];
    let all = vec!["toolz/__init__.py".to_owned(), CODE.to_owned()];
    let is_own = |without: &[String], own: &[String], file: &str, split: bool| {
        let repository = Repository { without, ..bed.repository(own, &files) };
        let ids = [format!("{file}::test_first"), format!("{file}::test_compose")];
        let run: FileRun = match split {
            true => run_split(&bed.sandbox, &repository, file, None, None).unwrap(),
            false => run_tests(&bed.sandbox, &repository, file, &ids).unwrap(),
        };
        run.tests.iter().all(|test| test.result != TestResult::Passed)
    };
    for without in [&init, &all] {
        for (file, split) in [("test_first.py", false), ("test_first.py", true), (TESTS, false)] {
            assert!(is_own(without, &own, file, split), "{without:?} {file} {split}");
        }
    }
    // The image has one: that is what the names are for.
    assert!(!is_own(&all, &[], "test_first.py", false));
}
