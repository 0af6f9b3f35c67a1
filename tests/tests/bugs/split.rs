//! Tests in one instance and the package in another: which can be judged so, and that code which forges every record beside
//! pytest forges none from there. The scan has no part in it.

use veriplay_core::{Status, Trust};
use veriplay_verifier::repository::{FileRun, TestResult, run_split, run_tests};

use super::cheats::cheats;
use super::{CODE, TESTS, bed, ending};

fn passed(run: &FileRun) -> usize {
    run.tests.iter().filter(|test| test.result == TestResult::Passed).count()
}

#[test]
fn a_test_is_split_when_plain_values_are_all_it_needs_of_the_package() {
    let Some(bed) = bed() else { return };
    let is_split = |id: &str| bed.map.files.iter().any(|file| file.split.iter().any(|other| other == id));
    for id in ["test_core.py::test_total", "test_core.py::MeanTests::test_mean_of_nothing", "test_names.py::test_label"]
    {
        assert!(is_split(&format!("tests/{id}")), "{id}");
    }
    for id in ["test_core.py::test_amount", "test_steps.py::test_step", "test_trace.py::test_read_and_write"] {
        assert!(!is_split(&format!("tests/{id}")), "{id}");
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
    let own = vec!["tally".to_owned()];
    let (mut forgers, mut forged) = (0, Vec::new());
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
