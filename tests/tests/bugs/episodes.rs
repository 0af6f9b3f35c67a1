//! The tool environment on the real sandbox: what each tool shows, what it refuses, and what it never shows.

use std::collections::BTreeSet;

use veriplay_core::{Evidence, Execute, ExecuteError, Job, Limits, Outcome, Status, TextFiles};
use veriplay_sandbox::OutcomeCache;
use veriplay_verifier::bugs::tool_env::{
    CallEnd, DefaultTests, GradeRequest, RepoToolCall, RepoToolOutcome, RepoToolRequest, ViewRequest, changed_function,
    grade_all, list_functions, repair_of, serve_tool_call, solver_view,
};
use veriplay_verifier::bugs::{BugArtifact, BugRules, RepairRequest, validate_bug};

use super::{Bed, CODE, Images, TESTS, TOOL_ENV, bed, replaced};

const FUEL: u64 = 60_000_000_000;

/// The bed with its executor.
pub(super) fn tool_env() -> Option<(&'static Bed, &'static OutcomeCache<Images>)> {
    let bed = bed()?;
    Some((bed, &bed.sandbox))
}

fn asked(
    tree: &TextFiles,
    image: &str,
    suite: &DefaultTests,
    call: &RepoToolCall,
    fuel: u64,
    shown_chars: usize,
) -> Option<RepoToolOutcome> {
    let (bed, routes) = tool_env()?;
    let repo = bed.repo();
    let request = RepoToolRequest { repo: &repo, image, tree, suite, call, fuel, shown_chars, seed: 1 };
    Some(serve_tool_call(routes, &request).unwrap())
}

fn called(tree: &TextFiles, call: &RepoToolCall) -> Option<RepoToolOutcome> {
    asked(tree, TOOL_ENV, &DefaultTests::Files(vec![TESTS.to_owned()]), call, FUEL, 4000)
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
    let Some((bed, _)) = tool_env() else { return };
    let tree = bed.weakened(bed.artifact());
    let shown = |call: &RepoToolCall| called(&tree, call).unwrap();
    let all = shown(&list(""));
    assert_eq!(all.end, CallEnd::Done);
    assert!(all.shown.lines().any(|line| line == CODE) && all.shown.lines().any(|line| line == TESTS), "{}", all.shown);
    assert!(shown(&list("src")).shown.lines().all(|line| line.starts_with("src/")));
    let code = shown(&read(CODE, 1, 1000)).shown;
    assert!(code.contains(": def total(numbers):") && code.contains(":     result = 1"), "{code}");
    assert!(!code.contains("result = 0"), "the bug lies over the original");
    assert!(
        shown(&read(CODE, 2, 3)).shown.starts_with("2: \n3: \n(the file has "),
        "{}",
        shown(&read(CODE, 2, 3)).shown
    );
    assert!(!shown(&read(TESTS, 1, 1000)).shown.contains("numbers()) == 6"), "the weakened test is gone");
    assert_eq!(shown(&search("", "numbers()) == 6", false)).shown, "Nothing was found.");
    let found = shown(&search("src", "result = 1", false)).shown;
    assert!(found.starts_with(&format!("{CODE}:")) && found.lines().count() == 1, "{found}");
    assert_eq!(shown(&search("src", "result *= *[0-9]", true)).shown, found);
    let mut without = tree.clone();
    without.remove("src/tally/names.py");
    assert!(!called(&without, &list("")).unwrap().shown.contains("src/tally/names.py"), "a deleted file is gone");
}

#[test]
fn what_cannot_be_looked_at_is_refused_in_words() {
    let Some((bed, _)) = tool_env() else { return };
    for (call, why) in [
        (read("src/tally/nothing.py", 1, 9), "there is no `src/tally/nothing.py`"),
        (read("src", 1, 9), "`src` is a directory; list it"),
        (read(CODE, 1000, 2000), "has 29 lines"),
        (list("../opt"), "no path in the repository"),
        (list("/"), "no path in the repository"),
        (search("", "(", true), "the pattern is no regular expression"),
    ] {
        let outcome = called(&bed.texts, &call).unwrap();
        assert_eq!(outcome.end, CallEnd::Refused, "{call:?}");
        assert!(outcome.shown.starts_with("Refused: ") && outcome.shown.contains(why), "{call:?}: {}", outcome.shown);
    }
}

#[test]
fn a_hostile_pattern_ends_by_fuel_and_what_is_shown_is_bounded() {
    let Some((bed, _)) = tool_env() else { return };
    let mut tree = bed.texts.clone();
    tree.insert("src/tally/long.py".to_owned(), format!("# {}!\n", "a".repeat(60)));
    let hostile = search("src/tally/long.py", "(a|a|aa)+$", true);
    let suite = DefaultTests::Affected;
    let outcome = asked(&tree, TOOL_ENV, &suite, &hostile, 2_000_000_000, 4000).unwrap();
    assert_eq!(outcome.end, CallEnd::Stopped(Status::FuelExceeded), "{}", outcome.shown);
    assert!(outcome.evidence.fuel >= 2_000_000_000);
    let short = asked(&tree, TOOL_ENV, &suite, &read(CODE, 1, 1000), FUEL, 60).unwrap().shown;
    assert!(short.contains('…') && short.chars().count() < 110, "{short}");
}

#[test]
fn an_edit_is_exact_and_once() {
    let Some((bed, _)) = tool_env() else { return };
    let done = called(&bed.texts, &edit(CODE, "    result = 0\n", "    result = 5\n")).unwrap();
    let (path, text) = done.edited.unwrap();
    let text = text.unwrap();
    assert_eq!((done.end, path.as_str()), (CallEnd::Done, CODE));
    assert_eq!(text, bed.texts[CODE].replace("result = 0", "result = 5"));
    let mut overlapping = bed.texts.clone();
    overlapping.insert("setup.txt".to_owned(), "aaa".to_owned());
    for (call, why) in [
        (edit(CODE, "result = 9", "x"), "no such text"),
        (edit(CODE, "numbers", "x"), "more than once"),
        (edit("setup.txt", "aa", "x"), "more than once"),
        (edit(CODE, "", "x"), "is empty"),
        (edit(CODE, "result = 0", "result = 0"), "is the old one"),
        (edit("nothing.py", "a", "b"), "no text file"),
    ] {
        let outcome = called(&overlapping, &call).unwrap();
        assert_eq!((outcome.end, &outcome.edited), (CallEnd::Refused, &None), "{call:?}");
        assert!(outcome.shown.contains(why), "{call:?}: {}", outcome.shown);
    }
    let mut tree = bed.texts.clone();
    tree.insert("pyproject.toml".to_owned(), "x = 1\n".to_owned());
    assert_eq!(called(&tree, &edit("pyproject.toml", "x = 1", "x = 2")).unwrap().end, CallEnd::Refused);
}

#[test]
fn an_edit_keeps_the_line_ends_of_its_file() {
    let Some((bed, _)) = tool_env() else { return };
    let mut tree = bed.texts.clone();
    let (carriage, mixed) = ("a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\r\nb = 2\nc = 3\r\n");
    tree.insert("carriage.py".to_owned(), carriage.to_owned());
    tree.insert("mixed.py".to_owned(), mixed.to_owned());
    let text = |path, old, new| called(&tree, &edit(path, old, new)).unwrap().edited.and_then(|(_, text)| text);
    let want = Some("a = 1\r\nd = 4\r\ne = 5\r\nc = 3\r\n".to_owned());
    assert_eq!(text("carriage.py", "b = 2\n", "d = 4\ne = 5\n"), want);
    assert_eq!(text("carriage.py", "b = 2\r\n", "d = 4\r\ne = 5\r\n"), want);
    assert_eq!(text("mixed.py", "a = 1\n", "d = 4\n"), None, "which ends are meant is not to be guessed");
    assert_eq!(text("mixed.py", "b = 2\n", "d = 4\n"), Some(mixed.replace("b = 2", "d = 4")));
}

#[test]
fn tests_run_weakened_and_a_hidden_one_is_as_unknown_as_one_that_never_was() {
    let Some((bed, routes)) = tool_env() else { return };
    let repo = bed.repo();
    let hidden: BTreeSet<String> = [format!("{TESTS}::test_total_of_ones")].into();
    let request = ViewRequest { repo: &repo, artifact: bed.artifact(), hidden: &hidden, with_function: true };
    let seen = solver_view(routes, &request).unwrap();
    assert_eq!(seen.hidden, hidden);
    let spec = seen.spec.to_string();
    assert!(spec.contains("+def test_total():") && !spec.contains("test_total_of_ones"), "{spec}");
    assert_eq!(seen.test_files, [TESTS]);
    assert!(!seen.tree[TESTS].contains("test_total_of_ones"));
    let (original, buggy) = seen.function.clone().unwrap();
    assert_eq!((original.name.as_str(), buggy.source.contains("result = 1")), ("total", true));
    let shown = |call: &RepoToolCall| called(&seen.tree, call).unwrap().shown;
    let (gone, never) =
        (shown(&run(&[&format!("{TESTS}::test_total_of_ones")])), shown(&run(&[&format!("{TESTS}::x")])));
    assert_eq!(gone.replace("test_total_of_ones", "x"), never);
    let all = shown(&run(&[]));
    assert!(!all.contains("test_total_of_ones") && !all.contains("test_total "), "{all}");
    assert!(all.ends_with(" did not.") || all.contains("Failed:"), "{all}");
    let named = shown(&run(&[&format!("{TESTS}::test_amount")]));
    assert_eq!(named, "1 passed, 0 did not.");
}

#[test]
fn a_failing_test_is_told_with_its_reason_and_an_injector_runs_what_it_affects() {
    let Some((bed, _)) = tool_env() else { return };
    let buggy = bed.with(CODE, "    result = 0\n", "    result = 1\n");
    let outcome = asked(&buggy, TOOL_ENV, &DefaultTests::Affected, &run(&[]), FUEL, 4000).unwrap();
    assert!(outcome.shown.contains(&format!("{TESTS}::test_total Failed: AssertionError")), "{}", outcome.shown);
    assert!(outcome.shown.contains("3.5 != 3") && !outcome.shown.contains("test_label"), "{}", outcome.shown);
    let broken = bed.with(CODE, "    result = 0\n", "    result = (\n");
    let outcome = asked(&broken, TOOL_ENV, &DefaultTests::Affected, &run(&[]), FUEL, 4000).unwrap();
    assert!(outcome.shown.contains("No test of") && outcome.evidence.fuel > 0, "{}", outcome.shown);
    let loops = bed.with(CODE, "    result = 0\n", "    result = 0\n    while True:\n        pass\n");
    let outcome = asked(&loops, TOOL_ENV, &DefaultTests::Affected, &run(&[]), 3_000_000_000, 4000).unwrap();
    assert!(outcome.evidence.fuel >= 3_000_000_000 && outcome.shown.contains("Fuel"), "{}", outcome.shown);
}

/// The attack that the second image is for: code under test looks for the original's sources in the memory of the image.
#[test]
fn the_original_is_not_in_the_memory_of_a_tool_env() {
    let Some((bed, _)) = tool_env() else { return };
    let thief = "    import importlib.machinery\n    kept = getattr(importlib.machinery.SourceFileLoader, \
                 '_veriplay_compiled', {})\n    raise ValueError([data for path, data in kept if b'result = 0' in data or \
                 b'numbers()) == 6' in data] or 'nothing')\n";
    let tree = replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", thief);
    let tests = run(&[&format!("{TESTS}::MeanTests::test_mean")]);
    let suite = DefaultTests::Affected;
    let shown = |image| asked(&tree, image, &suite, &tests, FUEL, 4000).unwrap().shown;
    let stolen = shown("python");
    assert!(stolen.contains("Sums."), "the image repairs are graded in does hold it: {stolen}");
    let kept = shown(TOOL_ENV);
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
    let Some((bed, _)) = tool_env() else { return };
    let tests = run(&[&format!("{TESTS}::MeanTests::test_mean")]);
    let shown = |tree| asked(&tree, TOOL_ENV, &DefaultTests::Affected, &tests, FUEL, 4000).unwrap().shown;
    let hidden = shown(replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", THIEF));
    assert!(hidden.contains("('seen', [])"), "{hidden}");
    // A file that is not changed is the layer's own, and is found: the thief works.
    let kept = TextFiles::from([("src/tally/copy.py".to_owned(), "# numbers()) == 6\n".to_owned())]);
    let told = shown(
        replaced(&bed.weakened(bed.artifact()), CODE, "    result = 1\n", THIEF).into_iter().chain(kept).collect(),
    );
    assert!(told.contains("copy.py"), "{told}");
}

#[test]
fn the_patch_of_a_solver_has_no_tests_in_it_and_equal_patches_are_graded_alike() {
    let Some((bed, routes)) = tool_env() else { return };
    let (artifact, repo) = (bed.artifact(), bed.repo());
    let handed = bed.weakened(artifact);
    let mut now = replaced(&handed, CODE, "    result = 1\n", "    result = 0\n");
    now.insert(TESTS.to_owned(), "def test_total():\n    assert True\n".to_owned());
    let patch = repair_of(&repo, &handed, &now).unwrap();
    assert_eq!(patch.touched().map(|(path, _)| path).collect::<Vec<_>>(), [CODE]);
    let right = patch.to_string();
    let none = repair_of(&repo, &handed, &bed.texts).unwrap().to_string();
    assert_eq!(none, right, "tests are no part of it");
    let ran = |count: usize| {
        let repair = |patch| RepairRequest { artifact, patch, fuzz: veriplay_core::Fuzz::NONE, seed: 3 };
        let requests: Vec<GradeRequest<'_>> = [right.as_str(), "", right.as_str()][..count]
            .iter()
            .map(|patch| GradeRequest { repo: &repo, repair: repair(patch) })
            .collect();
        grade_all(routes, &requests).into_iter().map(|verdict| verdict.unwrap().status).collect::<Vec<_>>()
    };
    assert_eq!(ran(3), [Status::Accepted, Status::WrongAnswer, Status::Accepted]);
}

#[test]
fn functions_are_found_whole_replaced_and_emptied() {
    let Some((bed, routes)) = tool_env() else { return };
    let repo = bed.repo();
    let text = "class A:\n    @property\n    def f(self):\n        \"\"\"Says.\"\"\"\n        return (\n            1\n        )\n\n    def g(self): return 2\n\n\ndef h():\n    text = \"\"\"\nat the margin\n\"\"\"\n    def inner():\n        return 1\n    return text\n";
    let mut texts = bed.texts.clone();
    texts.insert("src/tally/sample.py".to_owned(), text.to_owned());
    let found = list_functions(routes, &repo, &texts, &["src/tally/sample.py", "tests/helper.py"]).unwrap();
    let names: Vec<&str> = found[0].iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["A.f", "A.g", "h"]);
    let f = &found[0][0];
    assert_eq!(f.source, "@property\ndef f(self):\n    \"\"\"Says.\"\"\"\n    return (\n        1\n    )");
    assert_eq!(f.replaced(text, &f.source).unwrap(), text);
    let changed = f.replaced(text, "def f(self):\n    return 3\n").unwrap();
    assert!(changed.contains("class A:\n    def f(self):\n        return 3\n\n    def g"), "{changed}");
    assert!(f.emptied(text).unwrap().contains("\"\"\"Says.\"\"\"\n        raise NotImplementedError\n\n    def g"));
    assert_eq!(found[0][1].emptied(text), None, "it shares its line with its head");
    assert_eq!(found[1][0].name, "numbers");
    let mut now = texts.clone();
    let one = text.replace("return text", "return 0");
    now.insert("src/tally/sample.py".to_owned(), one.clone());
    let (_, changed) = changed_function(routes, &repo, &texts, &now).unwrap().unwrap();
    assert_eq!(changed.name, "h");
    now.insert("src/tally/sample.py".to_owned(), one.replace("return 2", "return 3"));
    assert_eq!(changed_function(routes, &repo, &texts, &now).unwrap(), None, "two functions are not one");
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
    let Some((bed, routes)) = tool_env() else { return };
    let (repo, stops) = (bed.repo(), StopsParser(routes));
    let validated = validate_bug(&stops, &repo, &bed.proposal(), &BugRules::LEAST).unwrap();
    let Evidence { rule, detail, .. } = validated.verdict.evidence;
    assert!(rule == "hidden" && detail.contains(&format!("`{TESTS}` cannot be parsed")), "{rule}: {detail}");
    let hidden: BTreeSet<String> = [format!("{TESTS}::test_total_of_ones")].into();
    let request = ViewRequest { repo: &repo, artifact: bed.artifact(), hidden: &hidden, with_function: true };
    let seen = solver_view(&stops, &request).unwrap();
    assert!(seen.hidden.is_empty() && seen.function.is_none() && seen.spec.to_string().contains("test_total"));
    assert_eq!(solver_view(routes, &request).unwrap().hidden, hidden);
}

#[test]
fn a_bug_that_does_not_fit_the_repository_is_a_fault_of_the_host() {
    let Some((bed, routes)) = tool_env() else { return };
    let mut artifact: BugArtifact = bed.artifact().clone();
    artifact.bug.bug_inject = artifact.bug.bug_inject.reverse();
    let (repo, hidden) = (bed.repo(), BTreeSet::new());
    let request = ViewRequest { repo: &repo, artifact: &artifact, hidden: &hidden, with_function: false };
    assert!(solver_view(routes, &request).is_err());
}
