//! Past changes of a repository: material for bugs that undo them, the history-aware removal of SSR.
//!
//! Nothing here reads a version control system. The command line reads the commits of a project and keeps, for each changed file, the patch
//! that undoes the change in the repository as it is now. Games show such a patch to an injector. Solvers see none.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Evidence, Execute, Fuzz, Patch, TextFiles, Value};
use veriplay_image_python::programs::bugs::UNDOES;

use super::RepoContext;
use super::source_queries::SourceReader;

/// The past changes of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// [`SCHEMA_VERSION`](veriplay_core::SCHEMA_VERSION).
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
    pub fn of_file(texts: &TextFiles, path: &str, before: &str, after: &str, commit: &Commit<'_>) -> Option<Self> {
        let file = |text: &str| TextFiles::from([(path.to_owned(), text.to_owned())]);
        let text = texts.get(path)?;
        let (now, whole) = (file(text), Patch::make(&file(after), &file(before)).ok()?);
        let undone =
            whole.hunks().iter().fold(now.clone(), |now, hunk| hunk.apply_fuzzy(&now, Fuzz::GIT).unwrap_or(now));
        let undo = Patch::make(&now, &undone).ok().filter(|undo| !undo.is_empty())?;
        Some(Self { commit: commit.hash.to_owned(), subject: commit.subject.to_owned(), undo })
    }

    /// The file that it changed.
    #[must_use]
    pub fn path(&self) -> &str {
        self.undo.touched().next().map_or("", |(path, _)| path)
    }

    /// The text of its file in the original when all of it is undone.
    fn undone(&self, original: &str) -> Option<String> {
        let file = TextFiles::from([(self.path().to_owned(), original.to_owned())]);
        self.undo.apply(&file).ok()?.remove(self.path())
    }

    /// Whether the files `now` undo a part of it in the original: a statement that it added is gone, or one that it took away is back, and no
    /// other code stands there instead. Layout, comments and other spellings are no difference, and neither is a statement that has moved.
    /// A text that the parser gives up on undoes nothing. Adds the cost to `evidence`.
    pub fn is_undone_by(
        &self,
        execute: &dyn Execute,
        repo: &RepoContext<'_>,
        now: &TextFiles,
        evidence: &mut Evidence,
    ) -> Result<bool, Dropped> {
        now.get(self.path()).map_or(Ok(false), |now| self.is_undone_in(execute, repo, now, evidence))
    }

    /// Whether it can be undone at all. A change of comments cannot, nor one of the order of statements. A deadline that was met before the
    /// answer came is a host fault: another run may have an answer.
    pub fn can_be_undone(&self, execute: &dyn Execute, repo: &RepoContext<'_>) -> Result<bool, Dropped> {
        let undone = repo.texts.get(self.path()).and_then(|original| self.undone(original));
        let mut cost = Evidence::default();
        let can_be_undone = undone.map_or(Ok(false), |undone| self.is_undone_in(execute, repo, &undone, &mut cost))?;
        if cost.met_deadline && !can_be_undone {
            let why =
                format!("the deadline was met while the change of `{}` by `{}` was read", self.path(), self.commit);
            return Err(Dropped { why });
        }
        Ok(can_be_undone)
    }

    /// Whether the text `now` of its file undoes a part of it.
    fn is_undone_in(
        &self,
        execute: &dyn Execute,
        repo: &RepoContext<'_>,
        now: &str,
        evidence: &mut Evidence,
    ) -> Result<bool, Dropped> {
        let Some(original) = repo.texts.get(self.path()) else { return Ok(false) };
        let Some(undone) = self.undone(original) else { return Ok(false) };
        let question = [original.as_str(), undone.as_str(), now].map(Value::str).to_vec();
        SourceReader::of_repo(execute, repo).is_true(UNDOES, "undoes", question, evidence)
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

#[cfg(test)]
mod tests {
    use veriplay_core::TextFiles;

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
        let whole = PastChange::of_file(&file(&after()), PATH, BEFORE, &after(), &COMMIT).unwrap();
        assert_eq!((whole.path(), whole.commit.as_str()), (PATH, "abc"));
        assert_eq!(whole.undo.apply(&file(&after())).unwrap(), file(BEFORE));
        // Lines above it, and another text of the second function: the first hunk has moved, and the second is gone.
        let later = format!("import re\n\n\n{}", after()).replace("len(x) < 2", "len(x) <= 1");
        let part = PastChange::of_file(&file(&later), PATH, BEFORE, &after(), &COMMIT).unwrap();
        let undone = part.undo.apply(&file(&later)).unwrap();
        assert_eq!(undone[PATH], later.replace("    if not x:\n        return None\n", ""));
        for (now, changed) in [
            (file(BEFORE), (BEFORE, after())),
            (file(&later), (BEFORE, BEFORE.to_owned())),
            (TextFiles::new(), (BEFORE, after())),
        ] {
            assert_eq!(PastChange::of_file(&now, PATH, changed.0, &changed.1, &COMMIT), None);
        }
    }
}
