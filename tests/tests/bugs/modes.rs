//! What keeping to a mode of injection means: which trees write a body anew, which have less code, and which undo a past change.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use veriplay_core::{Evidence, Exit, Job, LimitKind, Outcome, TextFiles};
use veriplay_verifier::bugs::tool_env::{FunctionSource, list_functions};
use veriplay_verifier::bugs::{Commit, PastChange, RepoContext, has_less_code};

use super::{Bed, bed, replaced};
use crate::hosts::Host;

const PATH: &str = "src/tally/sample.py";
const CLASSES: &str = include_str!("modes_classes.py.txt");
const GUARDED: &str = include_str!("modes_guarded.py.txt");

/// Edits of a text, as `modes.toml` explains them.
type Edits = Vec<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Modes {
    texts: BTreeMap<String, String>,
    rewriting: Vec<Rewriting>,
    removal: Removal,
    undoing: Vec<Undoing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rewriting {
    function: String,
    rewritten: Vec<Edits>,
    kept: Vec<Edits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Removal {
    removed: Vec<Edits>,
    kept: Vec<Edits>,
}

/// Asserts that edits which keep to a mode are told from those which do not.
#[track_caller]
fn assert_told(keeping: &[Edits], others: &[Edits], keeps: impl Fn(&[String]) -> bool) {
    let wrong = keeping.iter().filter(|edits| !keeps(edits)).chain(others.iter().filter(|edits| keeps(edits)));
    let wrong: Vec<&Edits> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A past change of [`GUARDED`] with the edits `after`; it was made `before`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undoing {
    #[serde(default)]
    after: Edits,
    before: Edits,
    undone: Vec<Edits>,
    kept: Vec<Edits>,
}

static MODES: LazyLock<Modes> = LazyLock::new(|| toml::from_str(include_str!("modes.toml")).unwrap());

/// `text` with the texts of the table in place of their names, of which one may begin with another.
fn expanded(text: &str) -> String {
    MODES.texts.iter().rev().fold(text.to_owned(), |text, (name, other)| text.replace(&format!("${name}"), other))
}

fn edited(text: &str, edits: &[String]) -> String {
    let mut text = text.to_owned();
    for pair in edits.chunks(2) {
        let (old, new) = (expanded(&pair[0]), expanded(&pair[1]));
        assert!(text.contains(&old), "no `{old}` in {text}");
        text = if old.is_empty() { format!("{text}\n\n{new}") } else { text.replace(&old, &new) };
    }
    text
}

/// The original of these tests: the repository with one more module.
fn with_sample(bed: &Bed, text: &str) -> TextFiles {
    let mut texts = bed.texts.clone();
    texts.insert(PATH.to_owned(), text.to_owned());
    texts
}

fn function(bed: &Bed, texts: &TextFiles, name: &str) -> FunctionSource {
    let found = list_functions(&bed.sandbox, &bed.repo(), texts, PATH).unwrap();
    found.into_iter().find(|function| function.name == name).unwrap_or_else(|| panic!("there is no `{name}`"))
}

/// Whether a function of [`CLASSES`] is written anew in the files `now`.
fn is_rewritten(bed: &Bed, name: &str, now: &TextFiles) -> bool {
    let (texts, mut cost) = (with_sample(bed, CLASSES), Evidence::default());
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    let is_rewritten = function(bed, &texts, name).is_rewritten(&bed.sandbox, &repo, now, &mut cost).unwrap();
    assert!(cost.jobs.len() == 1 && cost.fuel > 0 && !cost.met_deadline, "{cost:?}");
    is_rewritten
}

#[test]
fn a_body_is_written_anew_when_it_is_defined_as_before_and_is_not_what_it_was_emptied_to() {
    let Some(bed) = bed() else { return };
    for Rewriting { function, rewritten, kept } in &MODES.rewriting {
        assert_told(rewritten, kept, |edits| is_rewritten(bed, function, &with_sample(bed, &edited(CLASSES, edits))));
    }
    // An error that is raised in another module.
    let helper =
        edited(CLASSES, &["$BODY", "    from tally.names import stub\n    return stub()\n"].map(str::to_owned));
    let text = "\"\"\"Labels.\"\"\"\n";
    let stub = format!("{text}\n\ndef stub():\n    raise NotImplementedError\n");
    assert!(!is_rewritten(bed, "total", &replaced(&with_sample(bed, &helper), "src/tally/names.py", text, &stub)));
}

#[test]
fn a_function_that_raises_what_an_emptied_one_does_is_not_emptied() {
    let Some(bed) = bed() else { return };
    let texts = with_sample(bed, CLASSES);
    assert!(function(bed, &texts, "total").emptied(CLASSES).is_some());
    assert_eq!(function(bed, &texts, "Base.total").emptied(CLASSES), None);
}

#[test]
fn a_removal_leaves_less_code_and_not_only_fewer_lines() {
    let Some(bed) = bed() else { return };
    let original =
        format!("{CLASSES}\n\ndef three(x: int) -> int:\n    # Three.\n    return total(\n        x,\n    )\n");
    let texts = with_sample(bed, &original);
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    let has_less = |now: &TextFiles| {
        let mut cost = Evidence::default();
        let has_less = has_less_code(&bed.sandbox, &repo, now, &mut cost).unwrap();
        assert!(cost.jobs.len() == 1 && cost.fuel > 0, "{cost:?}");
        has_less
    };
    let Removal { removed, kept } = &MODES.removal;
    assert_told(removed, kept, |edits| has_less(&with_sample(bed, &edited(&original, edits))));
    let mut deleted = texts.clone();
    deleted.remove(PATH);
    assert!(has_less(&deleted));
    // It has moved to another file.
    let moved = original.replace("    result = 0\n", "    from tally.names import result\n");
    let mut now = with_sample(bed, &moved);
    now.get_mut("src/tally/names.py").unwrap().push_str("\n\nresult = 0\n");
    assert!(!has_less(&now));
}

fn past_change(texts: &TextFiles, before: &str) -> PastChange {
    let commit = Commit { hash: "abc", subject: "Handles nothing" };
    PastChange::of_file(texts, PATH, before, &texts[PATH], &commit).unwrap()
}

/// Whether the files `now` undo a change of the module of `texts`.
fn is_undone(bed: &Bed, texts: &TextFiles, change: &PastChange, now: &TextFiles) -> bool {
    let (repo, mut cost) = (RepoContext { texts, ..bed.repo() }, Evidence::default());
    let is_undone = change.is_undone_by(&bed.sandbox, &repo, now, &mut cost).unwrap();
    let asked = usize::from(now.contains_key(PATH));
    assert!(cost.jobs.len() == asked && (cost.fuel > 0) == (asked > 0) && !cost.met_deadline, "{cost:?}");
    is_undone
}

#[test]
fn a_change_is_undone_when_what_it_took_is_back_or_what_it_made_is_gone_and_nothing_stands_there_instead() {
    let Some(bed) = bed() else { return };
    for Undoing { after, before, undone, kept } in &MODES.undoing {
        let after = edited(GUARDED, after);
        let texts = with_sample(bed, &after);
        let change = past_change(&texts, &edited(&after, before));
        assert!(change.can_be_undone(&bed.sandbox, &RepoContext { texts: &texts, ..bed.repo() }).unwrap());
        let is_undone_by =
            |edits: &[String]| is_undone(bed, &texts, &change, &with_sample(bed, &edited(&after, edits)));
        assert_told(undone, kept, is_undone_by);
        assert!(!is_undone(bed, &texts, &change, &bed.texts), "a deleted file has none of it");
    }
}

#[test]
fn a_change_without_code_or_of_order_alone_cannot_be_undone() {
    let Some(bed) = bed() else { return };
    let texts = with_sample(bed, GUARDED);
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    for before in [
        GUARDED.replace("    return x[0]", "    # The first.\n    return x[0]"),
        GUARDED.replace("A = 1", "A = (1)"),
        GUARDED.replace("A = 1\n", "").replace("def one", "A = 1\n\n\ndef one"),
    ] {
        assert!(!past_change(&texts, &before).can_be_undone(&bed.sandbox, &repo).unwrap(), "{before}");
    }
}

#[test]
fn a_mode_whose_check_meets_its_deadline_says_so() {
    let Some(bed) = bed() else { return };
    let late = Host(|job: &Job| {
        let (limit, allowed) = (LimitKind::DeadlineNs, job.limits.deadline_ns);
        Ok(Outcome { fuel: 7, ..Outcome::new(Exit::Exceeded { limit, allowed, used: allowed }) })
    });
    let (texts, before) = (with_sample(bed, GUARDED), edited(GUARDED, &["$GUARD", ""].map(str::to_owned)));
    let (repo, now) = (RepoContext { texts: &texts, ..bed.repo() }, with_sample(bed, &before));
    let change = past_change(&texts, &before);
    assert!(change.can_be_undone(&late, &repo).is_err(), "another run may find that it can");
    let (mut undone, mut rewritten) = (Evidence::default(), Evidence::default());
    assert!(!change.is_undone_by(&late, &repo, &now, &mut undone).unwrap());
    assert!(!function(bed, &texts, "one").is_rewritten(&late, &repo, &now, &mut rewritten).unwrap());
    for cost in [undone, rewritten] {
        assert!(cost.met_deadline && cost.fuel == 7, "{cost:?}");
    }
}
