//! Judge `lines`: the same lines, white space at their ends aside.
//!
//! # What it decides
//! Whether the two texts are the same once the white space at the end of each line and the blank lines at the end of the
//! text are taken off. Everything else counts: case, leading blanks, blank lines between, how a number is written.
//!
//! # Why
//! It is the usual rule of contest judges (a `diff -bB` would forgive more), and the strictest of the text judges but
//! `exact`. Against the others: `livecodebench` also forgives blanks before lines and other spellings of a number, `tokens` where lines end,
//! `yes_no` the case of these two words, `exact` nothing but the line ends at the end. Earlier rows name it `stdio`.
//!
//! # How it can be gamed
//! Printing only the first line fails here: both texts must have all lines, where a judge that walks pairs of lines passes
//! a prefix (open-r1 had that). Text on standard error is not looked at.
//!
//! # Example
//! `"1 2 \r\n3\n\n"` for `"1 2\n3"` is right; `" 1 2\n3"`, `"1  2\n3"`, `"1 2"` and `"1.0 2\n3"` are wrong.

use super::{Judge, is_space};

pub(super) const LINES: Judge = Judge {
    texts: Some(|_, run| Ok(run.compare_by(|expected, actual| lines(expected).eq(lines(actual))))),
    ..Judge::named("lines")
};

/// Lines without what is not looked at.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end_matches(is_space).split('\n').map(|line| line.trim_end_matches(is_space))
}
