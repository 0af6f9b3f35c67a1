//! Judge `sandbox_fusion`: SandboxFusion's rule for standard output.
//!
//! # What it decides
//! Both texts are stripped and split at `\n`; they must have equally many lines. A line is right when it is the same
//! without regard to case and to blanks at its ends, or when both lines are each one number for Python's `float()` and
//! `|actual − expected| / max(|expected|, 1e-10) < 1e-5`.
//!
//! # Why
//! SandboxFusion's `CommonOJDataset` is what many reward services call, and its answers are to be reproduced. The rule
//! is per line: a line of two numbers is compared as text.
//! Differences: digits other than ASCII's are no number here. Versions in use that compare only as many lines as both texts
//! have are not followed: a program that prints only the first line would pass.
//!
//! # How it can be gamed
//! `YES` for `yes` passes where case is asked for; so does a count that is off by less than one in a hundred thousand, such
//! as 1000001 for 1000000. NaN is right only where the text is the same, and infinity never by its value.
//!
//! # Example
//! `"Yes\n0.333334"` for `"YES\n0.333333"` is right; `"0.3334"` for it is wrong, and so is `"1.0 2.0"` for `"1 2"`.

use super::{Judge, all_pairs, strip};

/// Relative error that is forgiven, and the least magnitude it is a share of.
const RELATIVE: f64 = 1e-5;
const LEAST: f64 = 1e-10;

pub(super) const SANDBOX_FUSION: Judge =
    Judge { texts: Some(|_, run| Ok(run.compare_by(same))), ..Judge::named("sandbox_fusion") };

fn same(expected: &str, actual: &str) -> bool {
    let lines = |text| strip(text).split('\n');
    all_pairs(lines(expected), lines(actual), same_line)
}

fn same_line(expected: &str, actual: &str) -> bool {
    let (expected, actual) = (expected.to_lowercase(), actual.to_lowercase());
    let (expected, actual) = (strip(&expected), strip(&actual));
    expected == actual || python_float(expected).zip(python_float(actual)).is_some_and(|(e, a)| near(e, a))
}

/// False where a NaN comes out, as in Python.
fn near(expected: f64, actual: f64) -> bool {
    (actual - expected).abs() / expected.abs().max(LEAST) < RELATIVE
}

/// `float(text)` of stripped ASCII text: Rust's grammar, and single underscores between digits.
fn python_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let misplaced = |at: usize| bytes[at] == b'_' && !(at > 0 && digit(at - 1) && digit(at + 1));
    if (0..bytes.len()).any(misplaced) {
        return None;
    }
    text.replace('_', "").parse().ok()
}
