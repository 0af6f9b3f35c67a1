//! Values: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::{Comparison, Value};
use veriplay_verifier::judges::parse_judge;

use crate::cases::{is_yes, texts};
use crate::judges::{call_is_right, value_is_right, within};
use crate::table::{arguments, read};

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

/// Whether `actual` passes the named problem of `evalplus`; `None` is something without a plain value.
fn passes(task_id: &str, function: &str, atol: f64, input: &str, expected: &str, actual: Option<&str>) -> bool {
    let (actual, comparison) = (actual.map(read), within("evalplus", atol, 0.0));
    call_is_right(&comparison, task_id, function, &arguments(input), &read(expected), actual.as_ref())
}

#[test]
fn tasks_with_an_oracle_take_what_it_takes() {
    for [task, function, atol, input, expected, actual, is_right] in texts(include_str!("cases/evalplus_oracles.txt")) {
        let passes = passes(&task, &function, atol.parse().unwrap(), &input, &expected, Some(&actual));
        assert_eq!(passes, is_yes(&is_right), "{function}({input}): {actual}");
    }
}

#[test]
fn tasks_on_collections_compare_as_sets() {
    let names = [
        "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
        "intersection_array", "find_dissimilar", "Diff",
    ];
    for name in names {
        let same = |expected: &str, actual: &str| passes("Mbpp/2", name, 0.0, "1", expected, Some(actual));
        assert!(same("(4, 5)", "[5, 4]") && same("[4, 5]", "{4, 5}") && same("[4]", "[4, 4, 4.0]"), "{name}");
        assert!(same("['a', 'b']", "'ba'") && same("[1]", "{1: 2}"), "{name}");
        assert!(!same("(4, 5)", "[4]") && !same("(4, 5)", "[4, 5, 6]") && !same("[4]", "4"), "{name}");
        assert!(!same("[[4]]", "[[4]]") && !same("[4]", "None"), "{name}");
    }
}

#[test]
fn three_tasks_ask_for_something_rather_than_none() {
    for name in ["check_str", "text_match_three", "text_starta_endb"] {
        let same = |expected: &str, actual: Option<&str>| passes("Mbpp/454", name, 0.0, "'a'", expected, actual);
        assert!(same("True", None) && same("True", Some("'Found a match!'")) && same("True", Some("True")), "{name}");
        assert!(same("False", Some("None")) && same("False", Some("False")), "{name}");
        assert!(!same("False", None) && !same("True", Some("None")) && !same("True", Some("False")), "{name}");
        // A bool is compared, anything else is something: 0 is not None.
        assert!(!same("False", Some("0")) && same("True", Some("0")), "{name}");
    }
    assert!(!passes("Mbpp/3", "is_not_prime", 0.0, "1", "True", None));
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
