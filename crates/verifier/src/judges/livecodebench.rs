//! Judge `livecodebench`: LiveCodeBench's two rules (`lcb_runner/evaluation/testing_util.py`).
//!
//! # What it decides
//! Values: a program whose text has `class Solution` is asked for its method, any other for a function of the module. A returned
//! tuple is made a list, at the top only; then Python's `==`, without tolerance. Texts: both are stripped
//! and split at `\n`, each line is stripped; there must be equally many lines. Two lines are the same when their text is, or
//! when every word of both is a number to Python's `Decimal` and the numbers are equal one by one, exactly.
//!
//! # Why
//! The set's scores are defined by these rules. `Decimal` is exact, so `50000000000000000` and `50000000000000001` differ,
//! where a float comparison calls them equal; `1.0`, `1` and `1e0` are one number. NaN equals nothing as a number, and
//! itself as text. A line with one word that is not a number is compared only as text.
//! Differences: a value NaN equals NaN (see [`Value::python_eq`]); digits other than ASCII's are no number; the set runs all
//! calls in one process and stops at the first that is wrong, which is the plan's choice and not the judge's.
//!
//! # How it can be gamed
//! In the origin by an object whose `__eq__` is always true: there the program's own object is compared. Here it has no
//! encoding and equals nothing. Numbers may be padded: `0001.000` is 1.
//!
//! # Example
//! `(1, 2)` for `[1, 2]` is right, `[(1, 2)]` for `[[1, 2]]` is wrong; `"1.50 2"` for `"1.5 2.0\n"` is right, `"0.1"` for
//! `"0.10000000000000001"` and `"YES"` for `"Yes"` are wrong.

pub(super) mod decimal;

use super::{Judge, all_pairs, equals_as_list, strip, words};
use decimal::Decimal;

pub(super) const LIVECODEBENCH: Judge = Judge {
    finds_methods: true,
    values: Some(|_, call| Ok(call.compare_by(equals_as_list))),
    texts: Some(|_, run| Ok(run.compare_by(same))),
    ..Judge::named("livecodebench")
};

fn same(expected: &str, actual: &str) -> bool {
    let lines = |text| strip(text).split('\n').map(strip);
    all_pairs(lines(expected), lines(actual), |e, a| e == a || same_numbers(e, a))
}

fn same_numbers(expected: &str, actual: &str) -> bool {
    all_pairs(words(expected), words(actual), is_same_number)
}

fn is_same_number(expected: &str, actual: &str) -> bool {
    Decimal::parse(expected).zip(Decimal::parse(actual)).is_some_and(|(expected, actual)| expected.equals(&actual))
}
