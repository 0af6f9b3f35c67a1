//! Parses the header of a file: git's lines and the two names.

use super::PatchLines;
use crate::patch::error::quote_line;
use crate::patch::{FileChange, PatchError, PatchProblem};
use crate::path::check_path;

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

/// Reads the header of the next file: its path, its change, and whether hunks follow.
pub(super) fn read_file_header(lines: &mut PatchLines<'_>) -> Result<(String, FileChange, bool), PatchError> {
    let git = match lines.peek() {
        Some(line) if line.starts_with("diff --git ") => Some(read_git_header(lines)?),
        _ => None,
    };
    if !lines.peek().is_some_and(|line| line.starts_with("--- ")) {
        return match git {
            Some((path, Some(change))) => Ok((path, change, false)),
            Some((path, None)) => Err(lines.error(PatchProblem::Nothing).in_file(&path)),
            None => Err(lines.unexpected("`diff --git a/… b/…` or `--- a/…`")),
        };
    }
    let (path, change) = read_names(lines, git.as_ref().map(|(path, _)| path.as_str()))?;
    match git {
        Some((other, _)) if other != path => Err(lines.error_behind(PatchProblem::Renamed(other, path))),
        Some((_, Some(other))) if other != change => Err(lines.error_behind(PatchProblem::OneSided).in_file(&path)),
        _ => Ok((path, change, true)),
    }
}

/// `diff --git a/path b/path`, and git's lines under it. A change between plain modes is left out.
fn read_git_header(lines: &mut PatchLines<'_>) -> Result<(String, Option<FileChange>), PatchError> {
    let names = lines.next_after("diff --git ").ok_or_else(|| lines.unexpected("`diff --git a/… b/…`"))?;
    let path = parse_git_path(names).ok_or_else(|| {
        lines.error_behind(PatchProblem::Renamed(quote_line(names), "the other half of the line".to_owned()))
    })?;
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
            return Err(lines.error(PatchProblem::Unsupported(quote_line(line))).in_file(&path));
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
        false => Err(lines.error(PatchProblem::Unsupported(format!("mode {}", quote_line(mode))))),
    }
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
            None => return Err(lines.error_behind(PatchProblem::Renamed(old, new))),
        },
        (None, None) => return Err(lines.error_behind(PatchProblem::Nothing)),
    };
    check_path(&path).map_err(|error| lines.error_behind(error))?;
    Ok((path, change))
}

/// The path of a name that stands alone. `w/x.py` may be a prefix and a file, or a directory and a file.
fn read_only_name(
    lines: &PatchLines<'_>,
    name: &str,
    prefix: &'static str,
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
        _ => Err(lines.error_behind(PatchProblem::Prefix { found: quote_line(name), wanted: prefix })),
    }
}

/// The name behind `mark`; `None` for `/dev/null`.
fn read_name(lines: &mut PatchLines<'_>, mark: &str) -> Result<Option<String>, PatchError> {
    let expected = if mark == "--- " { "`--- a/…`" } else { "`+++ b/…`" };
    let text = lines.next_after(mark).ok_or_else(|| lines.unexpected(expected))?;
    // A date may follow after a tab.
    let text = text.split('\t').next().unwrap_or_default();
    let name = if text.starts_with('"') { unquote_name(text) } else { Some(text.to_owned()) };
    let name =
        name.ok_or_else(|| lines.error_behind(PatchProblem::Unexpected(quote_line(text), "a name in git's quotes")))?;
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
