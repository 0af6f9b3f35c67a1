//! Judge `nemo_gym`: the rule of NeMo Gym's server for code (`resources_servers/code_gen`), since its pull requests 2956 and 3051.
//!
//! # What it decides
//! Texts: LiveCodeBench's rule, and more. Both are stripped and split at `\n`, each line is stripped; there must be equally many lines. Two
//! lines are the same when their text is; when both are `yes`, or both `no`, in any case and with nothing beside it; or when they have equally many
//! words, all of them numbers to Python's `Decimal`, of which each pair is equal or, where one of the two is not written as an integer, no
//! further apart than 1e-6 or 1e-6 of the expected one. Values: LiveCodeBench's rule; what JSON writes alike is the same, too; and a float is
//! right within 1e-8 and 1e-5 of the expected number, alone or in a list.
//!
//! # Why
//! Its answers are to be reproduced where a trainer uses its rows. Contest judges take an error of 1e-6, and Yes and No in any case. Earlier rows
//! name it `common_oj`; what SandboxFusion does under that name is judge `sandbox_fusion`.
//! Differences: integers are compared exactly among values, where the original takes any two numbers that `numpy.allclose` does; a
//! text that writes a number is no number.
//!
//! # How it can be gamed
//! A count may be printed with a point: `1000000.5` is right for `1000000`. Constants pass where answers are closer than the tolerance.
//!
//! # Example
//! `"YES"` for `"Yes"`, `"1.414213562373"` for `"1.41421356237309504880"` and `"1e-7"` for `"0"` are right; `"SNUKE"` for `"Snuke"`, `"YES 1"` for
//! `"Yes 1"`, `"1000001"` for `"1000000"` and `"1.4142"` for `"1.41421356"` are wrong.

use std::collections::HashMap;

use veriplay_core::{PythonClass, Value};

use super::livecodebench::decimal::Decimal;
use super::yes_no::is_same_answer;
use super::{Judge, all_pairs, equals_as_list, number, strip, words};

/// What contest judges forgive in a text, absolutely or as a share of the expected number.
const TEXT_TOLERANCE: f64 = 1e-6;
/// numpy's defaults for `allclose`, by which values are compared.
const ABSOLUTE: f64 = 1e-8;
const RELATIVE: f64 = 1e-5;

pub(super) const NEMO_GYM: Judge = Judge {
    finds_methods: true,
    values: Some(|_, call| Ok(call.compare_by(same_value))),
    texts: Some(|_, run| Ok(run.compare_by(same_text))),
    ..Judge::named("nemo_gym")
};

fn same_text(expected: &str, actual: &str) -> bool {
    let lines = |text| strip(text).split('\n').map(strip);
    all_pairs(lines(expected), lines(actual), |e, a| e == a || is_same_answer(e, a) || same_numbers(e, a))
}

fn same_numbers(expected: &str, actual: &str) -> bool {
    all_pairs(words(expected), words(actual), same_number)
}

fn same_number(expected: &str, actual: &str) -> bool {
    let (Some(exact), Some(found)) = (Decimal::parse(expected), Decimal::parse(actual)) else { return false };
    if exact.equals(&found) {
        return true;
    }
    let is_integer = |word: &str| !word.contains(['.', 'e', 'E']);
    let read = |word: &str| word.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
    let are_near = |(e, a): (f64, f64)| (a - e).abs() <= TEXT_TOLERANCE * e.abs().max(1.0);
    !(is_integer(expected) && is_integer(actual)) && read(expected).zip(read(actual)).is_some_and(are_near)
}

fn same_value(expected: &Value, actual: &Value) -> bool {
    equals_as_list(expected, actual) || are_written_alike(expected, actual) || are_near(expected, actual)
}

/// Whether JSON gives back the same for both: lists for tuples, texts for the keys of dicts.
fn are_written_alike(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::List(e) | Value::Tuple(e), Value::List(a) | Value::Tuple(a)) => {
            e.len() == a.len() && e.iter().zip(a).all(|(e, a)| are_written_alike(e, a))
        }
        (Value::Dict(e), Value::Dict(a)) if e.len() != a.len() => false,
        (Value::Dict(e), Value::Dict(a)) => match (members(e), members(a)) {
            (Some(e), Some(a)) => {
                e.iter().all(|(key, value)| a.get(key).is_some_and(|own| are_written_alike(value, own)))
            }
            _ => expected == actual,
        },
        _ => expected == actual,
    }
}

/// The values of a dict by its keys in JSON; `None` where that would have fewer.
fn members(pairs: &[(Value, Value)]) -> Option<HashMap<Vec<u8>, &Value>> {
    let members: HashMap<Vec<u8>, &Value> = pairs.iter().map(|(key, value)| (json_key(key).encode(), value)).collect();
    (members.len() == pairs.len()).then_some(members)
}

fn json_key(key: &Value) -> Value {
    match key {
        Value::None => Value::str("null"),
        Value::Bool(flag) => Value::str(if *flag { "true" } else { "false" }),
        Value::Int(_) | Value::Float(_) => Value::str(key.to_string()),
        other => other.clone(),
    }
}

/// Numbers of which one is a float, or lists of them.
fn are_near(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::List(expected), Value::List(actual) | Value::Tuple(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, a)| e.python_eq(a) || is_near(e, a))
        }
        _ => is_near(expected, actual),
    }
}

/// An integer of Python's or numpy's.
fn is_integer(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Bool(_) => true,
        Value::Object(object) if matches!(object.class(), PythonClass::Numpy(_)) => is_integer(object.state()),
        _ => false,
    }
}

fn is_near(expected: &Value, actual: &Value) -> bool {
    let are_integers = is_integer(expected) && is_integer(actual);
    let near = |(e, a): (f64, f64)| (a - e).abs() <= ABSOLUTE + RELATIVE * e.abs();
    let finite = |value| number(value).filter(|number| number.is_finite());
    !are_integers && finite(expected).zip(finite(actual)).is_some_and(near)
}
