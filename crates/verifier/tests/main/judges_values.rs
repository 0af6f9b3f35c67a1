//! Values: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::{Comparison, Value};
use veriplay_verifier::judges::parse_judge;

use crate::cases::texts;
use crate::judges::{value_is_right, within};

/// Judges by a letter: exact, cruxeval, livecodebench, evalplus, float with 1e-6 and 0.
fn judges() -> [(char, Comparison); 5] {
    [('e', "exact"), ('c', "cruxeval"), ('l', "livecodebench"), ('p', "evalplus"), ('f', "float:atol=1e-6")]
        .map(|(letter, judge)| (letter, parse_judge(judge).unwrap()))
}

#[test]
fn judges_differ_exactly_where_their_rules_do() {
    for [expected, actual, wanted] in texts(include_str!("cases/judges_of_values.txt")) {
        let judges = judges().into_iter().filter(|(_, judge)| value_is_right(judge, &expected, &actual));
        assert_eq!(judges.map(|(letter, _)| letter).collect::<String>(), wanted, "{actual} for {expected}");
    }
}

#[test]
fn an_int_beyond_the_floats_is_no_infinity() {
    let (wide, huge) = (within("float", 1e300, 1e300), format!("1{}", "0".repeat(400)));
    assert!(!value_is_right(&wide, "inf", &huge) && !value_is_right(&wide, &huge, "inf"));
    assert!(value_is_right(&wide, &huge, &huge));
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::int),
        any::<f64>().prop_map(Value::Float),
        "[ab ]{0,3}".prop_map(Value::Str),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Tuple),
            prop::collection::vec(leaf(), 0..3).prop_map(|items| Value::set_of(items, false)),
            inner.prop_map(|item| Value::Dict(vec![(Value::str("k"), item)])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_is_right_for_itself(value in value()) {
        let text = value.to_string();
        for (letter, judge) in judges() {
            // livecodebench makes a list of a returned tuple, and its expected values are none: JSON has no tuples.
            if letter != 'l' || !matches!(value, Value::Tuple(_)) {
                prop_assert!(value_is_right(&judge, &text, &text), "{letter}: {text}");
            }
        }
    }

    #[test]
    fn what_exact_takes_the_others_take(expected in value(), actual in value()) {
        let (expected, actual) = (expected.to_string(), actual.to_string());
        let [exact, others @ ..] = judges();
        if value_is_right(&exact.1, &expected, &actual) && !expected.starts_with('(') {
            for (letter, judge) in others {
                prop_assert!(value_is_right(&judge, &expected, &actual), "{letter}");
            }
        }
    }

    #[test]
    fn a_wider_tolerance_takes_no_less(
        expected in -1e3..1e3f64, apart in -1.0..1.0f64, absolute in 0.0..0.5f64, wider in 0.0..0.5f64, relative in 0.0..1e-3f64,
    ) {
        let (one, other) = (Value::Float(expected).to_string(), Value::Float(expected + apart).to_string());
        for judge in ["float", "evalplus"] {
            let narrow = value_is_right(&within(judge, absolute, relative), &one, &other);
            prop_assert!(!narrow || value_is_right(&within(judge, absolute + wider, relative), &one, &other));
        }
        let narrow = value_is_right(&within("float", absolute, relative), &one, &other);
        prop_assert!(!narrow || value_is_right(&within("float", absolute, relative + wider), &one, &other));
    }

    #[test]
    fn the_order_of_a_dict_says_nothing_and_that_of_a_list_all(first in leaf(), second in leaf()) {
        prop_assume!(!first.python_eq(&second));
        let (first, second) = (first.to_string(), second.to_string());
        let dict = |a: &str, b: &str| format!("{{'a': {a}, 'b': {b}}}");
        for (letter, judge) in judges() {
            let turned = format!("{{'b': {second}, 'a': {first}}}");
            prop_assert!(value_is_right(&judge, &dict(&first, &second), &turned), "{letter}");
            prop_assert!(letter == 'f' || letter == 'p'
                || !value_is_right(&judge, &format!("[{first}, {second}]"), &format!("[{second}, {first}]")), "{letter}");
        }
    }
}
