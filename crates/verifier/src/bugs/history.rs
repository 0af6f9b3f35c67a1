//! Past changes of a repository: material for bugs that undo them, the history-aware removal of SSR.
//!
//! Nothing here reads a version control system. The command line reads the commits of a project and keeps, for each changed file, the patch
//! that undoes the change in the repository as it is now. Games show such a patch to an injector. Solvers see none.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, FileChange, Fuzz, LineChange, Patch, SCHEMA_VERSION, TextFiles};

/// The fewest characters, blanks left out, of a line that is recognised by its text alone.
const MIN_DISTINCTIVE_CHARS: usize = 8;

/// The past changes of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// Of this record.
    pub schema_version: u32,
    /// The layer that the changes can be undone in.
    pub package: Digest,
    /// The newest commit that was looked at.
    pub commit: String,
    /// The number of commits that were looked at.
    pub commits: usize,
    /// The changes, newest first.
    pub changes: Vec<PastChange>,
}

impl History {
    /// The version written.
    pub const SCHEMA_VERSION: u32 = SCHEMA_VERSION;
}

/// A past change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastChange {
    /// The commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Undoes the change in the file as it is now, as far as that is possible.
    pub undo: Patch,
}

impl PastChange {
    /// The change of the file `path` from `before` to `after`. Each hunk is undone where its lines still are in the file of `texts`.
    /// `None` where there is none.
    #[must_use]
    pub fn of_file(texts: &TextFiles, path: &str, (before, after): (&str, &str), commit: &Commit<'_>) -> Option<Self> {
        let file = |text: &str| TextFiles::from([(path.to_owned(), text.to_owned())]);
        let text = texts.get(path)?;
        let (now, whole) = (file(text), Patch::make(&file(after), &file(before)).ok()?);
        let anywhere = Fuzz { offset: text.lines().count(), context: 0 };
        let undone =
            whole.hunks().iter().fold(now.clone(), |now, hunk| hunk.apply_fuzzy(&now, anywhere).unwrap_or(now));
        let undo = Patch::make(&now, &undone).ok().filter(|undo| !undo.is_empty())?;
        Some(Self { commit: commit.hash.to_owned(), subject: commit.subject.to_owned(), undo })
    }

    /// The file that it changed.
    #[must_use]
    pub fn path(&self) -> &str {
        self.undo.touched().next().map_or("", |(path, _)| path)
    }

    /// Whether a bug in the files `texts` undoes a part of it: the bug changes the file, and they have a changed line in common, which is at the
    /// same place or nowhere else in the file. Lines such as `return None` are all over a file, and a deleted file has every line of it.
    #[must_use]
    pub fn is_undone_by(&self, texts: &TextFiles, bug: &Patch) -> bool {
        let (path, undo) = (self.path(), self.undo.line_changes());
        let text = texts.get(path).map_or("", String::as_str);
        let is_undone = |change: &LineChange<'_>| {
            let is_same = |undone: &&LineChange<'_>| (undone.is_added, undone.text) == (change.is_added, change.text);
            let mut same = undo.iter().filter(is_same);
            same.any(|undone| undone.at == change.at || is_distinctive(text, change))
        };
        let is_modified = bug.touched().any(|touched| touched == (path, FileChange::Modified));
        let changes = bug.line_changes();
        let mut lines = changes.iter().filter(|change| change.path == path && !change.text.trim().is_empty());
        is_modified && lines.any(is_undone)
    }
}

/// A commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit<'a> {
    /// Its hash.
    pub hash: &'a str,
    /// The first line of its message.
    pub subject: &'a str,
}

/// Whether the text of a changed line says which line it is: it is long, and the file `text` has it once, or not yet where it is added.
fn is_distinctive(text: &str, change: &LineChange<'_>) -> bool {
    let chars = change.text.chars().filter(|found| !found.is_whitespace()).count();
    let occurrences = text.split('\n').filter(|line| *line == change.text).count();
    chars >= MIN_DISTINCTIVE_CHARS && occurrences == usize::from(!change.is_added)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Patch, TextFiles};

    use super::{Commit, PastChange};

    const PATH: &str = "src/one.py";
    const COMMIT: Commit<'static> = Commit { hash: "abc", subject: "Handles nothing" };
    const BEFORE: &str =
        "def one(x):\n    return x[0]\n\n\nA = 1\nB = 2\nC = 3\nD = 4\n\n\ndef two(x):\n    return x[1]\n";

    fn file(text: &str) -> TextFiles {
        TextFiles::from([(PATH.to_owned(), text.to_owned())])
    }

    /// The commit: both functions check their argument.
    fn after() -> String {
        let first = "def one(x):\n    if not x:\n        return None\n    return x[0]\n";
        let second = "def two(x):\n    if len(x) < 2:\n        return None\n    return x[1]\n";
        BEFORE.replace("def one(x):\n    return x[0]\n", first).replace("def two(x):\n    return x[1]\n", second)
    }

    #[test]
    fn a_change_is_undone_where_its_lines_still_are() {
        let whole = PastChange::of_file(&file(&after()), PATH, (BEFORE, &after()), &COMMIT).unwrap();
        assert_eq!((whole.path(), whole.commit.as_str()), (PATH, "abc"));
        assert_eq!(whole.undo.apply(&file(&after())).unwrap(), file(BEFORE));
        // Lines above it, and another text of the second function: the first hunk has moved, and the second is gone.
        let later = format!("import re\n\n\n{}", after()).replace("len(x) < 2", "len(x) <= 1");
        let part = PastChange::of_file(&file(&later), PATH, (BEFORE, &after()), &COMMIT).unwrap();
        let undone = part.undo.apply(&file(&later)).unwrap();
        assert_eq!(undone[PATH], later.replace("    if not x:\n        return None\n", ""));
        for (now, changed) in [
            (file(BEFORE), (BEFORE, after())),
            (file(&later), (BEFORE, BEFORE.to_owned())),
            (TextFiles::new(), (BEFORE, after())),
        ] {
            assert_eq!(PastChange::of_file(&now, PATH, (changed.0, &changed.1), &COMMIT), None);
        }
    }

    #[test]
    fn a_bug_undoes_a_change_when_it_has_one_of_its_lines() {
        let change = PastChange::of_file(&file(&after()), PATH, (BEFORE, &after()), &COMMIT).unwrap();
        let bug = |text: &str| Patch::make(&file(&after()), &file(text)).unwrap();
        let now = file(&after());
        assert!(change.is_undone_by(&now, &bug(BEFORE)));
        assert!(change.is_undone_by(&now, &bug(&after().replace("    if not x:\n        return None\n", ""))));
        assert!(!change.is_undone_by(&now, &bug(&after().replace("A = 1", "A = 2"))));
        assert!(!change.is_undone_by(&now, &Patch::default()));
        let elsewhere = TextFiles::from([("src/two.py".to_owned(), after())]);
        let moved = TextFiles::from([("src/two.py".to_owned(), BEFORE.to_owned())]);
        assert!(!change.is_undone_by(&now, &Patch::make(&elsewhere, &moved).unwrap()), "another file");
        assert!(!change.is_undone_by(&now, &Patch::make(&now, &TextFiles::new()).unwrap()), "no file");
    }

    #[test]
    fn a_line_that_is_elsewhere_too_counts_in_its_place_alone() {
        let now = file(&format!("{}\n\ndef three(x):\n    if x:\n        return None\n", after()));
        let change = PastChange::of_file(&now, PATH, (BEFORE, &after()), &COMMIT).unwrap();
        let other = file(&now[PATH].replace("    if x:\n        return None\n", "    pass\n"));
        assert!(!change.is_undone_by(&now, &Patch::make(&now, &other).unwrap()));
        // The commit took a call away. A bug has it again, in another function.
        for (call, wanted) in [("    remember(x)\n", true), ("    f(x)\n", false)] {
            let before = BEFORE.replace("def one(x):\n", &format!("def one(x):\n{call}"));
            let change = PastChange::of_file(&file(BEFORE), PATH, (&before, BEFORE), &COMMIT).unwrap();
            let other = BEFORE.replace("def two(x):\n", &format!("def two(x):\n{call}"));
            let bug = Patch::make(&file(BEFORE), &file(&other)).unwrap();
            assert_eq!(change.is_undone_by(&file(BEFORE), &bug), wanted, "{call}");
        }
    }
}
