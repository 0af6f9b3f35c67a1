//! Program text without what does not matter: how duplicates are told, and how long a program is.
//!
//! Used to find duplicates and to count statements in corpus, verifier, selfplay and cli. A scanner, not a parser: on text that is no
//! Python it still gives an answer, which no more than names that text. Invariants: what the interpreter would run does
//! not change, and normalising twice is normalising once.

mod scan;

use crate::Digest;
use scan::{Line, logical_lines};

/// Columns of one level of indentation in normalised text.
const INDENT: usize = 4;

/// `program` without comments, blank lines and trailing white space, with four columns a level of indentation and none
/// on continuation lines. String literals, docstrings too, are untouched.
#[must_use]
pub fn normalize_program(program: &str) -> String {
    let program = with_line_ends(program);
    let mut levels = vec![0];
    let mut out = String::with_capacity(program.len());
    for line in logical_lines(&program) {
        out.extend(std::iter::repeat_n(' ', indentation(&mut levels, line.indent)));
        out.push_str(&line.text);
        // A string or bracket that never ends may have taken the last line end with it.
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Names a program up to comments, blank lines and the width of its indentation.
#[must_use]
pub fn program_hash(program: &str) -> Digest {
    Digest::of(normalize_program(program).as_bytes())
}

/// How many statements `program` has: its logical lines, and what follows a `;` or a header's `:` on a line. A `def` line
/// itself is none.
#[must_use]
pub fn count_statements(program: &str) -> usize {
    logical_lines(&with_line_ends(program)).iter().map(statements).sum()
}

/// Every line ended by `\n`, as the interpreter reads it.
fn with_line_ends(program: &str) -> String {
    let mut program = program.replace("\r\n", "\n").replace('\r', "\n");
    if !program.ends_with('\n') {
        program.push('\n');
    }
    program
}

/// First words of the lines whose colon opens a block.
const HEADERS: [&str; 14] = [
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try", "while", "with",
];

fn statements(line: &Line) -> usize {
    let word = line.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_def = line.text.starts_with("def ") || line.text.starts_with("async def ");
    let own = usize::from(!is_def);
    own + usize::from(line.inline_body && HEADERS.contains(&word)) + line.separators
}

/// Columns of a line as wide as `width`, by the levels that are open. A width that returns to no open level is a syntax
/// error and stays one.
fn indentation(levels: &mut Vec<usize>, width: usize) -> usize {
    while levels.last().is_some_and(|top| *top > width) && levels.len() > 1 {
        levels.pop();
        if levels.last().is_some_and(|top| *top < width) {
            return levels.len() * INDENT - 1;
        }
    }
    if levels.last().is_some_and(|top| *top < width) {
        levels.push(width);
    }
    (levels.len() - 1) * INDENT
}
