//! Each check rejects a bug that every other check lets through.

use veriplay_core::{Patch, REFERENCE_RULE, Status, TextFiles};
use veriplay_verifier::bugs::{
    BugArtifact, BugProposal, BugRules, CHECKS, RepoContext, TestCommand, check_each, validate_bug,
};
use veriplay_verifier::repository::FileBaseline;

use super::{Bed, CODE, TESTS, bed, replaced};

/// Asserts that `bug` fails the check of that name and no other.
fn only(bed: &Bed, bug: &BugProposal, rules: &BugRules, name: &str) {
    let found = check_each(&bed.sandbox, &bed.repo(), bug, rules).unwrap();
    let failed: Vec<&(&str, Option<String>)> = found.iter().filter(|(_, why)| why.is_some()).collect();
    assert_eq!(failed.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [name], "{failed:?}");
    let validated = validate_bug(&bed.sandbox, &bed.repo(), bug, rules).unwrap();
    assert_eq!((validated.verdict.status, validated.verdict.evidence.rule.as_str()), (Status::Invalid, name));
    assert!(validated.artifact.is_none());
}

fn with_code(bed: &Bed, now: &TextFiles) -> BugProposal {
    BugProposal { bug_inject: bed.patch(now), ..bed.proposal() }
}

#[test]
fn the_bug_of_these_tests_passes_every_check() {
    let Some(bed) = bed() else { return };
    let found = check_each(&bed.sandbox, &bed.repo(), &bed.proposal(), &BugRules::LEAST).unwrap();
    assert_eq!(found.len(), CHECKS.len());
    assert!(found.iter().all(|(_, why)| why.is_none()), "{found:?}");
    let artifact = bed.artifact();
    let all: usize = bed.map.tests().count();
    assert_eq!(artifact.fail_to_pass.len() + artifact.pass_to_pass.len(), all);
    let text = serde_json::to_string(&artifact).unwrap();
    assert_eq!(serde_json::from_str::<BugArtifact>(&text).unwrap(), *artifact);
}

#[test]
fn a_bug_in_what_belongs_to_the_tests_fails_paths() {
    let Some(bed) = bed() else { return };
    let now = bed.with("tests/helper.py", "[1, 2, 3]", "[1, 2, 4]");
    let bug = with_code(bed, &now);
    let found = check_each(&bed.sandbox, &bed.repo(), &bug, &BugRules::LEAST).unwrap();
    let failed: Vec<&str> = found.iter().filter(|(_, why)| why.is_some()).map(|(name, _)| *name).collect();
    // Tests are the original's again where a repair is graded, so that nothing is left to repair.
    assert_eq!(failed, ["paths", "empty_repair"]);
}

#[test]
fn a_bug_that_nobody_can_see_fails_the_characters_alone() {
    let Some(bed) = bed() else { return };
    let changes = ["result = 1  # \u{200b}\n", "r\u{435}sult = 0\n    result = 1\n", "result = 1\r\n"];
    for change in changes {
        let now = bed.with(CODE, "result = 0\n", change);
        only(bed, &with_code(bed, &now), &BugRules::LEAST, "characters");
    }
}

#[test]
fn a_bug_without_a_failing_test_accepts_no_patch() {
    let Some(bed) = bed() else { return };
    let artifact = BugArtifact { fail_to_pass: Vec::new(), ..bed.artifact().clone() };
    for patch in [String::new(), artifact.bug.bug_inject.reverse().to_string()] {
        let verdict = bed.graded_text(&artifact, &patch);
        assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::Unjudgeable, REFERENCE_RULE));
    }
}

#[test]
fn a_weakening_of_a_file_that_is_not_listed_fails_a_alone() {
    let Some(bed) = bed() else { return };
    let both = replaced(
        &bed.proposal().test_weaken.apply(&bed.texts).unwrap(),
        "tests/test_names.py",
        "    assert coin() in (True, False)\n",
        "    coin()\n",
    );
    only(bed, &BugProposal { test_weaken: bed.patch(&both), ..bed.proposal() }, &BugRules::LEAST, "test_files");
}

#[test]
fn a_listed_file_that_cannot_be_collected_fails_b_alone() {
    let Some(bed) = bed() else { return };
    let test_files = vec![TESTS.to_owned(), "tests/test_broken.py".to_owned()];
    only(bed, &BugProposal { test_files, ..bed.proposal() }, &BugRules::LEAST, "records");
}

#[test]
fn a_test_command_costs_no_run() {
    let Some(bed) = bed() else { return };
    let command = TestCommand::parse("pytest tests/test_core.py tests/test_steps.py").unwrap();
    let jobs = |test_command: Option<TestCommand>| {
        let bug = BugProposal { test_command, ..bed.proposal() };
        let validated = validate_bug(&bed.sandbox, &bed.repo(), &bug, &BugRules::LEAST).unwrap();
        assert_eq!(validated.verdict.status, Status::Valid, "{:?}", validated.verdict);
        validated.verdict.evidence.jobs
    };
    assert_eq!(jobs(Some(command)), jobs(None));
}

/// The baselines of a file that skips itself, and of two that do not: their errors are no reasons to skip.
#[test]
fn a_test_command_may_run_a_file_that_skips_itself_and_no_other_without_records() {
    let Some(bed) = bed() else { return };
    let rule = |broken: &str, command: &str| {
        let mut baseline = bed.baseline.clone();
        baseline.files.push(FileBaseline {
            path: "tests/test_optional.py".to_owned(),
            passed: Vec::new(),
            unsupported: Vec::new(),
            broken: Some(broken.to_owned()),
            fuel: 0,
        });
        let repo = RepoContext { baseline: &baseline, ..bed.repo() };
        let test_command = Some(TestCommand::parse(command).unwrap());
        let bug = BugProposal { test_command, ..bed.proposal() };
        validate_bug(&bed.sandbox, &repo, &bug, &BugRules::LEAST).unwrap().verdict.evidence.rule
    };
    let skipped = "skipped: Skipped: could not import 'lxml'";
    let listed = "pytest tests/test_core.py tests/test_steps.py tests/test_optional.py";
    let all = "pytest tests --ignore tests/test_broken.py";
    for command in [listed, all] {
        assert_eq!(rule(skipped, command), "", "{command}");
        for broken in ["no module 'lxml'", "in the second run: skipped: Skipped: by chance", "Skipped: no"] {
            assert_eq!(rule(broken, command), "passing", "{command}: {broken}");
        }
    }
    for nothing_runs in ["pytest tests/test_optional.py", "pytest tests/test_core.py tests/test_optional.py::test_x"] {
        assert_eq!(rule(skipped, nothing_runs), "passing", "{nothing_runs}");
    }
}

#[test]
fn too_few_passing_tests_fail_c_alone() {
    let Some(bed) = bed() else { return };
    only(bed, &bed.proposal(), &BugRules { min_passing: 12, ..BugRules::LEAST }, "passing");
}

#[test]
fn too_few_changed_files_fail_d_alone() {
    let Some(bed) = bed() else { return };
    only(bed, &bed.proposal(), &BugRules { min_changed_files: 2, ..BugRules::LEAST }, "changed_files");
}

#[test]
fn a_bug_that_looks_at_an_address_fails_the_scan_alone() {
    let Some(bed) = bed() else { return };
    let now = bed.with(CODE, "    result = 0\n", "    result = min(1, id(numbers))\n");
    only(bed, &with_code(bed, &now), &BugRules::LEAST, "machinery");
}

#[test]
fn too_few_failing_tests_fail_e_alone() {
    let Some(bed) = bed() else { return };
    only(bed, &bed.proposal(), &BugRules { min_failing: 11, ..BugRules::LEAST }, "failing");
}

#[test]
fn a_bug_by_chance_fails_the_repetition_alone() {
    let Some(bed) = bed() else { return };
    let now = bed.with(CODE, "    result = 0\n", "    from tally.names import coin\n\n    result = int(coin())\n");
    let bug = with_code(bed, &now);
    // By some seeds the coins fall alike, or none fails; by others they do not.
    let rules = (1..8).map(|seed| BugRules { seeds: [seed, seed + 100], ..BugRules::LEAST });
    let told = |rules: &BugRules| {
        let validated = validate_bug(&bed.sandbox, &bed.repo(), &bug, rules).unwrap();
        validated.verdict.evidence.rule == "repeated"
    };
    let rules = rules.into_iter().find(told).expect("seven pairs of coins do not all fall alike");
    let found = check_each(&bed.sandbox, &bed.repo(), &bug, &rules).unwrap();
    let failed: Vec<&str> = found.iter().filter(|(_, why)| why.is_some()).map(|(name, _)| *name).collect();
    assert!(
        failed.contains(&"repeated") && !failed.contains(&"failing") && !failed.contains(&"machinery"),
        "{found:?}"
    );
}

#[test]
fn a_weakening_that_hides_nothing_fails_f_alone() {
    let Some(bed) = bed() else { return };
    let now = bed.with(TESTS, "import unittest\n", "import unittest  # as before\n");
    only(bed, &BugProposal { test_weaken: bed.patch(&now), ..bed.proposal() }, &BugRules::LEAST, "hidden");
}

#[test]
fn a_weakening_that_breaks_another_test_fails_f_too() {
    let Some(bed) = bed() else { return };
    let weak = bed.proposal().test_weaken.apply(&bed.texts).unwrap();
    let worse = replaced(&weak, TESTS, "            mean([])\n", "            mean([1])\n");
    only(bed, &BugProposal { test_weaken: bed.patch(&worse), ..bed.proposal() }, &BugRules::LEAST, "hidden");
}

/// By its own encoding the file is Python, and as the text that a solver is shown it is none.
#[test]
fn a_weakening_that_no_parser_can_read_fails_f() {
    let Some(bed) = bed() else { return };
    for text in ["# coding: utf-7\nx = +ACI-y+ACI-\n", "def test_total(:\n", "x = 0\n\0"] {
        let mut weak = bed.texts.clone();
        weak.insert(TESTS.to_owned(), text.to_owned());
        let bug = BugProposal { test_weaken: bed.patch(&weak), ..bed.proposal() };
        let evidence = validate_bug(&bed.sandbox, &bed.repo(), &bug, &BugRules::LEAST).unwrap().verdict.evidence;
        assert!(evidence.rule == "hidden" && evidence.detail.contains("cannot be parsed"), "{text}: {evidence:?}");
    }
}

#[test]
fn a_file_that_the_bug_does_not_need_fails_g_alone() {
    let Some(bed) = bed() else { return };
    let bug = bed.proposal().bug_inject.apply(&bed.texts).unwrap();
    let useless = replaced(&bug, "src/tally/names.py", "    return unit + \"s\"\n", "    return f\"{unit}s\"\n");
    only(bed, &with_code(bed, &useless), &BugRules::LEAST, "inverse");
}

#[test]
fn patches_that_do_not_apply_are_no_bug() {
    let Some(bed) = bed() else { return };
    let bug = BugProposal { bug_inject: bed.proposal().bug_inject.reverse(), ..bed.proposal() };
    let validated = validate_bug(&bed.sandbox, &bed.repo(), &bug, &BugRules::LEAST).unwrap();
    assert_eq!(validated.verdict.evidence.rule, "applies");
}

#[test]
fn a_failed_repair_makes_a_second_order_bug_that_its_reverse_repairs() {
    let Some(bed) = bed() else { return };
    let first = bed.proposal();
    let buggy = first.bug_inject.apply(&bed.texts).unwrap();
    let failed = replaced(&buggy, CODE, "    result = 1\n", "    result = 2\n");
    let bug = BugProposal { failed_repairs: vec![Patch::make(&buggy, &failed).unwrap()], ..first };
    assert_eq!(bug.order(), 2);
    let validated = validate_bug(&bed.sandbox, &bed.repo(), &bug, &BugRules::LEAST).unwrap();
    let artifact = validated.artifact.unwrap_or_else(|| panic!("{:?}", validated.verdict));
    let repair = Patch::make(&failed, &bed.texts).unwrap().to_string();
    assert_eq!(bed.graded_text(&artifact, &repair).status, Status::Accepted);
    assert_eq!(bed.graded_text(&artifact, "").status, Status::WrongAnswer);
}
