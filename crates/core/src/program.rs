//! Normalized program text, to find duplicates and to count statements.
//!
//! This is a scanner, not a parser: for text that is not Python it still gives a result, which only identifies that text. Invariants:
//! normalization does not change what the interpreter runs, and normalizing twice equals normalizing once.

mod scan;

use crate::Digest;
use scan::{LogicalLine, logical_lines};

/// Columns of one level of indentation in normalised text.
const INDENT: usize = 4;

/// Removes comments, blank lines and trailing white space, and indents by four columns per level, continuation lines by none. String
/// literals, docstrings included, are untouched.
#[must_use]
pub fn normalize_program(program: &str) -> String {
    let program = normalize_line_ends(program);
    let mut levels = vec![0];
    let mut out = String::with_capacity(program.len());
    for line in logical_lines(&program) {
        out.extend(std::iter::repeat_n(' ', normalize_indent(&mut levels, line.indent)));
        out.push_str(&line.text);
        // A string or bracket that never ends may have taken the last line end with it.
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Hashes a program's normalized text: programs that differ only in comments, blank lines and indentation width share the hash.
#[must_use]
pub fn program_hash(program: &str) -> Digest {
    Digest::of(normalize_program(program).as_bytes())
}

/// Counts the statements of `program`: its logical lines, and statements after a `;` or a header's `:` on a line. A `def` line does not
/// count.
#[must_use]
pub fn count_statements(program: &str) -> usize {
    logical_lines(&normalize_line_ends(program)).iter().map(count_line_statements).sum()
}

/// Ends every line with `\n`, as the interpreter reads it.
fn normalize_line_ends(program: &str) -> String {
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

fn count_line_statements(line: &LogicalLine) -> usize {
    let word = line.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_def = line.text.starts_with("def ") || line.text.starts_with("async def ");
    let own = usize::from(!is_def);
    own + usize::from(line.inline_body && HEADERS.contains(&word)) + line.separators
}

/// The normalized indent of a line of `width` columns, given the open levels. A dedent to no open level is a syntax error and stays one.
fn normalize_indent(levels: &mut Vec<usize>, width: usize) -> usize {
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
