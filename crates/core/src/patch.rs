//! Patches: unified diffs over a set of text files. The verifier applies solvers' patches, and the games make and reverse bugs. All of
//! it is pure.
//!
//! A [`Patch`] is well formed by construction: paths stay inside the tree, counts are right, hunks are in order and change something.
//! [`Patch::parse`] is strict, [`Patch::apply`] requires each hunk exactly where it says unless the caller allows [`Fuzz`],
//! [`Patch::make`] computes a diff, and `Display` writes what `git apply` accepts, empty files included. Renames, copies, modes, links
//! and binary patches are refused.
//!
//! Tested laws: `apply(make(a, b), a) = b`; `apply(reverse(p), apply(p, a)) = a`; `parse(print(p)) = p`.

mod apply;
mod parse;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::path::check_path;
pub use apply::{Edits, Fuzz};

/// Text files by their path.
pub type TextFiles = BTreeMap<String, String>;

/// The most bytes of a file that a patch applies to or is made of.
const MAX_FILE_BYTES: usize = 8 << 20;
/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The most changed lines, old and new together, for which the shortest difference is searched: the search is quadratic in them.
const MAX_SEARCHED: usize = 10_000;

/// A change of text files. It is serialized as its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Patch {
    /// In the order of the text, each path once.
    files: Vec<FilePatch>,
}

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

/// A patch that was refused. Nothing of it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The line of the patch's text, from 1, at which parsing failed.
    line: Option<usize>,
    file: Option<String>,
    /// The hunk of that file, from 1.
    hunk: Option<usize>,
    problem: String,
}

impl PatchError {
    fn new(problem: impl Display) -> Self {
        Self { line: None, file: None, hunk: None, problem: problem.to_string() }
    }

    fn too_large(allowed: usize, what: &str) -> Self {
        Self::new(format_args!("it is larger than the {allowed} {what} a patch may have"))
    }

    fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    fn in_hunk(self, hunk: usize) -> Self {
        Self { hunk: Some(hunk), ..self }
    }
}

impl std::error::Error for PatchError {}

impl Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("patch refused")?;
        if let Some(file) = &self.file {
            write!(f, ", file `{file}`")?;
        }
        if let Some(hunk) = self.hunk {
            write!(f, ", hunk {hunk}")?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line} of the patch")?;
        }
        write!(f, ": {}", self.problem)
    }
}

const NO_NEWLINE: &str = "a line without newline that is not the last one of the file";

/// The start of a line, for an error.
fn quote_line(text: &str) -> String {
    text.chars().take(80).collect()
}

impl Patch {
    /// Makes the patch from `old` to `new`, with files in the order of their paths and three lines of context.
    ///
    /// # Errors
    /// When the path of a changed file is invalid, or a text is too large.
    pub fn make(old: &TextFiles, new: &TextFiles) -> Result<Self, PatchError> {
        let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut files = Vec::new();
        for path in paths.into_iter().filter(|path| old.get(*path) != new.get(*path)) {
            check_path(path).map_err(|error| PatchError::new(error).in_file(path))?;
            files.push(diff_file(path, old.get(path), new.get(path))?);
        }
        Ok(Self { files })
    }

    /// The paths it touches, each with the way it changes.
    pub fn touched(&self) -> impl Iterator<Item = (&str, FileChange)> {
        self.files.iter().map(|file| (file.path.as_str(), file.change))
    }

    /// Whether it touches no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The part of the patch that changes the files for which `wanted` holds.
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        Self { files: self.files.iter().filter(|file| wanted(&file.path)).cloned().collect() }
    }

    /// The patch in parts, one for each hunk, in their order. Each of them applies by itself to what the patch applies to. A file that is
    /// created or deleted is one part.
    pub fn hunks(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        for file in &self.files {
            // An empty file is created or deleted without a hunk.
            let hunks = if file.hunks.is_empty() { vec![&[][..]] } else { file.hunks.chunks(1).collect() };
            parts.extend(hunks.into_iter().map(|hunks| FilePatch { hunks: hunks.to_vec(), ..file.clone() }));
        }
        parts.into_iter().map(|part| Self { files: vec![part] }).collect()
    }

    /// Numbers of lines it removes and adds.
    pub fn changed_lines(&self) -> (usize, usize) {
        let lines = || self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let count = |wanted| lines().filter(|(kind, _)| *kind == wanted).count();
        (count(LineKind::Removed), count(LineKind::Added))
    }

    /// The patch that undoes this one.
    pub fn reverse(&self) -> Self {
        Self { files: self.files.iter().map(FilePatch::reverse).collect() }
    }
}

fn diff_file(path: &str, before: Option<&String>, after: Option<&String>) -> Result<FilePatch, PatchError> {
    let change = match (before, after) {
        (None, _) => FileChange::Created,
        (_, None) => FileChange::Deleted,
        _ => FileChange::Modified,
    };
    let [before, after] = [before, after].map(|text| text.map_or("", String::as_str));
    if before.len().max(after.len()) > MAX_FILE_BYTES {
        return Err(PatchError::too_large(MAX_FILE_BYTES, "bytes of a file").in_file(path));
    }
    let [old, new] = [before, after].map(PatchLine::split);
    let hunks = group_diff_ops(diff_lines(&old, &new), CONTEXT).iter().map(|ops| make_hunk(ops, &old, &new)).collect();
    Ok(FilePatch { path: path.to_owned(), change, hunks })
}

/// The shortest difference, unless the search would take too long. The decision depends only on the number of lines.
fn diff_lines(old: &[PatchLine], new: &[PatchLine]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
    if old_len + new_len <= MAX_SEARCHED {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    let changed = DiffOp::Replace { old_index: head, old_len, new_index: head, new_len };
    let all = [equal(0, 0, head), changed, equal(old.len() - tail, new.len() - tail, tail)];
    all.into_iter().filter(|op| !op.old_range().is_empty() || !op.new_range().is_empty()).collect()
}

fn make_hunk(ops: &[DiffOp], old: &[PatchLine], new: &[PatchLine]) -> Hunk {
    let at = ops.first().map_or(0, |op| op.old_range().start);
    let mut hunk = Hunk { at, lines: Vec::new() };
    for run in ops.chunk_by(|a, b| is_equal(a) == is_equal(b)) {
        for op in run {
            let kind = if is_equal(op) { LineKind::Kept } else { LineKind::Removed };
            hunk.lines.extend(old[op.old_range()].iter().map(|line| (kind, line.clone())));
        }
        for op in run.iter().filter(|op| !is_equal(op)) {
            hunk.lines.extend(new[op.new_range()].iter().map(|line| (LineKind::Added, line.clone())));
        }
    }
    hunk
}

fn is_equal(op: &DiffOp) -> bool {
    matches!(op, DiffOp::Equal { .. })
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
    /// The lines of the old file that it covers.
    fn old_lines(&self) -> impl Iterator<Item = &PatchLine> {
        self.without(LineKind::Added)
    }

    /// The lines of the new file that it covers.
    fn new_lines(&self) -> impl Iterator<Item = &PatchLine> {
        self.without(LineKind::Removed)
    }

    fn without(&self, left_out: LineKind) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(move |(kind, _)| *kind != left_out).map(|(_, line)| line)
    }

    /// Number of lines by which the file grows.
    fn growth(&self) -> isize {
        self.new_lines().count().cast_signed() - self.old_lines().count().cast_signed()
    }

    /// Number of lines of the new file before it, when the hunks above have made the file grow by `grown`.
    fn new_at(&self, grown: isize) -> usize {
        self.at.saturating_add_signed(grown)
    }

    /// Swaps removed and added lines. Within a run of changes the removed lines come first again.
    fn reversed_lines(&self) -> Vec<(LineKind, PatchLine)> {
        let mut lines: Vec<(LineKind, PatchLine)> = self.lines.clone();
        for run in lines.chunk_by_mut(|(a, _), (b, _)| (*a == LineKind::Kept) == (*b == LineKind::Kept)) {
            run.sort_by_key(|(kind, _)| *kind == LineKind::Removed);
            for (kind, _) in run {
                *kind = match kind {
                    LineKind::Kept => LineKind::Kept,
                    LineKind::Removed => LineKind::Added,
                    LineKind::Added => LineKind::Removed,
                };
            }
        }
        lines
    }
}

impl PatchLine {
    fn split(text: &str) -> Vec<PatchLine> {
        let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(text) => PatchLine { text: text.to_owned(), newline: true },
            None => PatchLine { text: line.to_owned(), newline: false },
        });
        lines.collect()
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
        FileChange::Created => writeln!(f, "--- /dev/null\n+++ b/{path}{end}")?,
        FileChange::Deleted => writeln!(f, "--- a/{path}{end}\n+++ /dev/null")?,
        FileChange::Modified => writeln!(f, "--- a/{path}{end}\n+++ b/{path}{end}")?,
    }
    let mut grown = 0;
    for hunk in &file.hunks {
        print_hunk(hunk, grown, f)?;
        grown += hunk.growth();
    }
    Ok(())
}

fn print_hunk(hunk: &Hunk, grown: isize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let old = format_range(hunk.at, hunk.old_lines().count());
    let new = format_range(hunk.new_at(grown), hunk.new_lines().count());
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
