//! What holds of every patch.

use proptest::prelude::*;
use veriplay_core::{FileChange, Patch, TextFiles};

use super::files;

/// Texts of few different lines, so that they differ in interesting ways: with and without a last newline, with carriage
/// returns, with lines that look like a patch's own.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a", "b", "", " ", "\r", "a\r", "é", "-- a/x", "++ b/x", "@@ -1 +1 @@", "\\ No newline at end of file",
        "diff --git a/x b/x", "\t", "\u{2028}",
    ]);
    (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, newline)| {
        let end = if newline && !lines.is_empty() { "\n" } else { "" };
        lines.join("\n") + end
    })
}

fn path() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a.py", "pkg/b.py", "pkg/c d.py", "pkg/é.txt", "e/f/g", "b b/b.py"])
        .prop_map(str::to_owned)
}

fn tree() -> impl Strategy<Value = TextFiles> {
    prop::collection::btree_map(path(), text(), 0..5)
}

/// A tree and another one, most of which is the same.
pub(super) fn edited() -> impl Strategy<Value = (TextFiles, TextFiles)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), text()), 0..4);
    (tree(), tree(), changes).prop_map(|(old, other, changes)| {
        let mut new = old.clone();
        for (which, at, inserted) in changes {
            let Some(text) = new.values_mut().nth(which.index(old.len().max(1))) else { continue };
            let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            text.insert_str(places[at.index(places.len())], &inserted);
        }
        new.extend(other.into_iter().take(1));
        (old, new)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_patch_makes_the_new_of_the_old_its_reverse_undoes_it_and_its_text_is_the_same_patch(
        (old, new) in prop_oneof![2 => edited().boxed(), 1 => (tree(), tree()).boxed()],
    ) {
        let patch = Patch::make(&old, &new).unwrap();
        let back = patch.reverse();
        prop_assert_eq!(&patch.apply(&old).unwrap(), &new);
        prop_assert_eq!(&back.apply(&new).unwrap(), &old);
        prop_assert_eq!(&back.reverse(), &patch);
        prop_assert_eq!(&super::parsed(&patch.to_string()), &patch);
        prop_assert_eq!(&super::parsed(&back.to_string()), &back);
        let stored = serde_json::to_string(&patch).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Patch>(&stored).unwrap(), &patch);
        prop_assert!(Patch::make(&old, &old).unwrap().is_empty());
    }

    #[test]
    fn the_hunks_of_a_patch_apply_one_by_one((old, new) in edited()) {
        let hunks = Patch::make(&old, &new).unwrap().hunks();
        prop_assert!(hunks.iter().all(|hunk| hunk.apply(&old).is_ok() && Patch::parse(&hunk.to_string()).as_ref() == Ok(hunk)));
        // From below: what is above a hunk is still as it was.
        let after = hunks.iter().rev().fold(old, |files, hunk| hunk.apply(&files).unwrap());
        prop_assert_eq!(after, new);
    }
}

#[test]
fn files_far_too_different_to_search_still_make_a_patch_that_applies() {
    let numbered = |word: &str| (0..8000).map(|line| format!("{word}{line}\n")).collect::<String>();
    let old = files(&[("x", &format!("head\n{}tail\n", numbered("a")))]);
    let new = files(&[("x", &format!("head\n{}tail\n", numbered("b")))]);
    let patch = Patch::make(&old, &new).unwrap();
    assert_eq!(patch.changed_lines(), (8000, 8000));
    assert_eq!(patch.apply(&old).unwrap(), new);
    assert_eq!(patch.reverse().apply(&new).unwrap(), old);
}

#[test]
fn a_patch_says_what_it_touches_and_can_be_split_by_file() {
    let old = files(&[("code.py", "a\n"), ("gone.py", "b\n"), ("tests/t.py", "c\n")]);
    let new = files(&[("code.py", "A\n"), ("made.py", ""), ("tests/t.py", "C\nD\n")]);
    let patch = Patch::make(&old, &new).unwrap();
    let touched: Vec<_> = patch.touched().collect();
    let expected = [
        ("code.py", FileChange::Modified),
        ("gone.py", FileChange::Deleted),
        ("made.py", FileChange::Created),
        ("tests/t.py", FileChange::Modified),
    ];
    assert_eq!(touched, expected);
    let of_tests = patch.only(|path| path.starts_with("tests/"));
    assert_eq!(of_tests.changed_lines(), (1, 2));
    assert_eq!(of_tests.apply(&old).unwrap()["code.py"], "a\n");
}
