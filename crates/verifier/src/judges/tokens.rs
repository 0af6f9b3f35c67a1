//! Judge `tokens`: the same words, wherever lines end.
//!
//! # What it decides
//! Both texts are split at white space. They must have the same words in the same order; case and the spelling of numbers count.
//!
//! # Why
//! It is what Codeforces' default checker (`wcmp` of testlib) compares, and what most statements mean: blanks and line ends are layout.
//!
//! # How it can be gamed
//! Where the layout is the answer (a drawing, a table with empty cells), another layout passes. Such a problem needs `lines`.
//!
//! # Example
//! `"1\n2\n3"` and `" 1  2 3\n\n"` for `"1 2\n3"` are right; `"1 2"`, `"12 3"`, `"1.0 2 3"` and `"1 2 3 4"` are wrong.

use super::{Judge, words};

pub(super) const TOKENS: Judge = Judge {
    texts: Some(|_, run| Ok(run.compare_by(|expected, actual| words(expected).eq(words(actual))))),
    ..Judge::named("tokens")
};
