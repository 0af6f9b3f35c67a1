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

use veriplay_core::Dropped;

use super::{Judge, JudgeContext, JudgeFinding, OutputKind, ReturnedCall, ScriptRun};

/// The judge.
pub(super) struct Exact;

impl Judge for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn supports(&self, _kind: OutputKind) -> bool {
        true
    }

    fn compare_call(&self, _context: &mut JudgeContext<'_>, call: &ReturnedCall<'_>) -> Result<JudgeFinding, Dropped> {
        Ok(call.compare_plain(|expected, actual| expected == actual))
    }

    fn compare_script(&self, _context: &mut JudgeContext<'_>, run: &ScriptRun<'_>) -> Result<JudgeFinding, Dropped> {
        Ok(run.compare_by(|expected, actual| expected.trim_end_matches('\n') == actual.trim_end_matches('\n')))
    }
}
