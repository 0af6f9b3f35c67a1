//! The tool environment on the real sandbox: what each tool shows, what it refuses, and what it never shows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value as Json, json};
use veriplay_core::{Evidence, Execute, Fuzz, Job, Limits, Status, TextFiles};
use veriplay_tests::assert_each;
use veriplay_verifier::bugs::tool_env::{
    CallEnd, DefaultTests, GradeRequest, RepoToolOutcome, RepoToolRequest, SolverView, ViewRequest, changed_function,
    grade_all, list_functions, repair_of, serve_tool_call, solver_view,
};
use veriplay_verifier::bugs::{BugArtifact, BugRules, RepairRequest, validate_bug};

use super::{Bed, CODE, TESTS, TOOL_ENV, bed, replaced};
use crate::hosts::Host;

/// What a call comes to in `tree`, where a run without names is of the affected tests.
pub(super) fn served(bed: &Bed, tree: &TextFiles, call: Json) -> RepoToolOutcome {
    served_with(bed, tree, call, |_| ())
}

/// The same for a request that is changed before.
fn served_with(
    bed: &Bed,
    tree: &TextFiles,
    call: Json,
    change: impl FnOnce(&mut RepoToolRequest<'_>),
) -> RepoToolOutcome {
    let (repo, call, suite) = (bed.repo(), serde_json::from_value(call).unwrap(), &DefaultTests::Affected);
    let (fuel, shown_chars) = (60_000_000_000, 4000);
    let mut request =
        RepoToolRequest { repo: &repo, image: TOOL_ENV, tree, suite, call: &call, fuel, shown_chars, seed: 1 };
    change(&mut request);
    serve_tool_call(&bed.sandbox, &request).unwrap()
}

/// What the solver of a bug gets, whose tests `hidden` are shown nowhere.
pub(super) fn viewed(execute: &dyn Execute, bed: &Bed, artifact: &BugArtifact, hidden: &[&str]) -> SolverView {
    let hidden: BTreeSet<String> = hidden.iter().map(|test| format!("{TESTS}::{test}")).collect();
    let request = ViewRequest { repo: &bed.repo(), artifact, hidden: &hidden, with_function: true };
    solver_view(execute, &request).unwrap()
}

#[test]
fn tools_that_look_see_the_tree_and_not_what_lies_below_it() {
    let Some(bed) = bed() else { return };
    let tree = bed.weakened(bed.artifact());
    let shown = |call| served(bed, &tree, call).shown;
    let read =
        |path: &str, first: usize, last: usize| shown(json!({"read": {"path": path, "first": first, "last": last}}));
    let search = |path: &str, pattern: &str, expression: bool| {
        shown(json!({"search": {"path": path, "pattern": pattern, "expression": expression}}))
    };
    let all = served(bed, &tree, json!({"list": {"path": ""}}));
    assert_eq!(all.end, CallEnd::Done);
    assert!(all.shown.lines().any(|line| line == CODE) && all.shown.lines().any(|line| line == TESTS), "{}", all.shown);
    assert!(shown(json!({"list": {"path": "src"}})).lines().all(|line| line.starts_with("src/")));
    let code = read(CODE, 1, 1000);
    assert!(code.contains(": def total(numbers):") && code.contains(":     result = 1"), "{code}");
    assert!(!code.contains("result = 0"), "the bug lies over the original");
    let part = read(CODE, 2, 3);
    assert!(part.starts_with("2: \n3: \n(the file has "), "{part}");
    assert!(!read(TESTS, 1, 1000).contains("numbers()) == 6"), "the weakened test is gone");
    assert_eq!(search("", "numbers()) == 6", false), "Nothing was found.");
    let found = search("src", "result = 1", false);
    assert!(found.starts_with(&format!("{CODE}:")) && found.lines().count() == 1, "{found}");
    assert_eq!(search("src", "result *= *[0-9]", true), found);
    let mut without = tree.clone();
    without.remove("src/tally/names.py");
    let left = served(bed, &without, json!({"list": {"path": ""}})).shown;
    assert!(!left.contains("src/tally/names.py"), "a deleted file is gone");
}

/// A line of the file is a call and why it is refused, in a tree that has an empty module and some text more, and lacks a test file.
#[test]
fn what_cannot_be_looked_at_or_changed_is_refused_in_words() {
    let Some(bed) = bed() else { return };
    let mut tree = bed.texts.clone();
    tree.remove("tests/test_names.py");
    for (path, text) in [("setup.txt", "aaa"), ("pyproject.toml", "x = 1\n"), ("src/tally/own.py", "")] {
        tree.insert(path.to_owned(), text.to_owned());
    }
    for line in include_str!("refused_calls.jsonl").lines() {
        let (call, why): (Json, String) = serde_json::from_str(line).unwrap();
        let RepoToolOutcome { end, shown, edited, .. } = served(bed, &tree, call);
        assert_eq!((end, edited), (CallEnd::Refused, None), "{line}");
        assert!(shown.starts_with("Refused: ") && shown.contains(&why), "{line}: {shown}");
    }
}

#[test]
fn a_hostile_pattern_ends_by_fuel_and_what_is_shown_is_bounded() {
    let Some(bed) = bed() else { return };
    let mut tree = bed.texts.clone();
    tree.insert("src/tally/long.py".to_owned(), format!("# {}!\n", "a".repeat(60)));
    let hostile = json!({"search": {"path": "src/tally/long.py", "pattern": "(a|a|aa)+$", "expression": true}});
    let outcome = served_with(bed, &tree, hostile, |request| request.fuel = 2_000_000_000);
    assert_eq!(outcome.end, CallEnd::Stopped(Status::FuelExceeded), "{}", outcome.shown);
    assert!(outcome.evidence.fuel >= 2_000_000_000);
    let long = json!({"read": {"path": CODE, "first": 1, "last": 1000}});
    let short = served_with(bed, &tree, long, |request| request.shown_chars = 60).shown;
    assert!(short.contains('…') && short.chars().count() < 110, "{short}");
}

fn edited(bed: &Bed, tree: &TextFiles, path: &str, old: &str, new: &str) -> Option<String> {
    let outcome = served(bed, tree, json!({"edit": {"path": path, "old": old, "new": new}}));
    let (changed, text) = outcome.edited?;
    assert_eq!((outcome.end, changed.as_str()), (CallEnd::Done, path));
    text
}

#[test]
fn an_edit_is_exact_and_keeps_the_line_ends_of_its_file() {
    let Some(bed) = bed() else { return };
    let text = edited(bed, &bed.texts, CODE, "    result = 0\n", "    result = 5\n");
    assert_eq!(text.as_ref(), bed.with(CODE, "result = 0", "result = 5").get(CODE));
    let mut tree = bed.texts.clone();
    let (carriage, mixed) = ("a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\r\nb = 2\nc = 3\r\n");
    tree.insert("carriage.py".to_owned(), carriage.to_owned());
    tree.insert("mixed.py".to_owned(), mixed.to_owned());
    let text = |path, old, new| edited(bed, &tree, path, old, new);
    let want = Some("a = 1\r\nd = 4\r\ne = 5\r\nc = 3\r\n".to_owned());
    assert_eq!(text("carriage.py", "b = 2\n", "d = 4\ne = 5\n"), want);
    assert_eq!(text("carriage.py", "b = 2\r\n", "d = 4\r\ne = 5\r\n"), want);
    assert_eq!(text("mixed.py", "a = 1\n", "d = 4\n"), None, "which ends are meant is not to be guessed");
    assert_eq!(text("mixed.py", "b = 2\n", "d = 4\n"), Some(mixed.replace("b = 2", "d = 4")));
}

#[test]
fn tests_run_weakened_and_a_hidden_one_is_as_unknown_as_one_that_never_was() {
    static SUITE: LazyLock<DefaultTests> = LazyLock::new(|| DefaultTests::Files(vec![TESTS.to_owned()]));
    let Some(bed) = bed() else { return };
    let seen = viewed(&bed.sandbox, bed, bed.artifact(), &["test_total_of_ones"]);
    assert_each(seen.hidden.iter(), [&format!("{TESTS}::test_total_of_ones")]);
    let spec = seen.spec.to_string();
    assert!(spec.contains("+def test_total():") && !spec.contains("test_total_of_ones"), "{spec}");
    assert_eq!(seen.test_files, [TESTS]);
    assert!(!seen.tree[TESTS].contains("test_total_of_ones"));
    let (original, buggy) = seen.function.clone().unwrap();
    assert_eq!((original.name.as_str(), buggy.source.contains("result = 1")), ("total", true));
    let shown = |tests: &[String]| {
        served_with(bed, &seen.tree, json!({"run": {"tests": tests}}), |request| request.suite = &SUITE).shown
    };
    let [gone, never] = ["test_total_of_ones", "x"].map(|name| shown(&[format!("{TESTS}::{name}")]));
    assert_eq!(gone.replace("test_total_of_ones", "x"), never);
    let all = shown(&[]);
    assert!(!all.contains("test_total_of_ones") && !all.contains("test_total "), "{all}");
    assert!(all.ends_with(" did not.") || all.contains("Failed:"), "{all}");
    assert_eq!(shown(&[format!("{TESTS}::test_amount")]), "1 passed, 0 did not.");
}

#[test]
fn a_failing_test_is_told_with_its_reason_and_an_injector_runs_what_it_affects() {
    let Some(bed) = bed() else { return };
    let ran = |new: &str, fuel| {
        let tree = bed.with(CODE, "    result = 0\n", new);
        served_with(bed, &tree, json!({"run": {"tests": []}}), |request| request.fuel = fuel)
    };
    let shown = ran("    result = 1\n", 60_000_000_000).shown;
    assert!(shown.contains(&format!("{TESTS}::test_total Failed: AssertionError")), "{shown}");
    assert!(shown.contains("3.5 != 3") && !shown.contains("test_label"), "{shown}");
    let broken = ran("    result = (\n", 60_000_000_000);
    assert!(broken.shown.contains("No test of") && broken.evidence.fuel > 0, "{}", broken.shown);
    let loops = ran("    result = 0\n    while True:\n        pass\n", 3_000_000_000);
    assert!(loops.evidence.fuel >= 3_000_000_000 && loops.shown.contains("Fuel"), "{}", loops.shown);
}

fn run_of_mean() -> Json {
    json!({"run": {"tests": [format!("{TESTS}::MeanTests::test_mean")]}})
}

/// The attack that the second image is for: code under test looks for the original's sources in the memory of the image.
#[test]
fn the_original_is_not_in_the_memory_of_a_tool_env() {
    let Some(bed) = bed() else { return };
    let thief = "    import importlib.machinery\n    kept = getattr(importlib.machinery.SourceFileLoader, \
                 '_veriplay_compiled', {})\n    raise ValueError([data for path, data in kept if b'result = 0' in data or \
                 b'numbers()) == 6' in data] or 'nothing')\n";
    let tree = replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", thief);
    let [stolen, kept] =
        ["python", TOOL_ENV].map(|image| served_with(bed, &tree, run_of_mean(), |request| request.image = image).shown);
    assert!(stolen.contains("Sums."), "the image repairs are graded in does hold it: {stolen}");
    assert!(kept.contains("nothing") && !kept.contains("Sums."), "{kept}");
}

/// Takes files away in every way there is, and then looks for two texts in all files there are.
const THIEF: &str = include_str!("thief.py.txt");

/// The tree's files lie over the layer's, and taking them away must not show what is below.
#[test]
fn no_way_of_moving_files_shows_what_lies_below_the_tree() {
    let Some(bed) = bed() else { return };
    let mut tree = replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", THIEF);
    let hidden = served(bed, &tree, run_of_mean()).shown;
    assert!(hidden.contains("('seen', [])"), "{hidden}");
    // A file that is not changed is the layer's own, and is found: the thief works.
    tree.insert("src/tally/copy.py".to_owned(), "# numbers()) == 6\n".to_owned());
    let told = served(bed, &tree, run_of_mean()).shown;
    assert!(told.contains("copy.py"), "{told}");
}

#[test]
fn the_patch_of_a_solver_has_no_tests_in_it_and_equal_patches_are_graded_alike() {
    let Some(bed) = bed() else { return };
    let (artifact, repo) = (bed.artifact(), bed.repo());
    let handed = bed.weakened(artifact);
    let mut now = replaced(&handed, CODE, "    result = 1\n", "    result = 0\n");
    now.insert(TESTS.to_owned(), "def test_total():\n    assert True\n".to_owned());
    let patch = repair_of(&repo, &handed, &now).unwrap();
    assert_eq!(patch.touched().map(|(path, _)| path).collect::<Vec<_>>(), [CODE]);
    let right = patch.to_string();
    let none = repair_of(&repo, &handed, &bed.texts).unwrap().to_string();
    assert_eq!(none, right, "tests are no part of it");
    let repair = |patch| RepairRequest { artifact, patch, fuzz: Fuzz::NONE, seed: 3 };
    let requests =
        [right.as_str(), "", right.as_str()].map(|patch| GradeRequest { repo: &repo, repair: repair(patch) });
    let graded = grade_all(&bed.sandbox, &requests).into_iter().map(|verdict| verdict.unwrap().status);
    assert_each(graded, [Status::Accepted, Status::WrongAnswer, Status::Accepted]);
}

#[test]
fn functions_are_found_whole_replaced_and_emptied() {
    let Some(bed) = bed() else { return };
    let repo = bed.repo();
    let text = include_str!("functions.py.txt");
    let mut texts = bed.texts.clone();
    texts.insert("src/tally/sample.py".to_owned(), text.to_owned());
    let found = list_functions(&bed.sandbox, &repo, &texts, "src/tally/sample.py").unwrap();
    let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["A.f", "A.g", "h"]);
    let f = &found[0];
    assert_eq!(f.source, "@property\ndef f(self):\n    \"\"\"Says.\"\"\"\n    return (\n        1\n    )");
    assert_eq!(f.replaced(text, &f.source).unwrap(), text);
    let changed = f.replaced(text, "def f(self):\n    return 3\n").unwrap();
    assert!(changed.contains("class A:\n    def f(self):\n        return 3\n\n    def g"), "{changed}");
    assert!(f.emptied(text).unwrap().contains("\"\"\"Says.\"\"\"\n        raise NotImplementedError\n\n    def g"));
    assert_eq!(found[1].emptied(text), None, "it shares its line with its head");
    let mut now = texts.clone();
    let one = text.replace("return text", "return 0");
    now.insert("src/tally/sample.py".to_owned(), one.clone());
    let (_, changed) = changed_function(&bed.sandbox, &repo, &texts, &now).unwrap().unwrap();
    assert_eq!(changed.name, "h");
    now.insert("src/tally/sample.py".to_owned(), one.replace("return 2", "return 3"));
    assert_eq!(changed_function(&bed.sandbox, &repo, &texts, &now).unwrap(), None, "two functions are not one");
}

#[test]
fn a_text_that_stops_the_parser_refuses_a_bug_and_drops_no_solver() {
    let Some(bed) = bed() else { return };
    // The bed's sandbox, in which the parser that finds functions and takes tests out uses up its fuel on any text.
    let stops = Host(|job: &Job| {
        // The scan of changes has a function of that name, too.
        let has = |start: &str| job.program.contains(start);
        let parses = (has("def weaken(") || has("def functions(")) && !has("def machinery(");
        let fuel = if parses { 1000 } else { job.limits.fuel };
        bed.sandbox.execute(&Job { limits: Limits { fuel, ..job.limits }, ..job.clone() })
    });
    let validated = validate_bug(&stops, &bed.repo(), &bed.proposal(), &BugRules::LEAST).unwrap();
    let Evidence { rule, detail, .. } = validated.verdict.evidence;
    assert!(rule == "hidden" && detail.contains(&format!("`{TESTS}` cannot be parsed")), "{rule}: {detail}");
    let seen = viewed(&stops, bed, bed.artifact(), &["test_total_of_ones"]);
    assert!(seen.hidden.is_empty() && seen.function.is_none() && seen.spec.to_string().contains("test_total"));
}

#[test]
fn a_bug_that_does_not_fit_the_repository_is_a_fault_of_the_host() {
    let Some(bed) = bed() else { return };
    let mut artifact: BugArtifact = bed.artifact().clone();
    artifact.bug.bug_inject = artifact.bug.bug_inject.reverse();
    let (repo, hidden) = (bed.repo(), BTreeSet::new());
    let request = ViewRequest { repo: &repo, artifact: &artifact, hidden: &hidden, with_function: false };
    assert!(solver_view(&bed.sandbox, &request).is_err());
}
