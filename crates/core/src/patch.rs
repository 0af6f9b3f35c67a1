//! Patches: unified diffs over a set of text files. The verifier applies solvers' patches, and the games make and reverse bugs. All of
//! it is pure.
//!
//! A [`Patch`] is well formed by construction: paths stay inside the tree, counts are right, hunks are in order and change something.
//! [`parse`] is strict, [`apply`] requires exact context unless the caller allows [`Fuzz`], [`make`] computes a diff, and `Display` writes
//! what `git apply` accepts, empty files included. Renames, copies, modes, links and binary patches are refused.
//!
//! Tested laws: `apply(make(a, b), a) = b`; `apply(reverse(p), apply(p, a)) = a`; `parse(print(p)) = p`.

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

/// The most bytes of a patch's text.
pub(crate) const MAX_PATCH_BYTES: usize = 4 << 20;
/// The most files a patch may touch.
pub(crate) const MAX_FILES: usize = 1000;
/// The most bytes of a file that a patch applies to or is made of.
pub(crate) const MAX_FILE_BYTES: usize = 8 << 20;

/// A change of text files. It is serialized as its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Patch {
    /// In the order of the text, each path once.
    files: Vec<FilePatch>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FilePatch {
    path: String,
    change: FileChange,
    hunks: Vec<Hunk>,
}

/// The way a patch changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// The file exists only after the patch.
    Created,
    /// The file exists only before the patch.
    Deleted,
    /// The file's text changes.
    Modified,
}

/// Changed lines of a file, with unchanged lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// Number of lines of the old file before it. The number in the new file follows from the hunks above.
    at: usize,
    lines: Vec<(LineKind, PatchLine)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Kept,
    Removed,
    Added,
}

/// A line, and whether a newline ends it. Only the last line of a file may lack one. A carriage return is part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PatchLine {
    text: String,
    newline: bool,
}

impl Patch {
    /// The paths it touches, each with the way it changes.
    pub fn touched(&self) -> impl Iterator<Item = (&str, FileChange)> {
        self.files.iter().map(|file| (file.path.as_str(), file.change))
    }

    /// Whether it touches no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The part of the patch that changes the files for which `wanted` holds.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        Self { files: self.files.iter().filter(|file| wanted(&file.path)).cloned().collect() }
    }

    /// The patch in parts, one for each hunk, in their order. Each of them applies by itself to what the patch applies to. A file that is
    /// created or deleted is one part.
    #[must_use]
    pub fn hunks(&self) -> Vec<Self> {
        let part = |file: &FilePatch, hunks: Vec<Hunk>| Self { files: vec![FilePatch { hunks, ..file.clone() }] };
        let parts = |file: &FilePatch| match file.change {
            FileChange::Modified => file.hunks.iter().map(|hunk| part(file, vec![hunk.clone()])).collect(),
            FileChange::Created | FileChange::Deleted => vec![part(file, file.hunks.clone())],
        };
        self.files.iter().flat_map(parts).collect()
    }

    /// Numbers of lines it removes and adds.
    #[must_use]
    pub fn changed_lines(&self) -> (usize, usize) {
        let lines = || self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let count = |wanted| lines().filter(|(kind, _)| *kind == wanted).count();
        (count(LineKind::Removed), count(LineKind::Added))
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
            FileChange::Created => FileChange::Deleted,
            FileChange::Deleted => FileChange::Created,
            FileChange::Modified => FileChange::Modified,
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
    /// Number of lines of the old file it covers.
    fn old_count(&self) -> usize {
        self.lines.iter().filter(|(kind, _)| *kind != LineKind::Added).count()
    }

    /// Number of lines of the new file it covers.
    fn new_count(&self) -> usize {
        self.lines.iter().filter(|(kind, _)| *kind != LineKind::Removed).count()
    }

    /// Number of lines by which the file grows.
    fn growth(&self) -> isize {
        self.new_count().cast_signed() - self.old_count().cast_signed()
    }

    /// Number of lines of the new file before it, when the hunks above have made the file grow by `grown`.
    fn new_at(&self, grown: isize) -> usize {
        self.at.saturating_add_signed(grown)
    }

    fn old(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|(kind, _)| *kind != LineKind::Added).map(|(_, line)| line)
    }

    /// Swaps removed and added lines. Within a run of changes the removed lines come first again.
    fn reversed_lines(&self) -> Vec<(LineKind, PatchLine)> {
        let mut out = Vec::with_capacity(self.lines.len());
        for run in self.lines.chunk_by(|(a, _), (b, _)| (*a == LineKind::Kept) == (*b == LineKind::Kept)) {
            let of = |wanted, kind| {
                run.iter().filter(move |(found, _)| *found == wanted).map(move |(_, line)| (kind, line.clone()))
            };
            out.extend(of(LineKind::Kept, LineKind::Kept));
            out.extend(of(LineKind::Added, LineKind::Removed));
            out.extend(of(LineKind::Removed, LineKind::Added));
        }
        out
    }
}

impl PatchLine {
    /// Splits a text into lines.
    fn split(text: &str) -> impl Iterator<Item = PatchLine> + '_ {
        text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(text) => PatchLine { text: text.to_owned(), newline: true },
            None => PatchLine { text: line.to_owned(), newline: false },
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
        FileChange::Created => f.write_str("new file mode 100644\n")?,
        FileChange::Deleted => f.write_str("deleted file mode 100644\n")?,
        FileChange::Modified => {}
    }
    if file.hunks.is_empty() {
        return Ok(());
    }
    // A tab ends a name that contains a space: some programs read a date after the space otherwise.
    let end = if path.contains(' ') { "\t" } else { "" };
    match file.change {
        FileChange::Created => f.write_str("--- /dev/null\n")?,
        _ => writeln!(f, "--- a/{path}{end}")?,
    }
    match file.change {
        FileChange::Deleted => f.write_str("+++ /dev/null\n")?,
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
    let old = format_range(hunk.at, hunk.old_count());
    let new = format_range(hunk.new_at(grown), hunk.new_count());
    writeln!(f, "@@ -{old} +{new} @@")?;
    for (kind, line) in &hunk.lines {
        let mark = match kind {
            LineKind::Kept => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        writeln!(f, "{mark}{}", line.text)?;
        if !line.newline {
            f.write_str("\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// Formats `start,count`. For zero lines the start is the line before them.
fn format_range(at: usize, count: usize) -> String {
    match count {
        0 => format!("{at},0"),
        1 => format!("{}", at + 1),
        _ => format!("{},{count}", at + 1),
    }
}
