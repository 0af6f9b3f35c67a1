//! The tool environment on the real sandbox: what each tool shows, what it refuses, and what it never shows.

use std::collections::BTreeSet;

use veriplay_core::{Evidence, Execute, ExecuteError, Fuzz, Job, Limits, Outcome, Status, TextFiles};
use veriplay_sandbox::OutcomeCache;
use veriplay_verifier::bugs::tool_env::{
    CallEnd, DefaultTests, GradeRequest, RepoToolCall, RepoToolOutcome, RepoToolRequest, ViewRequest, changed_function,
    grade_all, list_functions, repair_of, serve_tool_call, solver_view,
};
use veriplay_verifier::bugs::{BugArtifact, BugRules, RepairRequest, RepoContext, validate_bug};

use super::{Bed, CODE, Images, TESTS, TOOL_ENV, bed, replaced};

static AFFECTED: DefaultTests = DefaultTests::Affected;

fn asking<'a>(repo: &'a RepoContext<'a>, tree: &'a TextFiles, call: &'a RepoToolCall) -> RepoToolRequest<'a> {
    let (suite, fuel, shown_chars) = (&AFFECTED, 60_000_000_000, 4000);
    RepoToolRequest { repo, image: TOOL_ENV, tree, suite, call, fuel, shown_chars, seed: 1 }
}

/// What a call comes to in `tree`, where a run without names is of the affected tests.
pub(super) fn served(bed: &Bed, tree: &TextFiles, call: &RepoToolCall) -> RepoToolOutcome {
    serve_tool_call(&bed.sandbox, &asking(&bed.repo(), tree, call)).unwrap()
}

/// Asserts that a call was refused for this reason, and changed nothing.
pub(super) fn refused(outcome: &RepoToolOutcome, why: &str) {
    assert_eq!((outcome.end, &outcome.edited), (CallEnd::Refused, &None), "{why}");
    assert!(outcome.shown.starts_with("Refused: ") && outcome.shown.contains(why), "{why}: {}", outcome.shown);
}

fn list(path: &str) -> RepoToolCall {
    RepoToolCall::List { path: path.to_owned() }
}

fn read(path: &str, first: usize, last: usize) -> RepoToolCall {
    RepoToolCall::Read { path: path.to_owned(), first, last }
}

fn search(path: &str, pattern: &str, expression: bool) -> RepoToolCall {
    RepoToolCall::Search { path: path.to_owned(), pattern: pattern.to_owned(), expression }
}

fn edit(path: &str, old: &str, new: &str) -> RepoToolCall {
    RepoToolCall::Edit { path: path.to_owned(), old: old.to_owned(), new: new.to_owned() }
}

fn run(tests: &[&str]) -> RepoToolCall {
    RepoToolCall::Run { tests: tests.iter().map(|test| (*test).to_owned()).collect() }
}

#[test]
fn tools_that_look_see_the_tree_and_not_what_lies_below_it() {
    let Some(bed) = bed() else { return };
    let tree = bed.weakened(bed.artifact());
    let shown = |call: &RepoToolCall| served(bed, &tree, call);
    let all = shown(&list(""));
    assert_eq!(all.end, CallEnd::Done);
    assert!(all.shown.lines().any(|line| line == CODE) && all.shown.lines().any(|line| line == TESTS), "{}", all.shown);
    assert!(shown(&list("src")).shown.lines().all(|line| line.starts_with("src/")));
    let code = shown(&read(CODE, 1, 1000)).shown;
    assert!(code.contains(": def total(numbers):") && code.contains(":     result = 1"), "{code}");
    assert!(!code.contains("result = 0"), "the bug lies over the original");
    let part = shown(&read(CODE, 2, 3)).shown;
    assert!(part.starts_with("2: \n3: \n(the file has "), "{part}");
    assert!(!shown(&read(TESTS, 1, 1000)).shown.contains("numbers()) == 6"), "the weakened test is gone");
    assert_eq!(shown(&search("", "numbers()) == 6", false)).shown, "Nothing was found.");
    let found = shown(&search("src", "result = 1", false)).shown;
    assert!(found.starts_with(&format!("{CODE}:")) && found.lines().count() == 1, "{found}");
    assert_eq!(shown(&search("src", "result *= *[0-9]", true)).shown, found);
    let mut without = tree.clone();
    without.remove("src/tally/names.py");
    assert!(!served(bed, &without, &list("")).shown.contains("src/tally/names.py"), "a deleted file is gone");
}

#[test]
fn what_cannot_be_looked_at_is_refused_in_words() {
    let Some(bed) = bed() else { return };
    for (call, why) in [
        (read("src/tally/nothing.py", 1, 9), "there is no `src/tally/nothing.py`"),
        (read("src", 1, 9), "`src` is a directory; list it"),
        (read(CODE, 1000, 2000), "has 29 lines"),
        (list("../opt"), "no path in the repository"),
        (list("/"), "no path in the repository"),
        (search("", "(", true), "the pattern is no regular expression"),
    ] {
        refused(&served(bed, &bed.texts, &call), why);
    }
}

#[test]
fn a_hostile_pattern_ends_by_fuel_and_what_is_shown_is_bounded() {
    let Some(bed) = bed() else { return };
    let mut tree = bed.texts.clone();
    tree.insert("src/tally/long.py".to_owned(), format!("# {}!\n", "a".repeat(60)));
    let (repo, hostile, long) = (bed.repo(), search("src/tally/long.py", "(a|a|aa)+$", true), read(CODE, 1, 1000));
    let little = RepoToolRequest { fuel: 2_000_000_000, ..asking(&repo, &tree, &hostile) };
    let outcome = serve_tool_call(&bed.sandbox, &little).unwrap();
    assert_eq!(outcome.end, CallEnd::Stopped(Status::FuelExceeded), "{}", outcome.shown);
    assert!(outcome.evidence.fuel >= 2_000_000_000);
    let narrow = RepoToolRequest { shown_chars: 60, ..asking(&repo, &tree, &long) };
    let short = serve_tool_call(&bed.sandbox, &narrow).unwrap().shown;
    assert!(short.contains('…') && short.chars().count() < 110, "{short}");
}

#[test]
fn an_edit_is_exact_and_once() {
    let Some(bed) = bed() else { return };
    let done = served(bed, &bed.texts, &edit(CODE, "    result = 0\n", "    result = 5\n"));
    let text = bed.texts[CODE].replace("result = 0", "result = 5");
    assert_eq!((done.end, done.edited), (CallEnd::Done, Some((CODE.to_owned(), Some(text)))));
    let mut overlapping = bed.texts.clone();
    overlapping.insert("setup.txt".to_owned(), "aaa".to_owned());
    overlapping.insert("pyproject.toml".to_owned(), "x = 1\n".to_owned());
    for (call, why) in [
        (edit(CODE, "result = 9", "x"), "no such text"),
        (edit(CODE, "numbers", "x"), "more than once"),
        (edit("setup.txt", "aa", "x"), "more than once"),
        (edit(CODE, "", "x"), "is empty"),
        (edit(CODE, "result = 0", "result = 0"), "is the old one"),
        (edit("nothing.py", "a", "b"), "no text file"),
        (edit("pyproject.toml", "x = 1", "x = 2"), "without being asked for"),
    ] {
        refused(&served(bed, &overlapping, &call), why);
    }
}

#[test]
fn an_edit_keeps_the_line_ends_of_its_file() {
    let Some(bed) = bed() else { return };
    let mut tree = bed.texts.clone();
    let (carriage, mixed) = ("a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\r\nb = 2\nc = 3\r\n");
    tree.insert("carriage.py".to_owned(), carriage.to_owned());
    tree.insert("mixed.py".to_owned(), mixed.to_owned());
    let text = |path, old, new| served(bed, &tree, &edit(path, old, new)).edited.and_then(|(_, text)| text);
    let want = Some("a = 1\r\nd = 4\r\ne = 5\r\nc = 3\r\n".to_owned());
    assert_eq!(text("carriage.py", "b = 2\n", "d = 4\ne = 5\n"), want);
    assert_eq!(text("carriage.py", "b = 2\r\n", "d = 4\r\ne = 5\r\n"), want);
    assert_eq!(text("mixed.py", "a = 1\n", "d = 4\n"), None, "which ends are meant is not to be guessed");
    assert_eq!(text("mixed.py", "b = 2\n", "d = 4\n"), Some(mixed.replace("b = 2", "d = 4")));
}

#[test]
fn tests_run_weakened_and_a_hidden_one_is_as_unknown_as_one_that_never_was() {
    let Some(bed) = bed() else { return };
    let repo = bed.repo();
    let hidden: BTreeSet<String> = [format!("{TESTS}::test_total_of_ones")].into();
    let request = ViewRequest { repo: &repo, artifact: bed.artifact(), hidden: &hidden, with_function: true };
    let seen = solver_view(&bed.sandbox, &request).unwrap();
    assert_eq!(seen.hidden, hidden);
    let spec = seen.spec.to_string();
    assert!(spec.contains("+def test_total():") && !spec.contains("test_total_of_ones"), "{spec}");
    assert_eq!(seen.test_files, [TESTS]);
    assert!(!seen.tree[TESTS].contains("test_total_of_ones"));
    let (original, buggy) = seen.function.clone().unwrap();
    assert_eq!((original.name.as_str(), buggy.source.contains("result = 1")), ("total", true));
    let suite = DefaultTests::Files(vec![TESTS.to_owned()]);
    let shown = |tests: &[&str]| {
        let call = run(tests);
        let request = RepoToolRequest { suite: &suite, ..asking(&repo, &seen.tree, &call) };
        serve_tool_call(&bed.sandbox, &request).unwrap().shown
    };
    let [gone, never] = ["test_total_of_ones", "x"].map(|name| shown(&[&format!("{TESTS}::{name}")]));
    assert_eq!(gone.replace("test_total_of_ones", "x"), never);
    let all = shown(&[]);
    assert!(!all.contains("test_total_of_ones") && !all.contains("test_total "), "{all}");
    assert!(all.ends_with(" did not.") || all.contains("Failed:"), "{all}");
    let named = shown(&[&format!("{TESTS}::test_amount")]);
    assert_eq!(named, "1 passed, 0 did not.");
}

#[test]
fn a_failing_test_is_told_with_its_reason_and_an_injector_runs_what_it_affects() {
    let Some(bed) = bed() else { return };
    let (repo, all) = (bed.repo(), run(&[]));
    let ran = |new: &str, fuel| {
        let tree = bed.with(CODE, "    result = 0\n", new);
        serve_tool_call(&bed.sandbox, &RepoToolRequest { fuel, ..asking(&repo, &tree, &all) }).unwrap()
    };
    let shown = ran("    result = 1\n", 60_000_000_000).shown;
    assert!(shown.contains(&format!("{TESTS}::test_total Failed: AssertionError")), "{shown}");
    assert!(shown.contains("3.5 != 3") && !shown.contains("test_label"), "{shown}");
    let broken = ran("    result = (\n", 60_000_000_000);
    assert!(broken.shown.contains("No test of") && broken.evidence.fuel > 0, "{}", broken.shown);
    let loops = ran("    result = 0\n    while True:\n        pass\n", 3_000_000_000);
    assert!(loops.evidence.fuel >= 3_000_000_000 && loops.shown.contains("Fuel"), "{}", loops.shown);
}

/// The attack that the second image is for: code under test looks for the original's sources in the memory of the image.
#[test]
fn the_original_is_not_in_the_memory_of_a_tool_env() {
    let Some(bed) = bed() else { return };
    let thief = "    import importlib.machinery\n    kept = getattr(importlib.machinery.SourceFileLoader, \
                 '_veriplay_compiled', {})\n    raise ValueError([data for path, data in kept if b'result = 0' in data or \
                 b'numbers()) == 6' in data] or 'nothing')\n";
    let tree = replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", thief);
    let (repo, tests) = (bed.repo(), run(&[&format!("{TESTS}::MeanTests::test_mean")]));
    let [stolen, kept] = ["python", TOOL_ENV].map(|image| {
        let request = RepoToolRequest { image, ..asking(&repo, &tree, &tests) };
        serve_tool_call(&bed.sandbox, &request).unwrap().shown
    });
    assert!(stolen.contains("Sums."), "the image repairs are graded in does hold it: {stolen}");
    assert!(kept.contains("nothing") && !kept.contains("Sums."), "{kept}");
}

/// Takes files away in every way there is, and then looks for two texts in all files there are.
const THIEF: &str = "    import os, shutil
    seen = []
    for path in ('/work/src/tally/core.py', '/work/tests/test_core.py'):
        ways = (os.remove, lambda path: os.rename(path, path + '.x'), lambda path: shutil.rmtree(os.path.dirname(path)))
        for away in ways:
            try:
                away(path)
            except OSError:
                pass
    for directory, _, names in os.walk('/'):
        for name in names:
            try:
                text = open(os.path.join(directory, name), 'rb').read()
            except OSError:
                continue
            if b'resul' + b't = 0\\n    for number' in text or b'numbe' + b'rs()) == 6' in text:
                seen.append(os.path.join(directory, name))
    raise ValueError(('seen', seen))
";

/// The tree's files lie over the layer's, and taking them away must not show what is below.
#[test]
fn no_way_of_moving_files_shows_what_lies_below_the_tree() {
    let Some(bed) = bed() else { return };
    let tests = run(&[&format!("{TESTS}::MeanTests::test_mean")]);
    let mut tree = replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", THIEF);
    let hidden = served(bed, &tree, &tests).shown;
    assert!(hidden.contains("('seen', [])"), "{hidden}");
    // A file that is not changed is the layer's own, and is found: the thief works.
    tree.insert("src/tally/copy.py".to_owned(), "# numbers()) == 6\n".to_owned());
    let told = served(bed, &tree, &tests).shown;
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
    let requests = [right.as_str(), "", right.as_str()].map(|patch| {
        let repair = RepairRequest { artifact, patch, fuzz: Fuzz::NONE, seed: 3 };
        GradeRequest { repo: &repo, repair }
    });
    let graded = grade_all(&bed.sandbox, &requests).into_iter().map(|verdict| verdict.unwrap().status);
    let expected = [Status::Accepted, Status::WrongAnswer, Status::Accepted];
    assert_eq!(graded.collect::<Vec<_>>(), expected);
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

/// The bed's sandbox, in which the parser that finds functions and takes tests out uses up its fuel on any text.
struct StopsParser<'a>(&'a OutcomeCache<Images>);

impl Execute for StopsParser<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        // The scan of changes has a function of that name, too.
        let has = |start: &str| job.program.contains(start);
        let parses = (has("def weaken(") || has("def functions(")) && !has("def machinery(");
        let fuel = if parses { 1000 } else { job.limits.fuel };
        self.0.execute(&Job { limits: Limits { fuel, ..job.limits }, ..job.clone() })
    }
}

#[test]
fn a_text_that_stops_the_parser_refuses_a_bug_and_drops_no_solver() {
    let Some(bed) = bed() else { return };
    let (repo, stops) = (bed.repo(), StopsParser(&bed.sandbox));
    let validated = validate_bug(&stops, &repo, &bed.proposal(), &BugRules::LEAST).unwrap();
    let Evidence { rule, detail, .. } = validated.verdict.evidence;
    assert!(rule == "hidden" && detail.contains(&format!("`{TESTS}` cannot be parsed")), "{rule}: {detail}");
    let hidden: BTreeSet<String> = [format!("{TESTS}::test_total_of_ones")].into();
    let request = ViewRequest { repo: &repo, artifact: bed.artifact(), hidden: &hidden, with_function: true };
    let seen = solver_view(&stops, &request).unwrap();
    assert!(seen.hidden.is_empty() && seen.function.is_none() && seen.spec.to_string().contains("test_total"));
    assert_eq!(solver_view(&bed.sandbox, &request).unwrap().hidden, hidden);
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
