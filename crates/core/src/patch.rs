//! Patches: unified diffs over a set of text files. The verifier applies what a solver answered, the games make and reverse
//! bugs; all of it is pure.
//!
//! A [`Patch`] is well formed by construction: paths lead nowhere else, counts are right, hunks are in order and change
//! something. [`parse`] reads one strictly, [`apply`] applies it with exact context unless a bounded [`Fuzz`] is asked for,
//! [`make`] makes one, and `Display` writes it as git would: `git apply` takes it, empty files included. Renames, copies, modes, links and binary patches are refused.
//!
//! Laws, tested: `apply(make(a, b), a) = b`; `apply(reverse(p), apply(p, a)) = a`; `parse(print(p)) = p`.

mod apply;
mod error;
mod make;
mod parse;

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

pub use apply::{Edits, Fuzz};
pub use error::{PatchError, PatchProblem};

/// Text files by their path.
pub type TextFiles = BTreeMap<String, String>;

/// Bytes of a patch's text at most.
pub(crate) const MAX_PATCH_BYTES: usize = 4 << 20;
/// Files a patch may touch.
pub(crate) const MAX_FILES: usize = 1000;
/// Bytes of a file a patch is made of or applied to.
pub(crate) const MAX_FILE_BYTES: usize = 8 << 20;

/// A change of some text files. Stored as its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Patch {
    /// In the order of the text; each path once.
    files: Vec<FilePatch>,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FilePatch {
    path: String,
    change: Change,
    hunks: Vec<Hunk>,
}

/// What a patch does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is there only afterwards.
    Created,
    /// It is there only before.
    Deleted,
    /// Its text is another one.
    Modified,
}

/// Lines of a file that change, with lines around them that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// Lines of the old file before it. What the new file has before it follows from the hunks above.
    at: usize,
    lines: Vec<(Kind, Line)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kept,
    Removed,
    Added,
}

/// A line and whether a newline ends it; only the last one of a file may have none. A carriage return is part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Line {
    text: String,
    newline: bool,
}

impl Patch {
    /// The paths it touches, and how.
    pub fn touched(&self) -> impl Iterator<Item = (&str, Change)> {
        self.files.iter().map(|file| (file.path.as_str(), file.change))
    }

    /// Whether it touches nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The part of it that concerns the files `wanted`.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        Self { files: self.files.iter().filter(|file| wanted(&file.path)).cloned().collect() }
    }

    /// Lines it removes and lines it adds.
    #[must_use]
    pub fn changed_lines(&self) -> (usize, usize) {
        let lines = || self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let count = |wanted| lines().filter(|(kind, _)| *kind == wanted).count();
        (count(Kind::Removed), count(Kind::Added))
    }

    /// The patch that undoes this one.
    #[must_use]
    pub fn reverse(&self) -> Self {
        Self { files: self.files.iter().map(FilePatch::reverse).collect() }
    }
}

impl FilePatch {
    fn reverse(&self) -> Self {
        let change = match self.change {
            Change::Created => Change::Deleted,
            Change::Deleted => Change::Created,
            Change::Modified => Change::Modified,
        };
        let mut grown = 0;
        let hunks = self.hunks.iter().map(|hunk| {
            let at = hunk.new_at(grown);
            grown += hunk.growth();
            Hunk { at, lines: hunk.reversed_lines() }
        });
        Self { path: self.path.clone(), change, hunks: hunks.collect() }
    }
}

impl Hunk {
    /// Lines of the old file it covers.
    fn old_count(&self) -> usize {
        self.lines.iter().filter(|(kind, _)| *kind != Kind::Added).count()
    }

    /// Lines of the new file it covers.
    fn new_count(&self) -> usize {
        self.lines.iter().filter(|(kind, _)| *kind != Kind::Removed).count()
    }

    /// Lines the new file has more.
    fn growth(&self) -> isize {
        self.new_count().cast_signed() - self.old_count().cast_signed()
    }

    /// Lines of the new file before it, where the hunks above made the file grow by `grown`.
    fn new_at(&self, grown: isize) -> usize {
        self.at.saturating_add_signed(grown)
    }

    fn old(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|(kind, _)| *kind != Kind::Added).map(|(_, line)| line)
    }

    /// Removed and added lines trade places; within a run of changes removed ones come first again.
    fn reversed_lines(&self) -> Vec<(Kind, Line)> {
        let mut out = Vec::with_capacity(self.lines.len());
        for run in self.lines.chunk_by(|(a, _), (b, _)| (*a == Kind::Kept) == (*b == Kind::Kept)) {
            let of = |wanted, kind| {
                run.iter().filter(move |(found, _)| *found == wanted).map(move |(_, line)| (kind, line.clone()))
            };
            out.extend(of(Kind::Kept, Kind::Kept));
            out.extend(of(Kind::Added, Kind::Removed));
            out.extend(of(Kind::Removed, Kind::Added));
        }
        out
    }
}

impl Line {
    /// The lines of a text.
    fn split(text: &str) -> impl Iterator<Item = Line> + '_ {
        text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(text) => Line { text: text.to_owned(), newline: true },
            None => Line { text: line.to_owned(), newline: false },
        })
    }

    fn push_to(&self, text: &mut String) {
        text.push_str(&self.text);
        if self.newline {
            text.push('\n');
        }
    }
}

impl Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| print_file(file, f))
    }
}

impl From<Patch> for String {
    fn from(patch: Patch) -> Self {
        patch.to_string()
    }
}

fn print_file(file: &FilePatch, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = &file.path;
    writeln!(f, "diff --git a/{path} b/{path}")?;
    match file.change {
        Change::Created => f.write_str("new file mode 100644\n")?,
        Change::Deleted => f.write_str("deleted file mode 100644\n")?,
        Change::Modified => {}
    }
    if file.hunks.is_empty() {
        return Ok(());
    }
    // A tab ends a name with a space in it, for programs that would take what follows for a date.
    let end = if path.contains(' ') { "\t" } else { "" };
    match file.change {
        Change::Created => f.write_str("--- /dev/null\n")?,
        _ => writeln!(f, "--- a/{path}{end}")?,
    }
    match file.change {
        Change::Deleted => f.write_str("+++ /dev/null\n")?,
        _ => writeln!(f, "+++ b/{path}{end}")?,
    }
    let mut grown = 0;
    for hunk in &file.hunks {
        print_hunk(hunk, grown, f)?;
        grown += hunk.growth();
    }
    Ok(())
}

fn print_hunk(hunk: &Hunk, grown: isize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let old = range(hunk.at, hunk.old_count());
    let new = range(hunk.new_at(grown), hunk.new_count());
    writeln!(f, "@@ -{old} +{new} @@")?;
    for (kind, line) in &hunk.lines {
        let mark = match kind {
            Kind::Kept => ' ',
            Kind::Removed => '-',
            Kind::Added => '+',
        };
        writeln!(f, "{mark}{}", line.text)?;
        if !line.newline {
            f.write_str("\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// `start,count`: of no lines, the start is the line before them.
fn range(at: usize, count: usize) -> String {
    match count {
        0 => format!("{at},0"),
        1 => format!("{}", at + 1),
        _ => format!("{},{count}", at + 1),
    }
}
