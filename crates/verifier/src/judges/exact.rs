//! Judge `exact`: the same value of the same type, or the same text.
//!
//! # What it decides
//! Values: equal in type and content all the way down: `1`, `1.0` and `True` are three values, a list is no tuple; NaN is
//! NaN, `0.0` is not `-0.0`; dicts and sets have no order, an `OrderedDict` has one; a numpy scalar is the Python number that it holds. Texts: the same bytes once the line ends (`\n`) at the very end
//! of both are taken off.
//!
//! # Why
//! The strictest rule that still lets `print` end its last line. What a tighter judge accepts every other one should; use
//! it when the answer is one value. For texts it is verl's rule for SandboxFusion.
//!
//! # How it can be gamed
//! By nothing but the right value: there is no tolerance, no conversion, and no object of the program's in reach. It errs
//! the other way, against a right program that returns `2.0` for `2` or leaves a blank at a line's end.
//!
//! # Example
//! `[1, 2]` and `[np.int64(1), 2]` for `[1, 2]` are right; `(1, 2)`, `[1, 2.0]` and `[True, 2]` are wrong. `"3\n\n"` for `"3"` is right; `"3 "` is
//! wrong.

use super::Judge;

pub(super) const EXACT: Judge = Judge {
    values: Some(|_, call| Ok(call.compare_plain(|expected, actual| expected == actual))),
    texts: Some(|_, run| Ok(run.compare_by(|e, a| e.trim_end_matches('\n') == a.trim_end_matches('\n')))),
    ..Judge::named("exact")
};
