//! Each check rejects a bug that every other check lets through; and what a verdict's runs of tests may burn.

use std::collections::BTreeSet;
use std::sync::Mutex;

use veriplay_core::{Execute, Fuzz, Job, Patch, REFERENCE_RULE, Status, TextFiles, Trust};
use veriplay_verifier::bugs::{
    BugArtifact, BugProposal, BugRules, CHECKS, RepairRequest, RepoContext, TestCommand, check_each, grade_repair,
    validate_bug,
};
use veriplay_verifier::repository::FileBaseline;

use super::{Bed, CODE, LIMITS, TESTS, bed, ending, replaced};
use crate::hosts::Host;

/// The names of all checks that a bug fails.
pub(super) fn failed_checks(bed: &Bed, bug: &BugProposal, rules: &BugRules) -> Vec<&'static str> {
    let found = check_each(&bed.sandbox, &bed.repo(), bug, rules).unwrap();
    assert_eq!(found.len(), CHECKS.len());
    found.into_iter().filter_map(|(name, why)| why.map(|_| name)).collect()
}

fn with_code(bed: &Bed, now: &TextFiles) -> BugProposal {
    BugProposal { bug_inject: bed.patch(now), ..bed.proposal() }
}

fn with_weakening(bed: &Bed, now: &TextFiles) -> BugProposal {
    BugProposal { test_weaken: bed.patch(now), ..bed.proposal() }
}

#[test]
fn the_bug_of_these_tests_passes_every_check() {
    let Some(bed) = bed() else { return };
    assert_eq!(failed_checks(bed, &bed.proposal(), &BugRules::LEAST), [""; 0]);
    let artifact = bed.artifact();
    assert_eq!(artifact.fail_to_pass.len() + artifact.pass_to_pass.len(), bed.map.tests().count());
    let text = serde_json::to_string(&artifact).unwrap();
    assert_eq!(serde_json::from_str::<BugArtifact>(&text).unwrap(), *artifact);
}

#[test]
fn each_check_rejects_a_bug_that_no_other_does() {
    let Some(bed) = bed() else { return };
    let (bug, least) = (bed.proposal(), BugRules::LEAST);
    let code = |new: &str| with_code(bed, &bed.with(CODE, "    result = 0\n", new));
    let buggy = bug.bug_inject.apply(&bed.texts).unwrap();
    let weak = bug.test_weaken.apply(&bed.texts).unwrap();
    let names = ("    assert coin() in (True, False)\n", "    coin()\n");
    let unlisted = replaced(&weak, "tests/test_names.py", names.0, names.1);
    let breaks_another = replaced(&weak, TESTS, "            mean([])\n", "            mean([1])\n");
    let hides_nothing = bed.with(TESTS, "import unittest\n", "import unittest  # as before\n");
    let plural = ("    return unit + \"s\"\n", "    return f\"{unit}s\"\n");
    let useless = replaced(&buggy, "src/tally/names.py", plural.0, plural.1);
    let uncollected = vec![TESTS.to_owned(), "tests/test_broken.py".to_owned()];
    let cases: [(&[&str], BugProposal, BugRules); 13] = [
        (&["characters"], code("    result = 1  # \u{200b}\n"), least),
        (&["characters"], code("    r\u{435}sult = 0\n    result = 1\n"), least),
        (&["characters"], code("    result = 1\r\n"), least),
        (&["test_files"], with_weakening(bed, &unlisted), least),
        (&["records"], BugProposal { test_files: uncollected, ..bug.clone() }, least),
        (&["passing"], bug.clone(), BugRules { min_passing: 12, ..least }),
        (&["changed_files"], bug.clone(), BugRules { min_changed_files: 2, ..least }),
        (&["machinery"], code("    result = min(1, id(numbers))\n"), least),
        (&["failing"], bug.clone(), BugRules { min_failing: 11, ..least }),
        (&["hidden"], with_weakening(bed, &hides_nothing), least),
        (&["hidden"], with_weakening(bed, &breaks_another), least),
        (&["inverse"], with_code(bed, &useless), least),
        // Tests are the original's again where a repair is graded, so that nothing is left to repair.
        (&["paths", "empty_repair"], with_code(bed, &bed.with("tests/helper.py", "[1, 2, 3]", "[1, 2, 4]")), least),
    ];
    for (names, bug, rules) in &cases {
        assert_eq!(failed_checks(bed, bug, rules), *names);
        let validated = validate_bug(&bed.sandbox, &bed.repo(), bug, rules).unwrap();
        assert_eq!((ending(&validated.verdict), validated.artifact), ((Status::Invalid, names[0]), None));
    }
    let elsewhere = ["judgeable", "repeated"];
    let found: BTreeSet<&str> = cases.iter().flat_map(|(names, ..)| *names).copied().chain(elsewhere).collect();
    assert_eq!(found, CHECKS.iter().map(|check| check.name).collect());
}

#[test]
fn a_bug_without_a_failing_test_accepts_no_patch() {
    let Some(bed) = bed() else { return };
    let artifact = BugArtifact { fail_to_pass: Vec::new(), ..bed.artifact().clone() };
    for patch in [String::new(), artifact.bug.bug_inject.reverse().to_string()] {
        let verdict = bed.graded_text(Trust::Shared, &artifact, &patch);
        assert_eq!(ending(&verdict), (Status::Unjudgeable, REFERENCE_RULE));
    }
}

#[test]
fn a_test_command_costs_no_run() {
    let Some(bed) = bed() else { return };
    let command = TestCommand::parse("pytest tests/test_core.py tests/test_steps.py").unwrap();
    let [with, without] = [Some(command), None].map(|test_command| {
        let bug = BugProposal { test_command, ..bed.proposal() };
        let verdict = bed.validated(Trust::Shared, &bug).verdict;
        assert_eq!(verdict.status, Status::Valid, "{verdict:?}");
        verdict.evidence.jobs
    });
    assert_eq!(with, without);
}

/// The baselines of a file that skips itself, and of two that do not: their errors are no reasons to skip.
#[test]
fn a_test_command_may_run_a_file_that_skips_itself_and_no_other_without_records() {
    let Some(bed) = bed() else { return };
    let rule = |broken: &str, command: &str| {
        let (path, mut baseline) = ("tests/test_optional.py".to_owned(), bed.baseline.clone());
        baseline.files.push(FileBaseline { path, broken: Some(broken.to_owned()), ..FileBaseline::default() });
        let repo = RepoContext { baseline: &baseline, ..bed.repo() };
        let bug = BugProposal { test_command: Some(TestCommand::parse(command).unwrap()), ..bed.proposal() };
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
fn a_bug_by_chance_fails_the_repetition_alone() {
    let Some(bed) = bed() else { return };
    let now = bed.with(CODE, "    result = 0\n", "    from tally.names import coin\n\n    result = int(coin())\n");
    let bug = with_code(bed, &now);
    // By some seeds the coins fall alike, or none fails; by others they do not.
    let mut rules = (1..8).map(|seed| BugRules { seeds: [seed, seed + 100], ..BugRules::LEAST });
    let rule = |rules: &BugRules| validate_bug(&bed.sandbox, &bed.repo(), &bug, rules).unwrap().verdict.evidence.rule;
    let told = rules.find(|rules| rule(rules) == "repeated").expect("seven pairs of coins do not all fall alike");
    let failed = failed_checks(bed, &bug, &told);
    assert!(failed.contains(&"repeated"), "{failed:?}");
    assert!(!failed.contains(&"failing") && !failed.contains(&"machinery"), "{failed:?}");
}

/// By its own encoding the file is Python, and as the text that a solver is shown it is none.
#[test]
fn a_weakening_that_no_parser_can_read_fails_f() {
    let Some(bed) = bed() else { return };
    for text in ["# coding: utf-7\nx = +ACI-y+ACI-\n", "def test_total(:\n", "x = 0\n\0"] {
        let mut weak = bed.texts.clone();
        weak.insert(TESTS.to_owned(), text.to_owned());
        let evidence = bed.validated(Trust::Shared, &with_weakening(bed, &weak)).verdict.evidence;
        assert!(evidence.rule == "hidden" && evidence.detail.contains("cannot be parsed"), "{text}: {evidence:?}");
    }
}

#[test]
fn patches_that_do_not_apply_are_no_bug() {
    let Some(bed) = bed() else { return };
    let bug = BugProposal { bug_inject: bed.proposal().bug_inject.reverse(), ..bed.proposal() };
    assert_eq!(bed.validated(Trust::Shared, &bug).verdict.evidence.rule, "applies");
}

#[test]
fn a_failed_repair_makes_a_second_order_bug_that_its_reverse_repairs() {
    let Some(bed) = bed() else { return };
    let first = bed.proposal();
    let buggy = first.bug_inject.apply(&bed.texts).unwrap();
    let failed = replaced(&buggy, CODE, "    result = 1\n", "    result = 2\n");
    let bug = BugProposal { failed_repairs: vec![Patch::make(&buggy, &failed).unwrap()], ..first };
    assert_eq!(bug.order(), 2);
    let artifact = bed.valid(Trust::Shared, &bug);
    let repair = Patch::make(&failed, &bed.texts).unwrap().to_string();
    for (patch, status) in [(repair.as_str(), Status::Accepted), ("", Status::WrongAnswer)] {
        assert_eq!(bed.graded_text(Trust::Shared, &artifact, patch).status, status);
    }
}

/// A few slow tests can be most of a file: a share of its fuel by their number refused a right repair.
#[test]
fn tests_asked_for_by_name_may_burn_what_their_whole_file_does() {
    let Some(bed) = bed() else { return };
    let (mut baseline, mut map, slow) = (bed.baseline.clone(), bed.map.clone(), LIMITS.fuel / 2);
    for file in &mut baseline.files {
        file.fuel = slow;
        file.passed.extend((0..100).map(|i| format!("{}::test_quick_{i}", file.path)));
    }
    map.files.iter_mut().for_each(|file| file.split_fuel = slow);
    let asked = Mutex::new(Vec::new());
    let host = Host(|job: &Job| {
        asked.lock().unwrap().push(job.limits.fuel);
        bed.sandbox.execute(job)
    });
    let patch = bed.artifact().bug.bug_inject.reverse().to_string();
    let request = RepairRequest { artifact: bed.artifact(), patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
    let repo = RepoContext { baseline: &baseline, map: &map, ..bed.repo() };
    let verdict = grade_repair(&host, &repo, &request).unwrap();
    assert_eq!(verdict.status, Status::Accepted, "{verdict:?}");
    let asked = asked.into_inner().unwrap();
    assert!(!asked.is_empty() && asked.iter().all(|fuel| (slow..=LIMITS.fuel).contains(fuel)), "{asked:?} for {slow}");
}
