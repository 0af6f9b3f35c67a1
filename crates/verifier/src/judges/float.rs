//! Judge `float`: the same up to rounding.
//!
//! # What it decides
//! Numbers of which at least one is a float are the same when `|actual − expected| ≤ absolute + relative · |expected|`;
//! without a tolerance in the problem both are 1e-6. NaN is right only where NaN is expected, an infinity only where that very one is.
//! Two ints must be equal, and a bool is no number. A numpy scalar is the number it holds; complex numbers are compared part
//! by part. Lists, tuples, deques and dicts of every kind must be of the same type and shape, items compared one by one; dict
//! keys, their order in an `OrderedDict`, and all else must be the same exactly. Texts must have equally many lines
//! (blank ones at the end aside) with equally many words; two words written as ints must be the same int, two numbers of
//! which one is not must be as near as above, and all else must be the same word.
//!
//! # Why
//! For problems whose answer is a measured quantity and whose statement names a tolerance. The ints stay exact because
//! a relative tolerance on a count of ten million forgives being off by ten.
//!
//! # How it can be gamed
//! A tolerance that is wider than the answers are apart accepts constants; that is the problem's fault and can only be seen
//! there. A tolerance that is negative, NaN or infinite is refused before anything runs.
//!
//! # Example
//! With 1e-6 and 0: `[0.3000000001, 2]` for `[0.3, 2.0]` is right, `[0.31, 2]`, `(0.3, 2)` and `[nan, 2]` are wrong;
//! `"0.30 yes"` for `"0.3 yes"` is right, `"0.3 Yes"` is wrong.

use std::collections::HashMap;

use veriplay_core::{Comparison, Object, PythonClass, Tolerance, Value};

use super::{Judge, all_pairs, complex_parts, is_space, number, words};

pub(super) const FLOAT: Judge = Judge {
    values: Some(|_, call| Ok(call.compare_plain(|e, a| same(e, a, tolerance(call.comparison))))),
    texts: Some(|_, run| Ok(run.compare_by(|e, a| same_text(e, a, tolerance(run.comparison))))),
    ..Judge::named("float")
};

/// What contest judges forgive, where the problem does not say it.
const USUAL: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-6 };

fn tolerance(comparison: &Comparison) -> Tolerance {
    comparison.tolerance.unwrap_or(USUAL)
}

fn same(expected: &Value, actual: &Value, tolerance: Tolerance) -> bool {
    if let (Some(expected), Some(actual)) = (complex_parts(expected), complex_parts(actual)) {
        return near(expected.0, actual.0, tolerance) && near(expected.1, actual.1, tolerance);
    }
    match (expected, actual) {
        (Value::Float(_), Value::Float(_) | Value::Int(_)) | (Value::Int(_), Value::Float(_)) => {
            number(expected).zip(number(actual)).is_some_and(|(e, a)| near(e, a, tolerance))
        }
        (Value::List(expected), Value::List(actual)) | (Value::Tuple(expected), Value::Tuple(actual)) => {
            same_items(expected, actual, tolerance)
        }
        (Value::Dict(expected), Value::Dict(actual)) => same_dict(expected, actual, tolerance),
        (Value::Object(expected), Value::Object(actual)) => same_object(expected, actual, tolerance),
        (expected, actual) => expected == actual,
    }
}

fn same_items(expected: &[Value], actual: &[Value], tolerance: Tolerance) -> bool {
    expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, a)| same(e, a, tolerance))
}

fn same_object(expected: &Object, actual: &Object, tolerance: Tolerance) -> bool {
    if let (Some(expected), Some(actual)) = (expected.items(), actual.items()) {
        return same_items(expected, actual, tolerance);
    }
    match (expected.pairs(), actual.pairs()) {
        (Some(e), Some(a)) if expected.class() == actual.class() => {
            let in_order = e.iter().zip(a).all(|(e, a)| e.0 == a.0);
            (expected.class() != PythonClass::OrderedDict || in_order) && same_dict(e, a, tolerance)
        }
        _ => expected == actual,
    }
}

fn same_dict(expected: &[(Value, Value)], actual: &[(Value, Value)], tolerance: Tolerance) -> bool {
    if expected.len() != actual.len() {
        return false;
    }
    let known: HashMap<Vec<u8>, &Value> = actual.iter().map(|(key, value)| (key.encode(), value)).collect();
    let right = |(key, value): &(Value, Value)| known.get(&key.encode()).is_some_and(|own| same(value, own, tolerance));
    expected.iter().all(right)
}

/// The formula of [`Tolerance`]. Infinities first: a share of one forgives everything.
fn near(expected: f64, actual: f64, tolerance: Tolerance) -> bool {
    if expected.is_nan() || actual.is_nan() {
        return expected.is_nan() && actual.is_nan();
    }
    if expected.is_infinite() || actual.is_infinite() {
        return expected == actual;
    }
    (actual - expected).abs() <= tolerance.absolute + tolerance.relative * expected.abs()
}

fn same_text(expected: &str, actual: &str, tolerance: Tolerance) -> bool {
    let lines = |text| str::trim_end_matches(text, is_space).split('\n');
    all_pairs(lines(expected), lines(actual), |expected, actual| {
        all_pairs(words(expected), words(actual), |e, a| same_word(e, a, tolerance))
    })
}

fn same_word(expected: &str, actual: &str, tolerance: Tolerance) -> bool {
    match (int(expected), int(actual)) {
        (Some(expected), Some(actual)) => expected == actual,
        _ if expected == actual => true,
        _ => float(expected).zip(float(actual)).is_some_and(|(e, a)| near(e, a, tolerance)),
    }
}

/// A word that is a number. Digits that are too large for one are not taken for infinity.
fn float(word: &str) -> Option<f64> {
    let digits = word.bytes().any(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|read: &f64| !(digits && read.is_infinite()))
}

/// Sign and digits of a word that is written as an int.
fn int(word: &str) -> Option<(bool, &str)> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let significant = digits.trim_start_matches('0');
    plain.then_some((word.starts_with('-') && !significant.is_empty(), significant))
}
