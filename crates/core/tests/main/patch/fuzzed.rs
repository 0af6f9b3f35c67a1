//! A patch that somebody has tampered with applies to something or is refused: it never panics, and never leads elsewhere.

use proptest::prelude::*;
use veriplay_core::{Fuzz, Patch, check_path};

use super::laws::edited;

/// What is put into a patch's text.
const SCRAPS: &[&str] = &[
    "",
    "\n",
    "@@ -1 +1 @@\n",
    "@@ -0,0 +1 @@\n",
    "--- a/a.py\n",
    "+++ b/../a.py\n",
    "+",
    "-",
    " ",
    "\\",
    "\\ No newline at end of file\n",
    "\r",
    "0",
    "9",
    "18446744073709551615",
    ",",
    "/dev/null",
    "diff --git a/a.py b/a.py\n",
    "new file mode 100644\n",
    "\"",
    "\\303",
    "é",
    "deleted file mode 100644\n",
    "\u{0}",
    "../",
    "\t",
];

fn tampered() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, usize)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..SCRAPS.len(), 0..12usize), 1..5)
}

fn boundary(text: &str, from: usize) -> usize {
    (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_mutated_patch_applies_or_is_refused((old, new) in edited(), changes in tampered()) {
        let mut text = Patch::make(&old, &new).unwrap().to_string();
        for (at, scrap, removed) in changes {
            let start = boundary(&text, at.index(text.len() + 1));
            let end = boundary(&text, (start + removed).min(text.len()));
            text.replace_range(start..end, SCRAPS[scrap]);
        }
        if let Ok(patch) = Patch::parse(&text) {
            prop_assert!(patch.touched().all(|(path, _)| check_path(path).is_ok()));
            prop_assert_eq!(&Patch::parse(&patch.to_string()).unwrap(), &patch);
            if let Ok(after) = patch.apply(&old) {
                prop_assert_eq!(&patch.reverse().apply(&after).unwrap(), &old);
            }
            let _ = patch.apply_fuzzy(&old, Fuzz { offset: 5, context: 2 });
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        let _ = Patch::parse(&text);
    }
}
