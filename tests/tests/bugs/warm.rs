//! An image in which pytest is imported comes to the same records as one where each job imports it, for a small part of the fuel.

use veriplay_core::{Digest, Layer};
use veriplay_sandbox::{Layers, Sandbox, SandboxOptions};
use veriplay_tests::python_image;
use veriplay_verifier::repository::{FileRun, PytestSettings, Repository, run_file, run_tests, warming};

use super::{CODE, LIMITS, TESTS, bed, corpus, files_under, pytest};

struct Two {
    cold: Sandbox,
    warm: Sandbox,
    pytest: Digest,
    package: Digest,
}

impl Two {
    fn new() -> Option<Self> {
        // Reports the test as skipped where there is no pytest.
        bed()?;
        let (pytest, package) = (pytest()?, Layer::new(files_under(&corpus().join("repository"), "")).unwrap());
        let digests = (pytest.digest().clone(), package.digest().clone());
        let layers: Layers = [package, pytest].into_iter().collect();
        let warm = python_image()
            .warm_up("python", &warming("python", &digests.0, &digests.1, None, &[], LIMITS), &layers)
            .unwrap();
        let sandbox = |image| Sandbox::new(image, SandboxOptions::fastest()).with_layers(layers.clone());
        Some(Self { cold: sandbox(python_image()), warm: sandbox(warm), pytest: digests.0, package: digests.1 })
    }

    fn run(&self, sandbox: &Sandbox, files: &[(String, Vec<u8>)], ids: Option<&[String]>, file: &str) -> FileRun {
        let repository = Repository {
            image: "python",
            split_image: "python",
            pytest: &self.pytest,
            package: &self.package,
            dependencies: None,
            roots: &["src".to_owned()],
            tests: &[],
            own: &["tally".to_owned()],
            settings: &PytestSettings::default(),
            files,
            without: &[],
            limits: LIMITS,
            seed: 7,
            max_jobs: 40,
        };
        match ids {
            None => run_file(sandbox, &repository, file),
            Some(ids) => run_tests(sandbox, &repository, file, ids),
        }
        .unwrap()
    }
}

#[test]
fn a_warm_start_comes_to_the_same_records_for_a_tenth_of_the_fuel() {
    let Some(two) = Two::new() else { return };
    let bug = {
        let text = std::fs::read_to_string(corpus().join("repository").join(CODE)).unwrap();
        vec![(CODE.to_owned(), text.replace("    result = 0\n", "    result = 1\n").into_bytes())]
    };
    for files in [Vec::new(), bug] {
        for file in [TESTS, "tests/test_names.py", "tests/test_trace.py", "tests/test_broken.py"] {
            let (cold, warm) = (two.run(&two.cold, &files, None, file), two.run(&two.warm, &files, None, file));
            assert_eq!((&cold.tests, &cold.broken), (&warm.tests, &warm.broken), "{file}");
            assert!(warm.fuel * 10 <= cold.fuel, "{file}: {} of {}", warm.fuel, cold.fuel);
        }
    }
}

#[test]
fn a_changed_source_is_what_runs() {
    let Some(two) = Two::new() else { return };
    let failing = |files: &[(String, Vec<u8>)]| {
        let run = two.run(&two.warm, files, None, TESTS);
        run.tests.iter().filter(|test| test.result != veriplay_verifier::repository::TestResult::Passed).count()
    };
    let broken = vec![(CODE.to_owned(), b"raise ImportError('gone')\n".to_vec())];
    assert_eq!(failing(&[]), 0);
    assert!(two.run(&two.warm, &broken, None, TESTS).broken.is_some());
    let ids = vec![format!("{TESTS}::test_total")];
    assert_eq!(two.run(&two.warm, &[], Some(&ids), TESTS).tests.len(), 1);
}

#[test]
fn hooks_of_the_repository_are_called_in_a_warm_start_as_in_a_cold_one() {
    let Some(two) = Two::new() else { return };
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
    let files = |hooks_at: &str| {
        vec![(hooks_at.to_owned(), hooks.to_vec()), ("tests/deep/test_hooks.py".to_owned(), test.to_vec())]
    };
    for hooks_at in ["conftest.py", "tests/conftest.py", "tests/deep/conftest.py"] {
        let (cold, warm) = (&two.cold, &two.warm);
        let run = |sandbox| two.run(sandbox, &files(hooks_at), None, "tests/deep/test_hooks.py");
        let (cold, warm) = (run(cold), run(warm));
        assert_eq!((&cold.tests, &cold.broken), (&warm.tests, &warm.broken), "{hooks_at}");
        assert_eq!(cold.tests[1].id, "tests/deep/test_hooks.py::test_one", "{hooks_at}");
        assert_eq!(cold.tests[1].result, veriplay_verifier::repository::TestResult::Passed, "{hooks_at}");
    }
}
