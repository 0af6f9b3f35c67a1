//! Computes the patch between two sets of files.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::{
    FileChange, FilePatch, Hunk, LineKind, MAX_FILE_BYTES, Patch, PatchError, PatchLine, PatchProblem, TextFiles,
};
use crate::path::check_path;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The most changed lines, old and new together, for which the shortest difference is searched: the search is quadratic in them.
const MAX_SEARCHED: usize = 10_000;

impl Patch {
    /// Makes the patch from `old` to `new`, with files in the order of their paths and three lines of context.
    ///
    /// # Errors
    /// When the path of a changed file is invalid, or a text is too large.
    pub fn make(old: &TextFiles, new: &TextFiles) -> Result<Self, PatchError> {
        let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut files = Vec::new();
        for path in paths {
            let (before, after) = (old.get(path), new.get(path));
            if before == after {
                continue;
            }
            check_path(path).map_err(|error| PatchError::new(error).in_file(path))?;
            files.push(diff_file(path, before.map(String::as_str), after.map(String::as_str))?);
        }
        Ok(Self { files })
    }
}

fn diff_file(path: &str, before: Option<&str>, after: Option<&str>) -> Result<FilePatch, PatchError> {
    let change = match (before, after) {
        (None, _) => FileChange::Created,
        (_, None) => FileChange::Deleted,
        _ => FileChange::Modified,
    };
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if before.len().max(after.len()) > MAX_FILE_BYTES {
        let problem = PatchProblem::TooLarge { what: "bytes of a file", allowed: MAX_FILE_BYTES };
        return Err(PatchError::new(problem).in_file(path));
    }
    let old: Vec<PatchLine> = PatchLine::split(before).collect();
    let new: Vec<PatchLine> = PatchLine::split(after).collect();
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
