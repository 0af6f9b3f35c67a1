//! Applies a patch as a whole or not at all.

use std::collections::BTreeMap;

use super::{
    FileChange, FilePatch, Hunk, LineKind, MAX_FILE_BYTES, NO_NEWLINE, Patch, PatchError, PatchLine, TextFiles,
    quote_line,
};

/// How far a hunk may have moved. Its lines must match in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fuzz {
    /// Lines up or down, beyond the shift of the hunks above.
    pub offset: usize,
}

impl Fuzz {
    /// Each hunk must stand where it says.
    pub const NONE: Self = Self { offset: 0 };

    /// As `git apply` has it: at the nearest place in the file where it fits.
    pub const GIT: Self = Self { offset: usize::MAX };
}

/// The new text of each file that a patch touches; `None` for a deleted file.
pub type Edits = BTreeMap<String, Option<String>>;

impl Patch {
    /// Applies the patch to `files`, each hunk exactly where it says. The error names the file, hunk and line that do not fit.
    pub fn apply(&self, files: &TextFiles) -> Result<TextFiles, PatchError> {
        self.apply_fuzzy(files, Fuzz::NONE)
    }

    /// Applies the patch to `files` within the bounds of `fuzz`.
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

    /// The files that [`Patch::apply_fuzzy`] changes, alone.
    pub fn edits(&self, files: &TextFiles, fuzz: Fuzz) -> Result<Edits, PatchError> {
        let mut edits = Edits::new();
        for file in &self.files {
            let text = edit_file(file, files.get(&file.path).map(String::as_str), fuzz);
            edits.insert(file.path.clone(), text.map_err(|error| error.in_file(&file.path))?);
        }
        for file in self.files.iter().filter(|file| file.change == FileChange::Created) {
            check_room(&file.path, files, &edits).map_err(|error| error.in_file(&file.path))?;
        }
        Ok(edits)
    }
}

/// Checks that a created file does not clash with another: a name is a file or a directory, not both.
fn check_room(path: &str, files: &TextFiles, edits: &Edits) -> Result<(), PatchError> {
    let stays = |name: &str| edits.get(name).map_or_else(|| files.contains_key(name), Option::is_some);
    let inside = format!("{path}/");
    let above = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
    let is_inside = |name: &&String| name.starts_with(&inside);
    let old = files.range(inside.clone()..).map(|(name, _)| name).take_while(is_inside);
    let new = edits.range(inside.clone()..).map(|(name, _)| name).take_while(is_inside);
    match above.chain(old.chain(new).map(String::as_str)).find(|name| stays(name)) {
        Some(file) => Err(exists(file)),
        None => Ok(()),
    }
}

fn exists(file: &str) -> PatchError {
    PatchError::new(format_args!("`{file}` is there already"))
}

/// Computes the new text of one file.
fn edit_file(file: &FilePatch, before: Option<&str>, fuzz: Fuzz) -> Result<Option<String>, PatchError> {
    let before = match (file.change, before) {
        (FileChange::Created, Some(_)) => return Err(exists(&file.path)),
        (FileChange::Created, None) => "",
        (_, None) => return Err(PatchError::new("there is no such file")),
        (_, Some(text)) if text.len() > MAX_FILE_BYTES => {
            return Err(PatchError::too_large(MAX_FILE_BYTES, "bytes of a file"));
        }
        (_, Some(text)) => text,
    };
    let after = splice_hunks(&file.hunks, &PatchLine::split(before), fuzz)?;
    match (file.change, PatchLine::split(&after).len()) {
        (FileChange::Deleted, 0) => Ok(None),
        (FileChange::Deleted, left) => {
            Err(PatchError::new(format_args!("the file is deleted, and {left} of its lines are not removed")))
        }
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
        for (_, line) in hunk.lines.iter().filter(|(kind, _)| *kind != LineKind::Removed) {
            out.push(line).map_err(fail)?;
        }
        done = at + hunk.old_lines().count();
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
            return Err(PatchError::new(NO_NEWLINE));
        }
        self.ended = !line.newline;
        self.text += &line.text;
        if line.newline {
            self.text.push('\n');
        }
        Ok(())
    }

    fn extend(&mut self, lines: &[PatchLine]) -> Result<(), PatchError> {
        lines.iter().try_for_each(|line| self.push(line))
    }
}

/// Finds the place nearest to `wanted` where `hunk` fits, not above `from`.
fn find_place(hunk: &Hunk, old: &[PatchLine], from: usize, wanted: usize, fuzz: Fuzz) -> Result<usize, PatchError> {
    let Some(mismatch) = find_mismatch(hunk, old, wanted) else { return Ok(wanted) };
    if fuzz == Fuzz::NONE {
        return Err(describe_mismatch(hunk, old, wanted, mismatch));
    }
    let offsets = 0..=fuzz.offset.min(old.len().max(wanted));
    let places = offsets.flat_map(|offset| [wanted.checked_sub(offset), wanted.checked_add(offset)]).flatten();
    let mut inside = places.filter(|at| (from..=old.len()).contains(at));
    inside.find(|at| find_mismatch(hunk, old, *at).is_none()).ok_or_else(|| {
        let Fuzz { offset } = fuzz;
        PatchError::new(match offset < old.len() {
            true => format!("its lines are nowhere within {offset} lines of line {}", wanted + 1),
            false => "its lines are nowhere in the file".to_owned(),
        })
    })
}

/// The first of the old lines of `hunk` that is not in its place when the hunk is at `at`.
fn find_mismatch(hunk: &Hunk, old: &[PatchLine], at: usize) -> Option<usize> {
    match old.get(at..) {
        None => Some(0),
        Some(rest) => {
            (0..).zip(hunk.old_lines()).find(|(index, line)| rest.get(*index) != Some(line)).map(|(index, _)| index)
        }
    }
}

fn describe_mismatch(hunk: &Hunk, old: &[PatchLine], at: usize, index: usize) -> PatchError {
    let first = hunk.lines.first().map(|(_, line)| line);
    let expected = if at > old.len() { first } else { hunk.old_lines().nth(index) };
    let expected = expected.map_or("", |line| &line.text);
    let found = match old.get(at + index) {
        None => "beyond the end".to_owned(),
        Some(line) if line.text == expected => "the same but for the newline at its end".to_owned(),
        Some(line) => format!("{:?}", quote_line(&line.text)),
    };
    let (line, expected) = (at + index + 1, quote_line(expected));
    PatchError::new(format_args!("line {line} of the file is {found}, and the hunk expects {expected:?}"))
}
