//! Any plain value, nested, of every type.

use dashu_int::{IBig, UBig};
use num_traits::Signed;
use proptest::collection::vec;
use proptest::prelude::*;
use veriplay_core::{NumpyType, PythonClass, Value};

fn int() -> impl Strategy<Value = IBig> {
    prop_oneof![
        (-3i64..4).prop_map(IBig::from),
        any::<i64>().prop_map(IBig::from),
        (any::<bool>(), vec(any::<u8>(), 0..40)).prop_map(|(minus, bytes)| {
            let amount = IBig::from(UBig::from_le_bytes(&bytes));
            if minus { -amount } else { amount }
        }),
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

/// Objects that hold no other values, and may stand in a set.
fn atom() -> impl Strategy<Value = Value> {
    let object = |class, state: Value| Value::object(class, state).expect("a state of its class");
    let small = |most: i64| (0..=most).prop_map(Value::int);
    let part = || prop_oneof![(-9i64..9).prop_map(IBig::from), any::<i64>().prop_map(IBig::from)];
    let tuple = |parts: Vec<Value>| Value::Tuple(parts);
    let zone = prop_oneof![
        Just(Value::None),
        (-1439i64..1440).prop_map(move |minutes| object(PythonClass::TimeZone, Value::int(minutes * 60_000_000))),
    ];
    let date = || (1..=9999i64, 1..=12i64, 1..=28i64).prop_map(|(year, month, day)| [year, month, day].map(Value::int));
    let clock = (small(23), small(59), small(59), prop_oneof![Just(Value::int(0)), small(999_999)], small(1), zone)
        .prop_map(|(hour, minute, second, micro, fold, zone)| vec![hour, minute, second, micro, fold, zone])
        .boxed();
    let (day_and_time, delta) = (clock.clone(), (-999_999_999..=999_999_999i64, small(86_399), small(999_999)));
    prop_oneof![
        (float(), float()).prop_map(|(real, imag)| Value::complex(real, imag)),
        (part(), part(), part()).prop_filter("a step", |(.., step)| *step != IBig::ZERO).prop_map(
            move |(start, stop, step)| object(PythonClass::Range, tuple([start, stop, step].map(Value::Int).to_vec()))
        ),
        "-?(0|[1-9][0-9]{0,9})E(0|-?[1-9][0-9]{0,3})"
            .prop_map(move |text| object(PythonClass::Decimal, Value::Str(text))),
        "-?(Infinity|NaN([1-9][0-9]{0,3})?)|-?(0|[1-9]0{0,3})E-?[1-9][0-9]{8}"
            .prop_map(move |text| object(PythonClass::Decimal, Value::Str(text))),
        (part(), 1..30i64).prop_map(move |(numerator, denominator)| {
            let denominator = IBig::from(denominator);
            let divisor = greatest_common_divisor(&numerator, &denominator);
            object(
                PythonClass::Fraction,
                tuple(vec![Value::Int(numerator / &divisor), Value::Int(denominator / divisor)]),
            )
        }),
        date().prop_map(move |date| object(PythonClass::Date, tuple(date.to_vec()))),
        clock.prop_map(move |clock| object(PythonClass::Time, tuple(clock))),
        (date(), day_and_time)
            .prop_map(move |(date, clock)| object(PythonClass::DateTime, tuple([date.to_vec(), clock].concat()))),
        delta.prop_map(move |(days, seconds, micros)| {
            object(PythonClass::TimeDelta, tuple(vec![Value::int(days), seconds, micros]))
        }),
        any::<i8>().prop_map(move |value| object(numpy("int8"), Value::int(value))),
        any::<u64>().prop_map(move |value| object(numpy("uint64"), Value::int(value))),
        any::<bool>().prop_map(move |value| object(numpy("bool"), Value::Bool(value))),
        float().prop_map(move |value| object(numpy("float64"), Value::Float(value))),
        any::<f32>().prop_map(move |value| object(numpy("float32"), Value::Float(f64::from(value)))),
        (any::<f32>(), any::<f32>()).prop_map(move |(real, imag)| {
            let parts = [real, imag].map(|part| Value::Float(f64::from(part)));
            object(numpy("complex64"), tuple(parts.to_vec()))
        }),
    ]
}

fn numpy(name: &str) -> PythonClass {
    PythonClass::Numpy(NumpyType::from_name(name).expect("a numpy type"))
}

fn greatest_common_divisor(a: &IBig, b: &IBig) -> IBig {
    let (mut a, mut b) = (a.abs(), b.clone());
    while b != IBig::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Objects that hold other values.
fn holder(items: Vec<Value>, pairs: Value, kind: u8, most: Option<u8>) -> Value {
    let most = most.map_or(Value::None, |more| Value::int(items.len() + usize::from(more)));
    let object = |class, state| Value::object(class, state).expect("a state of its class");
    match kind % 5 {
        0 => object(PythonClass::Counter, pairs),
        1 => object(PythonClass::OrderedDict, pairs),
        2 => object(PythonClass::DefaultDict, Value::Tuple(vec![Value::str("int"), pairs])),
        3 => object(PythonClass::DefaultDict, Value::Tuple(vec![Value::None, pairs])),
        _ => object(PythonClass::Deque, Value::Tuple(vec![Value::List(items), most])),
    }
}

/// Values that may stand in a set.
fn hashable() -> impl Strategy<Value = Value> {
    prop_oneof![3 => scalar(), 1 => atom()].prop_recursive(2, 8, 3, |inner| {
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

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![3 => scalar(), 1 => atom(), 1 => vec(any::<u8>(), 0..8).prop_map(byte_array)];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            vec(inner.clone(), 0..4).prop_map(Value::Tuple),
            vec(hashable(), 0..4).prop_map(|items| Value::set_of(items, false)),
            vec(hashable(), 0..4).prop_map(|items| Value::set_of(items, true)),
            vec((hashable(), inner.clone()), 0..4).prop_map(dict),
            (vec(inner.clone(), 0..4), vec((hashable(), inner), 0..4), any::<u8>(), any::<Option<u8>>())
                .prop_map(|(items, pairs, kind, most)| holder(items, dict(pairs), kind, most)),
        ]
    })
}

fn byte_array(bytes: Vec<u8>) -> Value {
    Value::object(PythonClass::ByteArray, Value::Bytes(bytes)).expect("bytes are a bytearray's state")
}
