//! Any plain value, nested, of every type.

use num_bigint::{BigInt, Sign};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplay_core::Value;

fn int() -> impl Strategy<Value = BigInt> {
    prop_oneof![
        (-3i64..4).prop_map(BigInt::from),
        any::<i64>().prop_map(BigInt::from),
        (any::<bool>(), vec(any::<u8>(), 0..40))
            .prop_map(|(minus, bytes)| { BigInt::from_bytes_le(if minus { Sign::Minus } else { Sign::Plus }, &bytes) }),
    ]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-9i32..9).prop_map(f64::from),
        (-300i32..300).prop_map(|power| 10f64.powi(power)),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(-0.0),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        int().prop_map(Value::Int),
        float().prop_map(Value::Float),
        "[ -~\n\t'\"\\\\é漢🦀\u{a0}\u{200b}]{0,8}".prop_map(Value::Str),
        any::<String>().prop_map(Value::Str),
        vec(any::<u8>(), 0..8).prop_map(Value::Bytes),
    ]
}

/// Values that may stand in a set.
fn hashable() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Tuple),
            vec(inner, 0..3).prop_map(|items| Value::set_of(items, true)),
        ]
    })
}

/// A dict without two keys that Python calls equal.
fn dict(pairs: Vec<(Value, Value)>) -> Value {
    let mut seen = std::collections::HashSet::new();
    Value::Dict(pairs.into_iter().filter(|(key, _)| seen.insert(key.python_key())).collect())
}

/// Any value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            vec(inner.clone(), 0..4).prop_map(Value::Tuple),
            vec(hashable(), 0..4).prop_map(|items| Value::set_of(items, false)),
            vec(hashable(), 0..4).prop_map(|items| Value::set_of(items, true)),
            vec((hashable(), inner), 0..4).prop_map(dict),
        ]
    })
}
