//! Judge `cruxeval`: Python's `==` on plain values.
//!
//! # What it decides
//! `expected == actual` as Python has it: `1 == 1.0 == True`, a list never equals a tuple, dicts and sets have no order.
//!
//! # Why
//! CRUXEval (arXiv 2401.03065) runs `assert {output} == {generation}` behind the program. Here the generation is read as
//! a literal, and the host compares.
//! One difference: NaN equals NaN. In Python that depends on whether it is the same object, which no value can carry over
//! to the host; no output of the set holds one.
//!
//! # How it can be gamed
//! In the origin the generation is pasted into the assertion, so `1 or True` or an object with a lying `__eq__` passes. Both
//! need an expression, and only literals get here. What is left is `True` for `1`, which Python also takes.
//!
//! # Example
//! `{1: 2.0}` for `{1.0: 2}` is right; `(1,)` for `[1]` and `'1'` for `1` are wrong.

use veriplay_core::Value;

use super::Judge;

pub(super) const CRUXEVAL: Judge =
    Judge { values: Some(|_, call| Ok(call.compare_by(Value::python_eq))), ..Judge::named("cruxeval") };
