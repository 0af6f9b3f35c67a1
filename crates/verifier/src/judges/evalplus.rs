//! Judge `evalplus`: the rule of HumanEval+ and MBPP+ (`evalplus/eval/__init__.py`, its `check_output`).
//!
//! # What it decides
//! Python's `==`. Where that fails and the problem has an absolute tolerance (`tolerance.absolute`, the set's `atol`), or
//! has none but a float or a non-empty list or tuple of floats is expected (then 1e-6): right when the types are the same,
//! lists and tuples equally long, and every number within `atol + 1e-7 · |expected|`, as numpy's `allclose` has it, complex
//! ones by their absolute values. `numpy.float64` is a float here, because it is a subclass; `float32` is not. NaN is near
//! nothing, an infinity only to itself. Some problems have an oracle of their own: see [`oracles`].
//!
//! # Why
//! The sets' scores are defined by it. `tolerance.relative` is not looked at: the set's is fixed.
//! Differences from the origin, all but the first stricter. NaN equals NaN where the origin goes by object identity. Arrays
//! must have the same shape: numpy would stretch `[1.0, 2.0]` to fit two rows. What has no plain value (an array, an object of
//! the program's own) equals nothing, save where the oracle asks for "not None". A numpy scalar is compared as the number it
//! is, unrounded. And the 1e-6 does not leak: releases to 0.3.1 assign it to the loop's own
//! `atol`, so that later inputs of the problem are forgiven too (10000001 for 10000000 passes behind a float); the current
//! source does not, and a case's verdict must not depend on the case before it.
//!
//! # How it can be gamed
//! In the origin by an `__eq__` that is always true, which has no encoding here. By a constant where the answers are closer
//! than the tolerance. `Mbpp/164` accepts anything, as in the origin.
//!
//! # Example
//! `0.30000004` for `0.3` is right and `0.3001` is wrong; `1` for `1.0` is right (`==`), `2` for `2.0000001` is wrong (another
//! type); `{'a': 1}` for `Counter({'a': 1})` is right; `[3, 1]` for `(1, 3)` is right only for `Mbpp/2`.

mod oracles;

use std::mem::discriminant;

use dashu_int::ops::BitTest;

use veriplay_core::{NumpyType, PythonClass, Value};

use super::{Judge, JudgeFinding, ReturnedCall, complex_parts, number};
use oracles::Oracle;

/// numpy's default for `assert_allclose`, and what `atol` becomes where floats are expected.
const RELATIVE: f64 = 1e-7;
const FLOATS: f64 = 1e-6;

pub(super) const EVALPLUS: Judge = Judge { values: Some(|_, call| Ok(compare(call))), ..Judge::named("evalplus") };

fn compare(call: &ReturnedCall<'_>) -> JudgeFinding {
    let oracle = Oracle::for_function(call.task_id, call.function);
    let is_something = call.actual.is_none() && oracle == Some(Oracle::NotNone);
    if is_something && call.expected.python_eq(&Value::Bool(true)) {
        return JudgeFinding::Right;
    }
    let absolute = call.comparison.tolerance.map_or(0.0, |tolerance| tolerance.absolute);
    call.compare_by(|expected, actual| passes(oracle, call.input, expected, actual, absolute))
}

fn passes(oracle: Option<Oracle>, input: &[Value], expected: &Value, actual: &Value, absolute: f64) -> bool {
    if oracle == Some(Oracle::FindZero) {
        return oracles::is_zero(input, actual, absolute);
    }
    let same = match oracle {
        Some(oracle) => oracle.same(input, expected, actual, absolute),
        None => Some(expected.python_eq(actual)),
    };
    // In the origin the oracle raised, which fails the case whatever the tolerance.
    let Some(same) = same else { return false };
    let absolute = if absolute == 0.0 && is_floats(expected) { FLOATS } else { absolute };
    same || (absolute != 0.0 && is_same_type(expected, actual) && all_close(expected, actual, absolute))
}

fn is_same_type(expected: &Value, actual: &Value) -> bool {
    discriminant(expected) == discriminant(actual) && expected.class() == actual.class()
}

/// A float, or some floats and nothing else in a list or tuple.
fn is_floats(value: &Value) -> bool {
    match value {
        Value::List(items) | Value::Tuple(items) => !items.is_empty() && items.iter().all(is_float),
        value => is_float(value),
    }
}

fn is_float(value: &Value) -> bool {
    matches!(value, Value::Float(_)) || value.class() == Some(PythonClass::Numpy(NumpyType::FLOAT64))
}

fn all_close(expected: &Value, actual: &Value, absolute: f64) -> bool {
    let (Some(shape), Some(other)) = (shape(expected), shape(actual)) else { return false };
    shape == other && close(expected, actual, absolute)
}

/// The shape of the array numpy would make of it; None for what is no array of machine numbers.
fn shape(value: &Value) -> Option<Vec<usize>> {
    if let Some(items) = items(value) {
        let mut shapes = items.iter().map(shape);
        let first = shapes.next().unwrap_or(Some(Vec::new()))?;
        let regular = shapes.all(|shape| shape.as_ref() == Some(&first));
        return regular.then(|| [vec![items.len()], first].concat());
    }
    match value {
        // Beyond 64 bits numpy keeps objects, which `allclose` refuses.
        Value::Int(value) if value.bit_len() > 63 => None,
        _ => (number(value).is_some() || complex_parts(value).is_some()).then(Vec::new),
    }
}

/// The items of what numpy makes an array of: lists, tuples and deques.
fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) | Value::Tuple(items) => Some(items),
        Value::Object(object) => object.items(),
        _ => None,
    }
}

/// Of two values of one shape.
fn close(expected: &Value, actual: &Value, absolute: f64) -> bool {
    if let (Some(expected), Some(actual)) = (items(expected), items(actual)) {
        return expected.iter().zip(actual).all(|(e, a)| close(e, a, absolute));
    }
    match (number(expected), number(actual)) {
        (Some(expected), Some(actual)) => near(expected, actual, absolute),
        _ => parts(expected).zip(parts(actual)).is_some_and(|(e, a)| near_complex(e, a, absolute)),
    }
}

/// Any number as a complex one.
fn parts(value: &Value) -> Option<(f64, f64)> {
    complex_parts(value).or_else(|| number(value).map(|real| (real, 0.0)))
}

/// As [`near`], by the absolute values of complex numbers.
fn near_complex(expected: (f64, f64), actual: (f64, f64), absolute: f64) -> bool {
    let finite = |(real, imag): (f64, f64)| real.is_finite() && imag.is_finite();
    if finite(expected) && finite(actual) {
        let distance = (actual.0 - expected.0).hypot(actual.1 - expected.1);
        return distance <= absolute + RELATIVE * expected.0.hypot(expected.1);
    }
    expected == actual
}

fn near(expected: f64, actual: f64, absolute: f64) -> bool {
    if expected.is_finite() && actual.is_finite() {
        return (actual - expected).abs() <= absolute + RELATIVE * expected.abs();
    }
    expected == actual
}
