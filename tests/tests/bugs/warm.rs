//! An image in which pytest is imported comes to the same records as one where each job imports it, for a small part of the fuel.

use veriplay_core::{Execute, Layer};
use veriplay_sandbox::{Sandbox, SandboxOptions};
use veriplay_tests::python_image;
use veriplay_verifier::repository::{FileRun, Repository, TestResult, run_file, run_tests};

use super::{Bed, CODE, TESTS, bed, corpus, files_under, pytest};

/// The bed, whose image is warm, and a sandbox on the plain one.
fn warm_and_cold() -> Option<(&'static Bed, Sandbox)> {
    let bed = bed()?;
    let layers = [pytest()?, Layer::new(files_under(&corpus().join("repository"), "")).unwrap()];
    let sandbox = Sandbox::new(python_image(), SandboxOptions::fastest());
    Some((bed, sandbox.with_layers(layers.into_iter().collect())))
}

fn run(bed: &Bed, execute: &dyn Execute, files: &[(String, Vec<u8>)], file: &str) -> FileRun {
    let own = ["tally".to_owned()];
    run_file(execute, &Repository { max_jobs: 40, ..bed.repository(&own, files) }, file).unwrap()
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
    let (own, ids) = (["tally".to_owned()], [format!("{TESTS}::test_total")]);
    let one = run_tests(&bed.sandbox, &bed.repository(&own, &[]), TESTS, &ids).unwrap();
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
