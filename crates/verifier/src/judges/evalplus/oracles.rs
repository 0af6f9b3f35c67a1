//! Problems of HumanEval+ and MBPP+ whose answer is not one value. Keyed as in the origin: by the set and the function.
//!
//! | task | function | right when |
//! |---|---|---|
//! | HumanEval/32 | `find_zero` | `abs(Σ xs[i]·x^i) ≤ atol` for the returned `x`; nothing else is asked |
//! | Mbpp/2, 7, 111, 140, 232, 249, 579, 769 | `similar_elements` and others | `set(actual) == set(expected)` |
//! | Mbpp tasks with `check_str`, `text_match_three`, `text_starta_endb` | | a bool: `==`; else `expected == (actual is not None)` |
//! | Mbpp/164 | `are_equivalent` | always |
//! | Mbpp/295 | `sum_div` | `==`, or 0 |
//! | Mbpp/558 | `digit_distance_nums` | `==`, or the distance with the shorter number padded with zeros |
//! | Mbpp/581 | `surface_Area` | `==`, or within `atol` of the area with `height` taken to the apex |
//!
//! Established from the public source after release 0.3.1. Where that raises, the case fails.

use std::collections::HashSet;

use veriplay_core::Value;

use crate::judges::number;

const SETS: [&str; 8] = [
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
    "intersection_array", "find_dissimilar", "Diff",
];

const NOT_NONE: [&str; 3] = ["check_str", "text_match_three", "text_starta_endb"];

/// Which rule stands in for `==`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oracle {
    FindZero,
    Set,
    NotNone,
    Anything,
    OrZero,
    DigitDistance,
    SurfaceArea,
}

impl Oracle {
    /// The oracle of that problem, if it has one.
    pub(super) fn for_function(task_id: &str, function: &str) -> Option<Self> {
        let (set, _) = task_id.split_once('/')?;
        match (set, function) {
            ("HumanEval", "find_zero") => Some(Oracle::FindZero),
            ("Mbpp", "are_equivalent") => Some(Oracle::Anything),
            ("Mbpp", "sum_div") => Some(Oracle::OrZero),
            ("Mbpp", "digit_distance_nums") => Some(Oracle::DigitDistance),
            ("Mbpp", "surface_Area") => Some(Oracle::SurfaceArea),
            ("Mbpp", function) if SETS.contains(&function) => Some(Oracle::Set),
            ("Mbpp", function) if NOT_NONE.contains(&function) => Some(Oracle::NotNone),
            _ => None,
        }
    }

    /// Whether the two are the same by this rule; None where the origin raises.
    pub(super) fn same(self, input: &[Value], expected: &Value, actual: &Value, absolute: f64) -> Option<bool> {
        let equal = expected.python_eq(actual);
        match self {
            Oracle::FindZero => Some(is_zero(input, actual, absolute)),
            Oracle::Anything => Some(true),
            Oracle::OrZero => Some(equal || actual.python_eq(&Value::int(0))),
            Oracle::Set => Some(members(actual)? == members(expected)?),
            Oracle::NotNone if matches!(actual, Value::Bool(_)) => Some(equal),
            Oracle::NotNone => Some(expected.python_eq(&Value::Bool(*actual != Value::None))),
            Oracle::DigitDistance if equal => Some(true),
            Oracle::DigitDistance => Some(actual.python_eq(&Value::int(digit_distance(input)?))),
            Oracle::SurfaceArea if equal => Some(true),
            Oracle::SurfaceArea => Some((number(actual)? - surface_area(input)?).abs() <= absolute),
        }
    }
}

/// What `set()` makes of it: names of the members.
fn members(value: &Value) -> Option<HashSet<Vec<u8>>> {
    let named = |items: &[Value]| items.iter().map(|item| item.is_hashable().then(|| item.python_key())).collect();
    match value {
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => named(items),
        Value::Dict(pairs) => named(&pairs.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()),
        Value::Str(text) => named(&text.chars().map(Value::str).collect::<Vec<_>>()),
        Value::Bytes(bytes) => named(&bytes.iter().map(|byte| Value::int(*byte)).collect::<Vec<_>>()),
        Value::Object(object) => match (object.items(), object.pairs()) {
            (Some(items), _) => named(items),
            (_, Some(pairs)) => named(&pairs.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether `x` is a zero of the polynomial with the coefficients `input[0]`, lowest power first.
pub(super) fn is_zero(input: &[Value], x: &Value, absolute: f64) -> bool {
    let [Value::List(coefficients) | Value::Tuple(coefficients)] = input else { return false };
    let Some(x) = number(x) else { return false };
    let term = |(power, coefficient)| Some(number(coefficient)? * x.powf(f64::from(power)));
    let sum = (0_u32..).zip(coefficients).map(term).sum::<Option<f64>>();
    sum.is_some_and(|sum| sum.abs() <= absolute)
}

/// Sum of the digits' differences of two numbers written equally long. A sign is no digit.
fn digit_distance(input: &[Value]) -> Option<u64> {
    let [Value::Int(first), Value::Int(second)] = input else { return None };
    let (first, second) = (first.to_string(), second.to_string());
    let width = first.len().max(second.len());
    let digits = |text: &str| format!("{text:0>width$}").chars().map(|c| c.to_digit(10)).collect::<Option<Vec<_>>>();
    let (first, second) = (digits(&first)?, digits(&second)?);
    Some(first.iter().zip(second).map(|(a, b)| u64::from(a.abs_diff(b))).sum())
}

/// Surface of a square pyramid of that base edge and height, rounded to an integer, halves to even.
fn surface_area(input: &[Value]) -> Option<f64> {
    let [edge, height] = input else { return None };
    let (edge, height) = (number(edge)?, number(height)?);
    let slant = ((edge / 2.0).powi(2) + height.powi(2)).sqrt();
    let area = edge.powi(2) + 4.0 * (edge * slant) / 2.0;
    area.is_finite().then(|| area.round_ties_even())
}
