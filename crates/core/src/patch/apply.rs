//! Applying a patch: all of it or nothing.

use std::collections::BTreeMap;

use super::error::{Found, quote_line};
use super::{Change, FilePatch, Hunk, Kind, Line, MAX_FILE_BYTES, Patch, PatchError, PatchProblem, TextFiles};

/// How far a hunk may be from where it says, and how much of its context may be wrong. The strict applier has neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fuzz {
    /// Lines up or down, beside what the hunks above have moved.
    pub offset: usize,
    /// Lines of context at each end of a hunk that need not match; never lines that are removed.
    pub context: usize,
}

impl Fuzz {
    /// Exactly where it says, exactly what it says.
    pub const NONE: Self = Self { offset: 0, context: 0 };
}

/// What a patch makes of files: the new text of those it touches, `None` for one that is deleted.
pub type Edits = BTreeMap<String, Option<String>>;

impl Patch {
    /// The files with this patch applied, each hunk exactly where it says.
    ///
    /// # Errors
    /// The first thing that does not fit, with its file, hunk and line.
    pub fn apply(&self, files: &TextFiles) -> Result<TextFiles, PatchError> {
        self.apply_fuzzy(files, Fuzz::NONE)
    }

    /// The same, with some leeway.
    ///
    /// # Errors
    /// The first thing that does not fit even so.
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

    /// Only the changed files, to be laid over the unchanged ones.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn edits(&self, files: &TextFiles, fuzz: Fuzz) -> Result<Edits, PatchError> {
        let edit = |file: &FilePatch| {
            let text = edited(file, files.get(&file.path).map(String::as_str), fuzz);
            text.map(|text| (file.path.clone(), text)).map_err(|error| error.file(&file.path))
        };
        let edits = self.files.iter().map(edit).collect::<Result<Edits, PatchError>>()?;
        for file in self.files.iter().filter(|file| file.change == Change::Created) {
            check_room(&file.path, files, &edits).map_err(|error| error.file(&file.path))?;
        }
        Ok(edits)
    }
}

/// Whether a created file can be there beside the others: a name is a file or a directory, not both.
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

/// The new text of one file.
fn edited(file: &FilePatch, before: Option<&str>, fuzz: Fuzz) -> Result<Option<String>, PatchError> {
    let before = match (file.change, before) {
        (Change::Created, Some(_)) => return Err(PatchError::new(PatchProblem::Exists(file.path.clone()))),
        (Change::Created, None) => "",
        (_, None) => return Err(PatchError::new(PatchProblem::Missing)),
        (_, Some(text)) if text.len() > MAX_FILE_BYTES => {
            let what = "bytes of a file";
            return Err(PatchError::new(PatchProblem::TooLarge { what, allowed: MAX_FILE_BYTES }));
        }
        (_, Some(text)) => text,
    };
    let old: Vec<Line> = Line::split(before).collect();
    let after = spliced(&file.hunks, &old, fuzz)?;
    match (file.change, Line::split(&after).count()) {
        (Change::Deleted, 0) => Ok(None),
        (Change::Deleted, left) => Err(PatchError::new(PatchProblem::Left(left))),
        _ => Ok(Some(after)),
    }
}

/// `old` with the hunks in their places.
fn spliced(hunks: &[Hunk], old: &[Line], fuzz: Fuzz) -> Result<String, PatchError> {
    let (mut out, mut done, mut moved) = (Output::default(), 0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let fail = |error: PatchError| error.hunk(index + 1);
        let wanted = hunk.at.saturating_add_signed(moved).max(done);
        let at = place(hunk, old, done, wanted, fuzz).map_err(fail)?;
        moved = at.cast_signed() - hunk.at.cast_signed();
        out.extend(&old[done..at]).map_err(fail)?;
        done = at;
        for (kind, line) in &hunk.lines {
            match kind {
                Kind::Added => out.push(line).map_err(fail)?,
                // The file's own line: with fuzz it may differ from the hunk's.
                Kind::Kept => out.push(&old[done]).map_err(fail)?,
                Kind::Removed => {}
            }
            done += usize::from(*kind != Kind::Added);
        }
    }
    out.extend(&old[done..]).map_err(|error| error.hunk(hunks.len()))?;
    Ok(out.text)
}

/// A text that grows by lines. Nothing may follow a line without newline: the two would become one.
#[derive(Default)]
struct Output {
    text: String,
    ended: bool,
}

impl Output {
    fn push(&mut self, line: &Line) -> Result<(), PatchError> {
        if self.ended {
            return Err(PatchError::new(PatchProblem::NoNewline));
        }
        self.ended = !line.newline;
        line.push_to(&mut self.text);
        Ok(())
    }

    fn extend(&mut self, lines: &[Line]) -> Result<(), PatchError> {
        lines.iter().try_for_each(|line| self.push(line))
    }
}

/// The place of `hunk`: the nearest to `wanted` that fits, not above `from`.
fn place(hunk: &Hunk, old: &[Line], from: usize, wanted: usize, fuzz: Fuzz) -> Result<usize, PatchError> {
    let exact = check_hunk_at(hunk, old, wanted, 0);
    if fuzz == Fuzz::NONE || exact.is_ok() {
        return exact.map(|()| wanted).map_err(PatchError::new);
    }
    for context in 0..=fuzz.context {
        for offset in 0..=fuzz.offset {
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

/// Whether the old lines of `hunk` are those at `at`, but for `context` lines of context at each end.
fn check_hunk_at(hunk: &Hunk, old: &[Line], at: usize, context: usize) -> Result<(), PatchProblem> {
    let kept = |(kind, _): &&(Kind, Line)| *kind == Kind::Kept;
    let head = hunk.lines.iter().take_while(kept).count().min(context);
    let tail = hunk.lines.iter().rev().take_while(kept).count().min(context);
    let count = hunk.old_count();
    if at > old.len() {
        return Err(PatchProblem::Context { line: at + 1, expected: first_of(hunk), found: Found::End });
    }
    for (index, expected) in hunk.old().enumerate() {
        let free = index < head || index + tail >= count;
        match old.get(at + index) {
            Some(line) if free || line == expected => {}
            found => return Err(mismatch(at + index + 1, expected, found)),
        }
    }
    Ok(())
}

fn first_of(hunk: &Hunk) -> String {
    hunk.lines.first().map(|(_, line)| quote_line(&line.text)).unwrap_or_default()
}

fn mismatch(line: usize, expected: &Line, found: Option<&Line>) -> PatchProblem {
    let found = match found {
        None => Found::End,
        Some(found) if found.text == expected.text => Found::OtherEnding,
        Some(found) => Found::Line(quote_line(&found.text)),
    };
    PatchProblem::Context { line, expected: quote_line(&expected.text), found }
}
