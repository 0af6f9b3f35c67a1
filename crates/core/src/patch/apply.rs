//! Applies a patch as a whole or not at all.

use std::collections::BTreeMap;

use super::error::{FoundLine, quote_line};
use super::{
    FileChange, FilePatch, Hunk, LineKind, MAX_FILE_BYTES, Patch, PatchError, PatchLine, PatchProblem, TextFiles,
};

/// Bounds on how far a hunk may have moved and how much of its context may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fuzz {
    /// Lines up or down, beyond the shift of the hunks above.
    pub offset: usize,
    /// Lines of context at each end of a hunk that need not match. Removed lines must match.
    pub context: usize,
}

impl Fuzz {
    /// No offset, and the whole context must match.
    pub const NONE: Self = Self { offset: 0, context: 0 };

    /// As `git apply` has it: the whole context must match, at the nearest place in the file where it does.
    pub const GIT: Self = Self { offset: usize::MAX, context: 0 };
}

/// The new text of each file that a patch touches; `None` for a deleted file.
pub type Edits = BTreeMap<String, Option<String>>;

impl Patch {
    /// Applies the patch to `files`, each hunk exactly where it says.
    ///
    /// # Errors
    /// When a hunk does not fit; the error names file, hunk and line.
    pub fn apply(&self, files: &TextFiles) -> Result<TextFiles, PatchError> {
        self.apply_fuzzy(files, Fuzz::NONE)
    }

    /// Applies the patch to `files` within the bounds of `fuzz`.
    ///
    /// # Errors
    /// When a hunk does not fit even so.
    pub fn apply_fuzzy(&self, files: &TextFiles, fuzz: Fuzz) -> Result<TextFiles, PatchError> {
        let mut after = files.clone();
        for (path, text) in self.edits(files, fuzz)? {
            match text {
                Some(text) => after.insert(path, text),
                None => after.remove(&path),
            };
        }
        Ok(after)
    }

    /// Only the changed files.
    ///
    /// # Errors
    /// When a hunk does not fit.
    pub fn edits(&self, files: &TextFiles, fuzz: Fuzz) -> Result<Edits, PatchError> {
        let edit = |file: &FilePatch| {
            let text = edit_file(file, files.get(&file.path).map(String::as_str), fuzz);
            text.map(|text| (file.path.clone(), text)).map_err(|error| error.in_file(&file.path))
        };
        let edits = self.files.iter().map(edit).collect::<Result<Edits, PatchError>>()?;
        for file in self.files.iter().filter(|file| file.change == FileChange::Created) {
            check_room(&file.path, files, &edits).map_err(|error| error.in_file(&file.path))?;
        }
        Ok(edits)
    }
}

/// Checks that a created file does not clash with another: a name is a file or a directory, not both.
fn check_room(path: &str, files: &TextFiles, edits: &Edits) -> Result<(), PatchError> {
    let stays = |name: &str| match edits.get(name) {
        Some(text) => text.is_some(),
        None => files.contains_key(name),
    };
    let mut above = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
    if let Some(file) = above.find(|dir| stays(dir)) {
        return Err(PatchError::new(PatchProblem::Exists(file.to_owned())));
    }
    let inside = format!("{path}/");
    let below = |names: &mut dyn Iterator<Item = &String>| {
        names.take_while(|name| name.starts_with(&inside)).find(|name| stays(name)).cloned()
    };
    let from = inside.clone()..;
    let found = below(&mut files.range(from.clone()).map(|(name, _)| name));
    match found.or_else(|| below(&mut edits.range(from).map(|(name, _)| name))) {
        Some(file) => Err(PatchError::new(PatchProblem::Exists(file))),
        None => Ok(()),
    }
}

/// Computes the new text of one file.
fn edit_file(file: &FilePatch, before: Option<&str>, fuzz: Fuzz) -> Result<Option<String>, PatchError> {
    let before = match (file.change, before) {
        (FileChange::Created, Some(_)) => return Err(PatchError::new(PatchProblem::Exists(file.path.clone()))),
        (FileChange::Created, None) => "",
        (_, None) => return Err(PatchError::new(PatchProblem::Missing)),
        (_, Some(text)) if text.len() > MAX_FILE_BYTES => {
            let what = "bytes of a file";
            return Err(PatchError::new(PatchProblem::TooLarge { what, allowed: MAX_FILE_BYTES }));
        }
        (_, Some(text)) => text,
    };
    let old: Vec<PatchLine> = PatchLine::split(before).collect();
    let after = splice_hunks(&file.hunks, &old, fuzz)?;
    match (file.change, PatchLine::split(&after).count()) {
        (FileChange::Deleted, 0) => Ok(None),
        (FileChange::Deleted, left) => Err(PatchError::new(PatchProblem::Left(left))),
        _ => Ok(Some(after)),
    }
}

/// Replaces the lines of the hunks in `old`.
fn splice_hunks(hunks: &[Hunk], old: &[PatchLine], fuzz: Fuzz) -> Result<String, PatchError> {
    let (mut out, mut done, mut moved) = (Output::default(), 0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let fail = |error: PatchError| error.in_hunk(index + 1);
        let wanted = hunk.at.saturating_add_signed(moved).max(done);
        let at = find_place(hunk, old, done, wanted, fuzz).map_err(fail)?;
        moved = at.cast_signed() - hunk.at.cast_signed();
        out.extend(&old[done..at]).map_err(fail)?;
        done = at;
        for (kind, line) in &hunk.lines {
            match kind {
                LineKind::Added => out.push(line).map_err(fail)?,
                // With fuzz the file's line may differ from the hunk's.
                LineKind::Kept => out.push(&old[done]).map_err(fail)?,
                LineKind::Removed => {}
            }
            done += usize::from(*kind != LineKind::Added);
        }
    }
    out.extend(&old[done..]).map_err(|error| error.in_hunk(hunks.len()))?;
    Ok(out.text)
}

/// A text that grows by lines. No line may follow one without a newline, or the two would merge.
#[derive(Default)]
struct Output {
    text: String,
    ended: bool,
}

impl Output {
    fn push(&mut self, line: &PatchLine) -> Result<(), PatchError> {
        if self.ended {
            return Err(PatchError::new(PatchProblem::NoNewline));
        }
        self.ended = !line.newline;
        line.push_to(&mut self.text);
        Ok(())
    }

    fn extend(&mut self, lines: &[PatchLine]) -> Result<(), PatchError> {
        lines.iter().try_for_each(|line| self.push(line))
    }
}

/// Finds the place nearest to `wanted` where `hunk` fits, not above `from`.
fn find_place(hunk: &Hunk, old: &[PatchLine], from: usize, wanted: usize, fuzz: Fuzz) -> Result<usize, PatchError> {
    let exact = check_hunk_at(hunk, old, wanted, 0);
    if fuzz == Fuzz::NONE || exact.is_ok() {
        return exact.map(|()| wanted).map_err(PatchError::new);
    }
    for context in 0..=fuzz.context {
        for offset in 0..=fuzz.offset.min(old.len().max(wanted)) {
            let places = [wanted.checked_sub(offset), wanted.checked_add(offset)];
            let mut places = places.into_iter().flatten().filter(|at| *at >= from && *at <= old.len());
            if let Some(at) = places.find(|at| check_hunk_at(hunk, old, *at, context).is_ok()) {
                return Ok(at);
            }
        }
    }
    let Fuzz { offset, context } = fuzz;
    Err(PatchError::new(PatchProblem::NoPlace { line: wanted + 1, offset, context }))
}

/// Checks that the old lines of `hunk` stand at `at`, except `context` lines of context at each end.
fn check_hunk_at(hunk: &Hunk, old: &[PatchLine], at: usize, context: usize) -> Result<(), PatchProblem> {
    let kept = |(kind, _): &&(LineKind, PatchLine)| *kind == LineKind::Kept;
    let head = hunk.lines.iter().take_while(kept).count().min(context);
    let tail = hunk.lines.iter().rev().take_while(kept).count().min(context);
    let count = hunk.old_count();
    if at > old.len() {
        return Err(PatchProblem::Context { line: at + 1, expected: quote_first_line(hunk), found: FoundLine::End });
    }
    for (index, expected) in hunk.old().enumerate() {
        let free = index < head || index + tail >= count;
        match old.get(at + index) {
            Some(line) if free || line == expected => {}
            found => return Err(find_mismatch(at + index + 1, expected, found)),
        }
    }
    Ok(())
}

fn quote_first_line(hunk: &Hunk) -> String {
    hunk.lines.first().map(|(_, line)| quote_line(&line.text)).unwrap_or_default()
}

fn find_mismatch(line: usize, expected: &PatchLine, found: Option<&PatchLine>) -> PatchProblem {
    let found = match found {
        None => FoundLine::End,
        Some(found) if found.text == expected.text => FoundLine::OtherEnding,
        Some(found) => FoundLine::Other(quote_line(&found.text)),
    };
    PatchProblem::Context { line, expected: quote_line(&expected.text), found }
}
