//! Parses patches strictly: a line that is not understood is an error.

mod header;

use std::collections::HashSet;

use super::error::quote_line;
use super::{
    FileChange, FilePatch, Hunk, LineKind, MAX_FILES, MAX_PATCH_BYTES, Patch, PatchError, PatchLine, PatchProblem,
};

/// The largest line number of a header, beyond any file that is accepted.
const MAX_LINE_NUMBER: usize = 100_000_000;

impl std::str::FromStr for Patch {
    type Err = PatchError;

    fn from_str(text: &str) -> Result<Self, PatchError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Patch {
    type Error = PatchError;

    fn try_from(text: String) -> Result<Self, PatchError> {
        Self::parse(&text)
    }
}

impl Patch {
    /// Reads a unified diff, of git's or of `diff -u`, with git's prefixes or with none. Blank lines between files are skipped;
    /// a blank line inside a hunk is an empty line of context, as git has it. What `git format-patch` writes around a diff is left
    /// out, and so are the carriage returns of a text whose every line ends in one, as `patch` leaves them out.
    ///
    /// # Errors
    /// The first invalid line, and why it is invalid.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        if text.len() > MAX_PATCH_BYTES {
            return Err(PatchError::new(PatchProblem::TooLarge { what: "bytes", allowed: MAX_PATCH_BYTES }));
        }
        if let Some(text) = without_carriage_returns(text) {
            return Self::parse(&text);
        }
        let mut lines = PatchLines { rest: text, number: 0 };
        skip_mail_header(&mut lines);
        let (mut files, mut seen) = (Vec::new(), HashSet::new());
        while lines.skip_blank() && !lines.is_signature() {
            let file = read_file(&mut lines)?;
            if !seen.insert(file.path.clone()) {
                return Err(lines.error(PatchProblem::Twice).in_file(&file.path));
            }
            if files.len() == MAX_FILES {
                return Err(lines.error(PatchProblem::TooLarge { what: "files", allowed: MAX_FILES }));
            }
            files.push(file);
        }
        Ok(Self { files })
    }
}

/// The text with plain line ends, where every line ends in a carriage return and a newline.
fn without_carriage_returns(text: &str) -> Option<String> {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).peekable();
    let has_lines = lines.peek().is_some();
    (has_lines && lines.all(|line| line.ends_with("\r\n"))).then(|| text.replace("\r\n", "\n"))
}

/// Goes to the diff of a mail that `git format-patch` wrote.
fn skip_mail_header(lines: &mut PatchLines<'_>) {
    let is_mail = lines.peek().and_then(|line| line.strip_prefix("From ")).is_some_and(|rest| {
        rest.split(' ').next().is_some_and(|commit| commit.len() >= 7 && commit.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    while is_mail && lines.peek().is_some_and(|line| !line.starts_with("diff --git ")) {
        lines.skip();
    }
}

fn read_file(lines: &mut PatchLines<'_>) -> Result<FilePatch, PatchError> {
    let (path, change, has_hunks) = header::read_file_header(lines)?;
    let mut file = FilePatch { path, change, hunks: Vec::new() };
    if !has_hunks {
        return Ok(file);
    }
    let mut state = PreviousHunks::default();
    while lines.peek().is_some_and(|line| line.starts_with("@@")) {
        let number = file.hunks.len() + 1;
        let hunk = read_hunk(lines, &mut state).map_err(|error| error.in_file(&file.path).in_hunk(number))?;
        let one_sided = match change {
            FileChange::Created => hunk.old_count() == 0,
            FileChange::Deleted => hunk.new_count() == 0,
            FileChange::Modified => true,
        };
        if !one_sided || (change != FileChange::Modified && number > 1) {
            return Err(lines.error(PatchProblem::OneSided).in_file(&file.path).in_hunk(number));
        }
        file.hunks.push(hunk);
    }
    match file.hunks.is_empty() {
        true => Err(lines.unexpected("a hunk, `@@ -… +… @@`").in_file(&file.path)),
        false => Ok(file),
    }
}

/// Totals of the hunks above.
#[derive(Default)]
struct PreviousHunks {
    /// Number of old lines before the end of the last hunk.
    end: usize,
    grown: isize,
    /// Whether a line without a newline has ended the file.
    closed: bool,
}

fn read_hunk(lines: &mut PatchLines<'_>, above: &mut PreviousHunks) -> Result<Hunk, PatchError> {
    let start = lines.number;
    let header = lines.peek().and_then(read_header);
    let header = header.ok_or_else(|| lines.unexpected("`@@ -line,count +line,count @@`"))?;
    lines.skip();
    let hunk = Hunk { at: header.old.0, lines: read_body(lines, &header)? };
    let fail = |problem| Err(lines.error_at(start, problem));
    if hunk.at < above.end {
        return fail(PatchProblem::Order { at: hunk.at, end: above.end });
    }
    let expected = hunk.new_at(above.grown);
    if header.new.0 != expected {
        return fail(PatchProblem::NewStart { found: header.new.0, expected });
    }
    if above.closed {
        return fail(PatchProblem::NoNewline);
    }
    let new = hunk.lines.iter().filter(|(kind, _)| *kind != LineKind::Removed).map(|(_, line)| line);
    if hunk.old().eq(new) {
        return fail(PatchProblem::Nothing);
    }
    above.end = hunk.at + hunk.old_count();
    above.grown += hunk.growth();
    above.closed = hunk.lines.iter().any(|(_, line)| !line.newline);
    Ok(hunk)
}

/// For either file: the number of lines before the hunk, and in it.
struct HunkHeader {
    old: (usize, usize),
    new: (usize, usize),
}

/// Parses `@@ -12,3 +12,4 @@ section`.
fn read_header(line: &str) -> Option<HunkHeader> {
    let rest = line.strip_prefix("@@ -")?;
    let (ranges, section) = rest.split_once(" @@")?;
    if !section.is_empty() && !section.starts_with(' ') {
        return None;
    }
    let (old, new) = ranges.split_once(" +")?;
    Some(HunkHeader { old: read_range(old)?, new: read_range(new)? })
}

fn read_range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = match text.split_once(',') {
        Some((start, count)) => (read_number(start)?, read_number(count)?),
        None => (read_number(text)?, 1),
    };
    let before = if count == 0 { start } else { start.checked_sub(1)? };
    Some((before, count))
}

fn read_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten()?;
    (number <= MAX_LINE_NUMBER).then_some(number)
}

/// Reads the lines of a hunk, as many as its header says.
fn read_body(lines: &mut PatchLines<'_>, header: &HunkHeader) -> Result<Vec<(LineKind, PatchLine)>, PatchError> {
    let (mut body, mut old, mut new): (Vec<(LineKind, PatchLine)>, _, _) = (Vec::new(), 0, 0);
    while old < header.old.1 || new < header.new.1 {
        let wrong = PatchProblem::Counts { old: header.old.1, new: header.new.1, found_old: old, found_new: new };
        let Some((kind, text)) = lines.peek().and_then(parse_body_line) else { return Err(lines.error(wrong)) };
        old += usize::from(kind != LineKind::Added);
        new += usize::from(kind != LineKind::Removed);
        if old > header.old.1 || new > header.new.1 {
            return Err(lines.error(wrong));
        }
        let text = text.to_owned();
        lines.skip();
        body.push((kind, PatchLine { text, newline: true }));
        if lines.peek().is_some_and(|line| line.starts_with('\\')) {
            end_without_newline(lines, &mut body)?;
        }
    }
    let more = lines.peek().and_then(parse_body_line).filter(|(_, text)| !text.is_empty() && !lines.is_signature());
    match more.filter(|_| !lines.peek().is_some_and(|line| line.starts_with("--- "))) {
        None => check_endings(&body).map_or(Ok(body), |problem| Err(lines.error(problem))),
        Some(_) => {
            let more = |count: usize| count + 1;
            let (found_old, found_new) = (more(old), more(new));
            Err(lines.error(PatchProblem::Counts { old: header.old.1, new: header.new.1, found_old, found_new }))
        }
    }
}

fn parse_body_line(line: &str) -> Option<(LineKind, &str)> {
    match line.as_bytes().first() {
        None => Some((LineKind::Kept, "")),
        Some(b' ') => Some((LineKind::Kept, &line[1..])),
        Some(b'-') => Some((LineKind::Removed, &line[1..])),
        Some(b'+') => Some((LineKind::Added, &line[1..])),
        Some(_) => None,
    }
}

/// Reads `\ No newline at end of file`, in any language.
fn end_without_newline(lines: &mut PatchLines<'_>, body: &mut [(LineKind, PatchLine)]) -> Result<(), PatchError> {
    match (lines.peek(), body.last_mut()) {
        (Some(_), Some((_, last))) if last.text.is_empty() => return Err(lines.error(PatchProblem::NoLine)),
        (Some(line), Some((_, last))) if line.starts_with("\\ ") && last.newline => last.newline = false,
        _ => return Err(lines.unexpected("`\\ No newline at end of file`")),
    }
    lines.skip();
    Ok(())
}

/// Only the last old and the last new line of a hunk may end without a newline.
fn check_endings(body: &[(LineKind, PatchLine)]) -> Option<PatchProblem> {
    [LineKind::Added, LineKind::Removed].into_iter().find_map(|other_side| {
        let mut side = body.iter().filter(|(kind, _)| *kind != other_side).rev().skip(1);
        side.any(|(_, line)| !line.newline).then_some(PatchProblem::NoNewline)
    })
}

/// A cursor over the lines of a patch's text.
pub(super) struct PatchLines<'a> {
    rest: &'a str,
    /// Number of lines read so far.
    number: usize,
}

impl<'a> PatchLines<'a> {
    pub(super) fn peek(&self) -> Option<&'a str> {
        (!self.rest.is_empty()).then(|| self.rest.split('\n').next().unwrap_or_default())
    }

    pub(super) fn skip(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        self.number += 1;
    }

    /// Reads the next line if it starts with `mark`, and returns the rest of it.
    pub(super) fn next_after(&mut self, mark: &str) -> Option<&'a str> {
        let found = self.peek()?.strip_prefix(mark)?;
        self.skip();
        Some(found)
    }

    /// Skips blank lines; returns whether a line is left.
    fn skip_blank(&mut self) -> bool {
        while self.peek().is_some_and(str::is_empty) {
            self.skip();
        }
        !self.rest.is_empty()
    }

    /// Whether all that is left is the end of a mail of git's: two dashes and a space, and its version.
    fn is_signature(&self) -> bool {
        let end = self.rest.strip_prefix("-- \n").map(|rest| rest.trim_end_matches('\n'));
        end.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains('\n'))
    }

    /// `problem`, at the line that is looked at.
    pub(super) fn error(&self, problem: impl Into<PatchProblem>) -> PatchError {
        self.error_at(self.number, problem)
    }

    /// `problem` at the line that was read last.
    pub(super) fn error_behind(&self, problem: impl Into<PatchProblem>) -> PatchError {
        self.error_at(self.number.saturating_sub(1), problem)
    }

    fn error_at(&self, taken: usize, problem: impl Into<PatchProblem>) -> PatchError {
        PatchError { line: Some(taken + 1), ..PatchError::new(problem) }
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> PatchError {
        self.error(match self.peek() {
            Some(line) => PatchProblem::Unexpected(quote_line(line), expected),
            None => PatchProblem::Ended(expected),
        })
    }
}
