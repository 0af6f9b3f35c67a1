//! Parses patches strictly: a line that is not understood is an error.

use std::collections::HashSet;
use std::fmt::Display;

use super::{FileChange, FilePatch, Hunk, LineKind, NO_NEWLINE, Patch, PatchError, PatchLine, quote_line};
use crate::path::check_path;

/// The most bytes of a patch's text.
const MAX_PATCH_BYTES: usize = 4 << 20;
/// The most files a patch may touch.
const MAX_FILES: usize = 1000;
/// The largest line number of a header, beyond any file that is accepted.
const MAX_LINE_NUMBER: usize = 100_000_000;

/// What is wrong with a patch in several places.
const NOTHING: &str = "it changes nothing";
const ONE_SIDED: &str = "a file that is created has no old lines, and one that is deleted no new ones";

const NOWHERE: &str = "/dev/null";
/// Modes of plain files. The executable bit has no meaning in a tree of texts.
const PLAIN_MODES: [&str; 2] = ["100644", "100755"];
/// What git writes before the names of either side, by `diff.mnemonicPrefix` too.
const OLD_PREFIXES: [&str; 6] = ["a/", "i/", "c/", "o/", "w/", "1/"];
const NEW_PREFIXES: [&str; 6] = ["b/", "w/", "i/", "c/", "o/", "2/"];
/// Words of git's that begin what is not taken.
const UNSUPPORTED: [&str; 8] = [
    "rename ", "copy ", "similarity index ", "dissimilarity index ", "GIT binary patch", "Binary files ", "Submodule ",
    "diff --cc ",
];

impl TryFrom<String> for Patch {
    type Error = PatchError;

    fn try_from(text: String) -> Result<Self, PatchError> {
        Self::parse(&text)
    }
}

impl Patch {
    /// Reads a unified diff, of git's or of `diff -u`, with git's prefixes or with none. Blank lines between files are skipped;
    /// a blank line inside a hunk is an empty line of context, as git has it. What `git format-patch` writes around a diff is left
    /// out, and so are the carriage returns of a text whose every line ends in one, as `patch` leaves them out. The error names the first
    /// invalid line, and why it is invalid.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        if text.len() > MAX_PATCH_BYTES {
            return Err(PatchError::too_large(MAX_PATCH_BYTES, "bytes"));
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
                return Err(lines.error("the file is named twice").in_file(&file.path));
            }
            if files.len() == MAX_FILES {
                return Err(PatchError { line: Some(lines.number + 1), ..PatchError::too_large(MAX_FILES, "files") });
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
    let (path, change, has_hunks) = read_file_header(lines)?;
    let mut file = FilePatch { path, change, hunks: Vec::new() };
    if !has_hunks {
        return Ok(file);
    }
    let mut state = PreviousHunks::default();
    while lines.peek().is_some_and(|line| line.starts_with("@@")) {
        let number = file.hunks.len() + 1;
        let hunk = read_hunk(lines, &mut state).map_err(|error| error.in_file(&file.path).in_hunk(number))?;
        let has_sides_of_change = match change {
            FileChange::Created => number == 1 && hunk.old_lines().next().is_none(),
            FileChange::Deleted => number == 1 && hunk.new_lines().next().is_none(),
            FileChange::Modified => true,
        };
        if !has_sides_of_change {
            return Err(lines.error(ONE_SIDED).in_file(&file.path).in_hunk(number));
        }
        file.hunks.push(hunk);
    }
    match file.hunks.is_empty() {
        true => Err(lines.unexpected("a hunk, `@@ -… +… @@`").in_file(&file.path)),
        false => Ok(file),
    }
}

/// Reads the header of the next file: its path, its change, and whether hunks follow.
fn read_file_header(lines: &mut PatchLines<'_>) -> Result<(String, FileChange, bool), PatchError> {
    let git = match lines.peek() {
        Some(line) if line.starts_with("diff --git ") => Some(read_git_header(lines)?),
        _ => None,
    };
    if !lines.peek().is_some_and(|line| line.starts_with("--- ")) {
        return match git {
            Some((path, Some(change))) => Ok((path, change, false)),
            Some((path, None)) => Err(lines.error(NOTHING).in_file(&path)),
            None => Err(lines.unexpected("`diff --git a/… b/…` or `--- a/…`")),
        };
    }
    let (path, change) = read_names(lines, git.as_ref().map(|(path, _)| path.as_str()))?;
    match git {
        Some((other, _)) if other != path => Err(lines.error_behind(describe_rename(&other, &path))),
        Some((_, Some(other))) if other != change => Err(lines.error_behind(ONE_SIDED).in_file(&path)),
        _ => Ok((path, change, true)),
    }
}

/// `diff --git a/path b/path`, and git's lines under it. A change between plain modes is left out.
fn read_git_header(lines: &mut PatchLines<'_>) -> Result<(String, Option<FileChange>), PatchError> {
    let names = lines.next_after("diff --git ").ok_or_else(|| lines.unexpected("`diff --git a/… b/…`"))?;
    let path = parse_git_path(names)
        .ok_or_else(|| lines.error_behind(describe_rename(&quote_line(names), "the other half of the line")))?;
    check_path(&path).map_err(|error| lines.error_behind(error))?;
    let mut change = None;
    while let Some(line) = lines.peek() {
        if let Some(mode) = line.strip_prefix("new file mode ") {
            check_mode(lines, mode)?;
            change = Some(FileChange::Created);
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            check_mode(lines, mode)?;
            change = Some(FileChange::Deleted);
        } else if let Some(mode) = line.strip_prefix("old mode ").or_else(|| line.strip_prefix("new mode ")) {
            check_mode(lines, mode)?;
        } else if let Some(index) = line.strip_prefix("index ") {
            index.split_once(' ').map_or(Ok(()), |(_, mode)| check_mode(lines, mode))?;
        } else if UNSUPPORTED.iter().any(|word| line.starts_with(word)) {
            return Err(lines.error(describe_unsupported(&quote_line(line))).in_file(&path));
        } else {
            break;
        }
        lines.skip();
    }
    Ok((path, change))
}

fn check_mode(lines: &PatchLines<'_>, mode: &str) -> Result<(), PatchError> {
    match PLAIN_MODES.contains(&mode) {
        true => Ok(()),
        false => Err(lines.error(describe_unsupported(&format!("mode {}", quote_line(mode))))),
    }
}

fn describe_rename(one: &str, other: &str) -> String {
    format!("the names `{one}` and `{other}` differ, and renames are not taken; delete one file and create the other")
}

fn describe_unsupported(what: &str) -> String {
    format!("`{what}` is not taken; a patch changes the text of plain files only")
}

/// Parses the path of `a/path b/path`. Both halves must be the same; a name may contain spaces.
fn parse_git_path(names: &str) -> Option<String> {
    if names.starts_with('"') {
        let middle = names.find("\" \"")? + 1;
        return common_path(&unquote_name(&names[..middle])?, &unquote_name(&names[middle + 1..])?);
    }
    let half = names.len() / 2;
    let (old, new) = (names.get(..half)?, names.get(half + 1..)?);
    (names.as_bytes().get(half) == Some(&b' ')).then(|| common_path(old, new)).flatten()
}

/// The path that two names have in common: both without prefixes, or each behind its own.
fn common_path(old: &str, new: &str) -> Option<String> {
    if old == new {
        return Some(plain_path(old));
    }
    let (old, new) = (strip_prefix(old, &OLD_PREFIXES)?, strip_prefix(new, &NEW_PREFIXES)?);
    (plain_path(old) == plain_path(new)).then(|| plain_path(old))
}

fn strip_prefix<'a>(name: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Without `.` and repeated slashes, which name the same file. Where it begins with a slash it stays as it is, to be refused.
fn plain_path(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let (inside, name) = path.rsplit_once('/').unwrap_or(("", path));
    let components = inside.split('/').filter(|component| !matches!(*component, "" | "."));
    components.chain([name]).collect::<Vec<_>>().join("/")
}

/// `--- a/path` and `+++ b/path`, one of which may be `/dev/null`, where the line above them may name the file too.
fn read_names(lines: &mut PatchLines<'_>, git: Option<&str>) -> Result<(String, FileChange), PatchError> {
    let old = read_name(lines, "--- ")?;
    let new = read_name(lines, "+++ ")?;
    let (path, change) = match (old, new) {
        (None, Some(new)) => (read_only_name(lines, &new, "b/", &NEW_PREFIXES, git)?, FileChange::Created),
        (Some(old), None) => (read_only_name(lines, &old, "a/", &OLD_PREFIXES, git)?, FileChange::Deleted),
        (Some(old), Some(new)) => match common_path(&old, &new) {
            Some(path) => (path, FileChange::Modified),
            None => return Err(lines.error_behind(describe_rename(&old, &new))),
        },
        (None, None) => return Err(lines.error_behind(NOTHING)),
    };
    check_path(&path).map_err(|error| lines.error_behind(error))?;
    Ok((path, change))
}

/// The path of a name that stands alone. `w/x.py` may be a prefix and a file, or a directory and a file.
fn read_only_name(
    lines: &PatchLines<'_>,
    name: &str,
    prefix: &str,
    prefixes: &[&str],
    git: Option<&str>,
) -> Result<String, PatchError> {
    let behind = strip_prefix(name, prefixes).map(plain_path);
    let whole = plain_path(name);
    match (behind, git) {
        (Some(path), Some(git)) if path == git => Ok(path),
        (_, Some(git)) if whole == git => Ok(whole),
        (None, _) => Ok(whole),
        (Some(path), _) if name.starts_with(prefix) => Ok(path),
        _ => {
            let found = quote_line(name);
            Err(lines.error_behind(format_args!("file name `{found}` does not start with `{prefix}`")))
        }
    }
}

/// The name behind `mark`; `None` for `/dev/null`.
fn read_name(lines: &mut PatchLines<'_>, mark: &str) -> Result<Option<String>, PatchError> {
    let expected = if mark == "--- " { "`--- a/…`" } else { "`+++ b/…`" };
    let text = lines.next_after(mark).ok_or_else(|| lines.unexpected(expected))?;
    // A date may follow after a tab.
    let text = text.split('\t').next().unwrap_or_default();
    let name = if text.starts_with('"') { unquote_name(text) } else { Some(text.to_owned()) };
    let name = name.ok_or_else(|| {
        let found = quote_line(text);
        lines.error_behind(format_args!("`{found}` is no part of a patch; expected a name in git's quotes"))
    })?;
    Ok((name != NOWHERE).then_some(name))
}

/// Decodes a name in git's quotes, with octal bytes and C's escapes.
fn unquote_name(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'"' => return None,
            b'\\' => unescape(&mut rest)?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn unescape(rest: &mut std::str::Bytes<'_>) -> Option<u8> {
    let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| u32::from(byte - b'0'));
    match rest.next()? {
        b'n' => Some(b'\n'),
        b't' => Some(b'\t'),
        b'r' => Some(b'\r'),
        byte @ (b'"' | b'\\') => Some(byte),
        byte => u8::try_from(digit(byte)? * 64 + digit(rest.next()?)? * 8 + digit(rest.next()?)?).ok(),
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
    let fail = |problem: String| Err(lines.error_at(start, problem));
    if hunk.at < above.end {
        let (at, end) = (hunk.at, above.end);
        return fail(format!("it starts after old line {at}, and the hunk before it ends after line {end}"));
    }
    let expected = hunk.new_at(above.grown);
    let found = header.new.0;
    if found != expected {
        return fail(format!("it starts at new line {found}, and by the hunks before it that is {expected}"));
    }
    if above.closed {
        return fail(NO_NEWLINE.to_owned());
    }
    if hunk.old_lines().eq(hunk.new_lines()) {
        return fail(NOTHING.to_owned());
    }
    above.end = hunk.at + hunk.old_lines().count();
    above.grown += hunk.growth();
    above.closed = hunk.lines.iter().any(|(_, line)| !line.newline);
    Ok(hunk)
}

/// For either file: the number of lines before the hunk, and in it.
struct HunkHeader {
    old: (usize, usize),
    new: (usize, usize),
}

impl HunkHeader {
    fn describe_counts(&self, found_old: usize, found_new: usize) -> String {
        let (old, new) = (self.old.1, self.new.1);
        format!("the header says {old} old and {new} new lines, and the hunk has {found_old} and {found_new}")
    }
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
        let wrong = header.describe_counts(old, new);
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
        None if ends_before_its_last_line(&body) => Err(lines.error(NO_NEWLINE)),
        None => Ok(body),
        Some(_) => Err(lines.error(header.describe_counts(old + 1, new + 1))),
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
        (Some(_), Some((_, last))) if last.text.is_empty() => {
            return Err(lines.error("an empty line without newline is no line of a file; leave it out"));
        }
        (Some(line), Some((_, last))) if line.starts_with("\\ ") && last.newline => last.newline = false,
        _ => return Err(lines.unexpected("`\\ No newline at end of file`")),
    }
    lines.skip();
    Ok(())
}

/// Whether a line ends without a newline that is neither the last old nor the last new one of a hunk.
fn ends_before_its_last_line(body: &[(LineKind, PatchLine)]) -> bool {
    [LineKind::Added, LineKind::Removed].into_iter().any(|other_side| {
        let mut side = body.iter().filter(|(kind, _)| *kind != other_side).rev().skip(1);
        side.any(|(_, line)| !line.newline)
    })
}

/// A cursor over the lines of a patch's text.
struct PatchLines<'a> {
    rest: &'a str,
    /// Number of lines read so far.
    number: usize,
}

impl<'a> PatchLines<'a> {
    fn peek(&self) -> Option<&'a str> {
        (!self.rest.is_empty()).then(|| self.rest.split('\n').next().unwrap_or_default())
    }

    fn skip(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        self.number += 1;
    }

    /// Reads the next line if it starts with `mark`, and returns the rest of it.
    fn next_after(&mut self, mark: &str) -> Option<&'a str> {
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
    fn error(&self, problem: impl Display) -> PatchError {
        self.error_at(self.number, problem)
    }

    /// `problem` at the line that was read last.
    fn error_behind(&self, problem: impl Display) -> PatchError {
        self.error_at(self.number.saturating_sub(1), problem)
    }

    fn error_at(&self, taken: usize, problem: impl Display) -> PatchError {
        PatchError { line: Some(taken + 1), ..PatchError::new(problem) }
    }

    fn unexpected(&self, expected: &str) -> PatchError {
        self.error(match self.peek() {
            Some(line) => format!("`{}` is no part of a patch; expected {expected}", quote_line(line)),
            None => format!("the patch ends; expected {expected}"),
        })
    }
}
