//! Files made and deleted: bugs that take a module away, repairs that make it again, and the tools that do either.

use serde_json::json;
use veriplay_core::{FileChange, Status, TextFiles, Trust};
use veriplay_verifier::bugs::tool_env::{CallEnd, repair_of};
use veriplay_verifier::bugs::{BugArtifact, BugProposal, BugRules, TreeRequest, Weakening, propose_tree};

use super::checks::failed_checks;
use super::episodes::{served, viewed};
use super::{Bed, CODE, bed, replaced};

const NAMES: &str = "src/tally/names.py";
const INIT: &str = "src/tally/__init__.py";
const NAMES_TESTS: &str = "tests/test_names.py";
const STEPS: &str = "src/tally/steps.py";
const TRACE: &str = "src/tally/trace.py";

/// The original without the module `names`, and without what imports it where `compatible`.
fn without_names(bed: &Bed, compatible: bool) -> TextFiles {
    match compatible {
        true => without(&bed.with(INIT, "from tally.names import label\n", ""), NAMES),
        false => without(&bed.texts, NAMES),
    }
}

fn without(texts: &TextFiles, path: &str) -> TextFiles {
    let mut now = texts.clone();
    now.remove(path);
    now
}

fn proposed(bed: &Bed, now: &TextFiles) -> Result<BugProposal, &'static str> {
    let (repo, injector, weakening) = (bed.repo(), "by hand", Weakening::Derived);
    let request = TreeRequest { repo: &repo, now, injector, weakening, seeds: (0, 1), test_command: None };
    propose_tree(&bed.sandbox, &request).unwrap().map_err(|rejection| rejection.check)
}

/// The verdict on the repair that leaves `after`, by the patch that an episode makes of it.
fn graded(bed: &Bed, artifact: &BugArtifact, after: &TextFiles) -> (Status, String) {
    let patch = repair_of(&bed.repo(), &bed.weakened(artifact), after).unwrap().to_string();
    let verdict = bed.graded_text(Trust::Shared, artifact, &patch);
    (verdict.status, verdict.evidence.rule)
}

#[test]
fn a_bug_that_takes_a_module_away_is_valid_and_a_repair_makes_the_module_again() {
    let Some(bed) = bed() else { return };
    let bug = proposed(bed, &without_names(bed, true)).unwrap();
    // No test of a file that cannot be collected is left, so the weakening takes the whole file.
    assert_eq!(bug.test_weaken.touched().collect::<Vec<_>>(), [(NAMES_TESTS, FileChange::Deleted)]);
    assert_eq!(bug.test_files, [NAMES_TESTS]);
    assert_eq!(failed_checks(bed, &bug, &BugRules::LEAST), [""; 0]);
    let artifact = bed.valid(Trust::Shared, &bug);
    assert!(artifact.fail_to_pass.iter().all(|id| id.starts_with(NAMES_TESTS)), "{:?}", artifact.fail_to_pass);
    let view = viewed(&bed.sandbox, bed, &artifact, &[]);
    assert!(view.function.is_none() && !view.tree.contains_key(NAMES) && !view.tree.contains_key(NAMES_TESTS));
    assert_eq!(view.spec.touched().collect::<Vec<_>>(), [(NAMES_TESTS, FileChange::Created)]);
    let handed = bed.weakened(&artifact);
    assert_eq!(handed, view.tree);
    let with = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        handed.clone().into_iter().chain(files).collect::<TextFiles>()
    };
    let names = bed.texts[NAMES].as_str();
    for (path, text, status) in [
        (NAMES, names.to_owned(), Status::Accepted),
        (NAMES, names.replace("unit + \"s\"", "f\"{unit}s\""), Status::Accepted),
        (NAMES, names.replace("unit + \"s\"", "unit + \"z\""), Status::WrongAnswer),
        // What a repair makes of tests is no part of it.
        (NAMES_TESTS, "def test_label():\n    pass\n".to_owned(), Status::RuntimeError),
    ] {
        assert_eq!(graded(bed, &artifact, &with(&[(path, &text)])).0, status, "{text}");
    }
    for path in ["src/names.py", "names.py", "src/helper/__init__.py", "src/tally/conftest.py", "src/tally/new.txt"] {
        let cheat = with(&[(NAMES, names), (path, "x = 1\n")]);
        assert_eq!(graded(bed, &artifact, &cheat), (Status::Malformed, "paths".to_owned()), "{path}");
    }
    let package = with(&[(NAMES, "from tally.made.labels import coin, label\n"), ("src/tally/made/labels.py", names)]);
    let patch = repair_of(&bed.repo(), &handed, &package).unwrap();
    assert!(patch.touched().all(|(_, change)| change == FileChange::Created), "{patch}");
    assert_ne!(graded(bed, &artifact, &package).1, "paths", "a new package inside the package");
}

#[test]
fn a_bug_that_takes_a_module_away_must_need_each_of_its_changes() {
    let Some(bed) = bed() else { return };
    let more = replaced(&without_names(bed, true), CODE, "\"\"\"Sums.\"\"\"\n", "\"\"\"All sums.\"\"\"\n");
    assert_eq!(refused_by(bed, &proposed(bed, &more).unwrap()).0, "inverse");
    // A file that stops the interpreter, or one that cannot be read, is no module taken away.
    let exits = replaced(&without_names(bed, true), CODE, "\"\"\"Sums.\"\"\"\n", "import os\nos._exit(0)\n");
    assert_eq!(proposed(bed, &exits).err(), Some("records"));
    let broken = bed.with(CODE, "    result = 0\n", "    result = (\n");
    assert_eq!(proposed(bed, &broken).err(), Some("records"));
    let bug_inject = bed.patch(&without(&without_names(bed, true), INIT));
    let bug = BugProposal { bug_inject, ..proposed(bed, &without_names(bed, true)).unwrap() };
    assert_eq!(refused_by(bed, &bug).0, "paths");
}

/// The check that refuses a bug, and why.
fn refused_by(bed: &Bed, bug: &BugProposal) -> (String, String) {
    let verdict = bed.validated(Trust::Shared, bug).verdict;
    assert_eq!(verdict.status, Status::Invalid, "{verdict:?}");
    (verdict.evidence.rule, verdict.evidence.detail)
}

#[test]
fn a_deleted_module_excuses_no_test_file_that_another_change_keeps_from_being_collected() {
    let Some(bed) = bed() else { return };
    // What imports the module is as before, so no test file can be collected.
    let (rule, why) = refused_by(bed, &proposed(bed, &without_names(bed, false)).unwrap());
    assert!(rule == "records" && why.contains("no test file can be collected"), "{rule}: {why}");
    let crash = replaced(&without_names(bed, true), STEPS, "    yield name\n", "    yield (\n");
    let (rule, why) = refused_by(bed, &proposed(bed, &crash).unwrap());
    assert!(rule == "records" && why.contains("the modules that it deletes"), "{rule}: {why}");
}

/// `trace` is needed by its tests alone. Each of these bugs deletes it and has `steps` need it, which then keeps the tests of `steps` from being
/// collected.
#[test]
fn a_deleted_module_excuses_no_test_file_that_did_not_need_it() {
    let Some(bed) = bed() else { return };
    let importing = |now: &TextFiles, line: &str| {
        replaced(&without(now, TRACE), STEPS, "import contextlib\n", &format!("import contextlib\n\n{line}\n"))
    };
    let direct = importing(&bed.texts, "from tally import trace");
    // No test file can be collected in the original without `names`, and so that module excuses all of them.
    let beside_another = importing(&without_names(bed, true), "import tally.trace");
    let mut by_a_new_module = importing(&bed.texts, "from tally import made");
    by_a_new_module.insert("src/tally/made.py".to_owned(), "from tally import trace\n".to_owned());
    for (name, now) in [("direct", direct), ("beside another", beside_another), ("new module", by_a_new_module)] {
        let (rule, why) = refused_by(bed, &proposed(bed, &now).unwrap());
        let found = rule == "records" && why.contains("tests/test_steps.py") && why.contains(TRACE);
        assert!(found, "{name}: {rule}: {why}");
    }
}

#[test]
fn two_deleted_modules_excuse_the_test_files_that_need_one_of_them() {
    let Some(bed) = bed() else { return };
    let both = without(&without_names(bed, true), TRACE);
    assert_eq!(failed_checks(bed, &proposed(bed, &both).unwrap(), &BugRules::LEAST), [""; 0]);
}

#[test]
fn changes_beside_a_deleted_module_that_need_only_each_other_are_refused() {
    let Some(bed) = bed() else { return };
    let one = replaced(&without_names(bed, true), CODE, "def mean(numbers):\n", "def average(numbers):\n");
    let pair = replaced(&one, INIT, "import Amount, mean, total\n", "import Amount, average as mean, total\n");
    assert!(failed_checks(bed, &proposed(bed, &pair).unwrap(), &BugRules::LEAST).contains(&"inverse"));
}

/// `refused_calls.jsonl` has what they do not make and delete.
#[test]
fn tools_make_and_delete_what_a_patch_may() {
    let Some(bed) = bed() else { return };
    let create = |path: &str| json!({"create": {"path": path, "text": "x = 1\n"}});
    let delete = |path: &str| json!({"delete": {"path": path}});
    let made = served(bed, &bed.texts, create("src/tally/made/new.py"));
    assert_eq!((made.end, made.shown.as_str()), (CallEnd::Done, "`src/tally/made/new.py` is made."));
    assert_eq!(made.edited, Some(("src/tally/made/new.py".to_owned(), Some("x = 1\n".to_owned()))));
    let gone = served(bed, &bed.texts, delete(NAMES));
    assert_eq!((gone.end, gone.edited), (CallEnd::Done, Some((NAMES.to_owned(), None))));
    let mut tree = without(&bed.texts, NAMES_TESTS);
    tree.insert("src/tally/own.py".to_owned(), String::new());
    for call in [create(NAMES_TESTS), delete("src/tally/own.py"), delete("tests/test_core.py")] {
        assert_eq!(served(bed, &tree, call).end, CallEnd::Done);
    }
    let shown = served(bed, &tree, json!({"run": {"tests": [NAMES_TESTS]}})).shown;
    assert_eq!(shown, format!("0 passed, 0 did not.\n`{NAMES_TESTS}` is no test that runs here."));
}
