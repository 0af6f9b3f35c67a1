//! Every operator, on a text that has something for each of them, and the way from a mutant to a bug.

use std::collections::BTreeSet;

use veriplay_core::{Status, Trust};
use veriplay_verifier::bugs::tool_env::list_functions;
use veriplay_verifier::bugs::{INJECTORS, RepoContext, make_mutants, propose_mutant, weaken_tests};

use super::{CODE, bed, texts_in};

/// Something for each operator.
const TEXT: &str = include_str!("sample.py.txt");

#[test]
fn every_operator_finds_something_to_change_and_what_it_makes_parses() {
    let Some(bed) = bed() else { return };
    let found = make_mutants(&bed.sandbox, &bed.repo(), INJECTORS, TEXT, 1, 3).unwrap();
    assert_eq!(found.len(), INJECTORS.len());
    // Any operator reads the whole text; this one has sites wherever a function returns.
    let reader: Vec<_> = INJECTORS.iter().filter(|found| found.name == "constant_body").copied().collect();
    for mutants in &found {
        assert!(mutants.sites > 0 && !mutants.candidates.is_empty(), "{}", mutants.injector);
        for mutant in &mutants.candidates {
            assert_ne!(mutant.text, TEXT, "{}", mutants.injector);
            let again = make_mutants(&bed.sandbox, &bed.repo(), &reader, &mutant.text, 1, 1).unwrap();
            assert!(again[0].sites > 0, "{} does not parse:\n{}", mutants.injector, mutant.text);
        }
    }
    let same = make_mutants(&bed.sandbox, &bed.repo(), INJECTORS, TEXT, 1, 3).unwrap();
    assert_eq!(found, same, "one seed, one list");
    let other = make_mutants(&bed.sandbox, &bed.repo(), INJECTORS, TEXT, 2, 3).unwrap();
    assert_ne!(found, other);
}

#[test]
fn what_is_no_python_has_no_sites() {
    let Some(bed) = bed() else { return };
    let found = make_mutants(&bed.sandbox, &bed.repo(), &INJECTORS[..2], "def f(:\n", 1, 3).unwrap();
    assert!(found.iter().all(|found| found.sites == 0 && found.candidates.is_empty()));
}

#[test]
fn edits_leave_a_byte_order_mark_where_it_is() {
    let Some(bed) = bed() else { return };
    let path = "tests/test_marked.py";
    let (one, two) = ("def test_one():\n    assert 'é'\n", "def test_two():\n    assert 2 > 1\n");
    let weakened = |mark: &str, test: &str| {
        let mut texts = bed.texts.clone();
        texts.insert(path.to_owned(), format!("{mark}{one}{two}"));
        let repo = RepoContext { texts: &texts, ..bed.repo() };
        let failing = BTreeSet::from([format!("{path}::{test}")]);
        let patch = weaken_tests(&bed.sandbox, &repo, &failing).unwrap()?;
        patch.apply(&texts).unwrap().remove(path)
    };
    assert_eq!(weakened("\u{feff}", "test_one"), Some(format!("\u{feff}{two}")));
    assert_eq!(weakened("\u{feff}", "test_two"), Some(format!("\u{feff}{one}")));
    assert_eq!(weakened("\u{feff}\u{feff}", "test_one"), None, "the second is no mark");
    let mut texts = bed.texts.clone();
    texts.insert(path.to_owned(), format!("\u{feff}{one}{two}"));
    let found = list_functions(&bed.sandbox, &bed.repo(), &texts, path).unwrap();
    let sources: Vec<String> = found.iter().map(|function| format!("{}\n", function.source)).collect();
    assert_eq!(sources, [one, two]);
    let marked = format!("\u{feff}{TEXT}");
    let found = make_mutants(&bed.sandbox, &bed.repo(), &INJECTORS[..1], &marked, 1, 1).unwrap();
    assert!(found[0].candidates.iter().all(|mutant| mutant.text.starts_with('\u{feff}')) && found[0].sites > 0);
}

#[test]
fn mutants_become_bugs_that_their_reverse_repairs_and_nothing_does_not() {
    let Some(bed) = bed() else { return };
    let repo = bed.repo();
    let wanted: Vec<_> =
        INJECTORS.iter().filter(|found| ["constant_body", "flip_operator"].contains(&found.name)).copied().collect();
    let found = make_mutants(&bed.sandbox, &repo, &wanted, &bed.texts[CODE], 3, 2).unwrap();
    let mut made = 0;
    for mutant in found.iter().flat_map(|found| &found.candidates) {
        let Ok(bug) = propose_mutant(&bed.sandbox, &repo, CODE, mutant, (3, 1)).unwrap() else { continue };
        let Some(artifact) = bed.validated(Trust::Shared, &bug).artifact else { continue };
        let reverse = bug.bug_inject.reverse().to_string();
        assert_eq!(bed.graded_text(Trust::Shared, &artifact, &reverse).status, Status::Accepted);
        assert_ne!(bed.graded_text(Trust::Shared, &artifact, "").status, Status::Accepted);
        made += 1;
    }
    assert!(made > 0, "no mutant of `{CODE}` became a bug");
}

#[test]
fn each_operator_is_a_file_and_a_line() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandboxes/python/programs/bugs/injectors");
    let names: BTreeSet<String> = INJECTORS.iter().map(|injector| injector.name.to_owned()).collect();
    assert_eq!(texts_in(&dir).into_keys().collect::<BTreeSet<_>>(), names);
    assert_eq!(names.len(), INJECTORS.len());
}
