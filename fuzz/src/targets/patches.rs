//! Patches of a policy, which are applied to a repository.

use veriplay_core::{Fuzz, Patch, TextFiles, check_path};

/// Reads the bytes as a patch and applies it to a small tree, exactly and where it fits.
///
/// # Panics
/// When a patch that was taken names a path that leads elsewhere, prints as another one, or cannot be undone.
pub(super) fn run(bytes: &[u8]) {
    let Ok(patch) = Patch::parse(&String::from_utf8_lossy(bytes)) else { return };
    assert!(patch.touched().all(|(path, _)| check_path(path).is_ok()));
    assert_eq!(Patch::parse(&patch.to_string()).as_ref(), Ok(&patch));
    let before = tree();
    if let Ok(after) = patch.apply(&before) {
        assert_eq!(patch.reverse().apply(&after).as_ref(), Ok(&before));
    }
    if let Ok(after) = patch.apply_fuzzy(&before, Fuzz { offset: 20 }) {
        assert!(after.keys().all(|path| before.contains_key(path) || check_path(path).is_ok()));
    }
}

fn tree() -> TextFiles {
    let numbered: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let files =
        [("pkg/n.py", numbered.as_str()), ("open.txt", "no newline"), ("crlf.txt", "a\r\nb\r\n"), ("empty", "")];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}
