//! Runs of tests: in an image in which pytest is imported they come to the same records as where each job imports it, for a small part of the fuel.
//!
//! And with tests in one instance and the package in another: which can be judged so, and that code which forges every record beside pytest
//! forges none from there. The scan has no part in it.

use veriplay_core::{Execute, Layer, Status, Trust};
use veriplay_sandbox::{Sandbox, SandboxOptions};
use veriplay_tests::python_image;
use veriplay_verifier::repository::{FileRun, Repository, TestResult, run_file, run_split, run_tests};

use super::cheats::cheats;
use super::{Bed, CODE, TESTS, bed, corpus, ending, files_under, pytest};

/// The modules of the bed's package.
fn own() -> [String; 1] {
    ["tally".to_owned()]
}

/// The bed, whose image is warm, and a sandbox on the plain one.
fn warm_and_cold() -> Option<(&'static Bed, Sandbox)> {
    let bed = bed()?;
    let layers = [pytest()?, Layer::new(files_under(&corpus().join("repository"), "")).unwrap()];
    let sandbox = Sandbox::new(python_image(), SandboxOptions::fastest());
    Some((bed, sandbox.with_layers(layers.into_iter().collect())))
}

fn run(bed: &Bed, execute: &dyn Execute, files: &[(String, Vec<u8>)], file: &str) -> FileRun {
    run_file(execute, &Repository { max_jobs: 40, ..bed.repository(&own(), files) }, file).unwrap()
}

#[test]
fn a_warm_start_comes_to_the_same_records_for_a_tenth_of_the_fuel() {
    let Some((bed, cold)) = warm_and_cold() else { return };
    let buggy = bed.texts[CODE].replace("    result = 0\n", "    result = 1\n");
    for files in [Vec::new(), vec![(CODE.to_owned(), buggy.into_bytes())]] {
        for file in [TESTS, "tests/test_names.py", "tests/test_trace.py", "tests/test_broken.py"] {
            let (cold, warm) = (run(bed, &cold, &files, file), run(bed, &bed.sandbox, &files, file));
            assert_eq!((&cold.tests, &cold.broken), (&warm.tests, &warm.broken), "{file}");
            assert!(warm.fuel * 10 <= cold.fuel, "{file}: {} of {}", warm.fuel, cold.fuel);
        }
    }
}

#[test]
fn a_changed_source_is_what_runs() {
    let Some(bed) = bed() else { return };
    let original = run(bed, &bed.sandbox, &[], TESTS);
    assert!(original.broken.is_none() && original.tests.iter().all(|test| test.result == TestResult::Passed));
    let broken = [(CODE.to_owned(), b"raise ImportError('gone')\n".to_vec())];
    assert!(run(bed, &bed.sandbox, &broken, TESTS).broken.is_some());
    let ids = [format!("{TESTS}::test_total")];
    let one = run_tests(&bed.sandbox, &bed.repository(&own(), &[]), TESTS, &ids).unwrap();
    assert_eq!(one.tests.len(), 1);
}

#[test]
fn hooks_of_the_repository_are_called_in_a_warm_start_as_in_a_cold_one() {
    let Some((bed, cold)) = warm_and_cold() else { return };
    let hooks = b"import pytest

begun = []

def pytest_sessionstart(session):
    begun.append(1)

@pytest.fixture
def sessions():
    return len(begun)

def pytest_collection_modifyitems(items):
    items.reverse()
";
    let test =
        b"def test_one(sessions):\n    assert sessions == 1\n\ndef test_two(sessions):\n    assert sessions == 2\n";
    for hooks_at in ["conftest.py", "tests/conftest.py", "tests/deep/conftest.py"] {
        let files = [(hooks_at.to_owned(), hooks.to_vec()), ("tests/deep/test_hooks.py".to_owned(), test.to_vec())];
        let [cold, warm] = [&cold as &dyn Execute, &bed.sandbox].map(|sandbox| run(bed, sandbox, &files, &files[1].0));
        assert_eq!((&cold.tests, &cold.broken), (&warm.tests, &warm.broken), "{hooks_at}");
        assert_eq!(cold.tests[1].id, "tests/deep/test_hooks.py::test_one", "{hooks_at}");
        assert_eq!(cold.tests[1].result, TestResult::Passed, "{hooks_at}");
    }
}

fn passed(run: &FileRun) -> usize {
    run.tests.iter().filter(|test| test.result == TestResult::Passed).count()
}

#[test]
fn a_test_is_split_when_plain_values_are_all_it_needs_of_the_package() {
    let Some(bed) = bed() else { return };
    let is_split = |id: &str| bed.map.files.iter().any(|file| file.split.iter().any(|other| other == id));
    for (id, expected) in [
        ("tests/test_core.py::test_total", true),
        ("tests/test_core.py::MeanTests::test_mean_of_nothing", true),
        ("tests/test_names.py::test_label", true),
        ("tests/test_core.py::test_amount", false),
        ("tests/test_steps.py::test_step", false),
        ("tests/test_trace.py::test_read_and_write", false),
    ] {
        assert_eq!(is_split(id), expected, "{id}");
    }
}

#[test]
fn a_verdict_on_tests_that_are_all_split_says_so() {
    let Some(bed) = bed() else { return };
    let buggy = bed.with("src/tally/names.py", "    return unit + \"s\"\n", "    return unit + \"z\"\n");
    let line = "    assert label(\"metre\", 2) == \"metres\"\n";
    let bug = bed.bug(&buggy, &bed.with("tests/test_names.py", line, ""), "tests/test_names.py");
    let artifact = bed.valid(Trust::Shared, &bug);
    let verdict = bed.graded_text(Trust::Shared, &artifact, &bug.bug_inject.reverse().to_string());
    assert_eq!(ending(&verdict), (Status::Accepted, "split"), "{:?}", verdict.evidence);
    assert_eq!(bed.graded_text(Trust::Shared, &artifact, "").status, Status::WrongAnswer);
}

#[test]
fn what_forges_every_record_beside_pytest_forges_none_from_another_instance() {
    let Some(bed) = bed() else { return };
    let wanted: Vec<String> = bed.artifact().fail_to_pass.iter().filter(|id| id.starts_with(TESTS)).cloned().collect();
    let (mut forgers, mut forged, own) = (0, Vec::new(), own());
    // These repair what these tests ask for.
    let right = ["context_that_swallows", "one_test_repaired_one_broken"];
    let cheats = cheats().into_iter().filter(|cheat| !right.contains(&cheat.name.as_str()));
    let buggy = bed.with(CODE, "    result = 0\n", "    result = 1\n");
    for cheat in cheats.filter(|cheat| cheat.files.iter().any(|(path, _)| path == CODE || path.ends_with("trace.py"))) {
        let mut files: Vec<(String, Vec<u8>)> =
            cheat.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        if files.iter().all(|(path, _)| path != CODE) {
            files.push((CODE.to_owned(), buggy[CODE].clone().into_bytes()));
        }
        let repository = bed.repository(&own, &files);
        let beside = run_tests(&bed.sandbox, &repository, TESTS, &wanted).unwrap();
        if passed(&beside) < wanted.len() {
            continue;
        }
        forgers += 1;
        let apart = run_split(&bed.sandbox, &repository, TESTS, Some(&wanted), None).unwrap();
        if passed(&apart) > 0 && apart.broken.is_none() {
            forged.push((cheat.name.clone(), passed(&apart), wanted.len()));
        }
    }
    assert!(forgers > 25, "{forgers}");
    assert_eq!(forged, Vec::new());
}
