//! Judge `yes_no`: Yes and No in any case, everything else as `lines`.
//!
//! # What it decides
//! Both texts must have equally many lines, white space at the ends of lines and blank lines at the end of the text aside. Where the
//! expected line is `yes` or `no` in any case, and nothing else, the same word in any case is right. Every other line must be the same.
//!
//! # Why
//! Statements of contests say "you can print each letter in any case" for these two words, and rarely for others: `Alice` and `ALICE` are two
//! answers. Which lines are meant is read from the expected output, never from the program's.
//!
//! # How it can be gamed
//! By guessing, where tests are few: half of the answers are right by chance. That is the task's weakness under any judge.
//!
//! # Example
//! `"YES\nno"` for `"Yes\nNo"` is right; `"NO"` for `"Yes"`, `"SNUKE"` for `"Snuke"`, `"YES 1"` for `"Yes 1"` and `"yes\nno"` for `"Yes"` are wrong.

use super::lines::lines;
use super::{Judge, all_pairs, strip};

pub(super) const YES_NO: Judge = Judge { texts: Some(|_, run| Ok(run.compare_by(same))), ..Judge::named("yes_no") };

fn same(expected: &str, actual: &str) -> bool {
    all_pairs(lines(expected), lines(actual), |e, a| e == a || is_same_answer(e, a))
}

/// Whether both lines are `yes`, or both `no`, in any case.
pub(super) fn is_same_answer(expected: &str, actual: &str) -> bool {
    let (expected, actual) = (strip(expected), strip(actual));
    ["yes", "no"].iter().any(|word| expected.eq_ignore_ascii_case(word) && actual.eq_ignore_ascii_case(word))
}
