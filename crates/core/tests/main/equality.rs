//! Python's `==`, exact equality, and the key that stands for the first.

use proptest::prelude::*;
use veriplay_core::Value;

use crate::arbitrary::value;
use crate::objects::read;

/// Values that Python calls equal, and pairs of others.
const EQUALITY: &str = include_str!("equality.txt");

#[test]
fn values_are_equal_exactly_when_python_says_so() {
    for line in EQUALITY.lines() {
        let (texts, are_equal) = match line.split_once(" != ") {
            Some((a, b)) => (vec![a, b], false),
            None => (line.split(" == ").collect(), true),
        };
        for (at, a) in texts.iter().enumerate() {
            for (other, b) in texts.iter().enumerate() {
                assert_eq!(read(a).python_eq(&read(b)), are_equal || at == other, "{a} and {b}");
            }
        }
    }
}

#[test]
fn exact_equality_tells_types_apart_and_dict_orders_not() {
    for (a, b) in [("1", "1.0"), ("1", "True"), ("0.0", "-0.0"), ("{1}", "frozenset({1})"), ("{1: 2}", "{1: 2.0}")] {
        assert_ne!(read(a), read(b));
    }
    for (a, b) in [("nan", "nan"), ("{1: 2, 3: 4}", "{3: 4, 1: 2}"), ("{1, 2}", "{2, 1}")] {
        assert_eq!(read(a), read(b));
    }
}

#[test]
fn a_set_keeps_the_first_of_those_python_calls_equal() {
    let items = vec![Value::int(1), Value::Float(2.5), Value::Float(1.0), Value::Bool(true)];
    assert_eq!(Value::set_of(items, false), read("{1, 2.5}"));
}

#[test]
fn large_dicts_and_sets_are_compared_in_no_time_worth_naming() {
    // A guest chooses these. A quadratic comparison of 60,000 keys is beyond any test's patience.
    let keys = || (0..60_000).map(Value::int);
    let dict = |reversed: bool| {
        let pairs: Vec<_> = keys().map(|key| (key.clone(), key)).collect();
        Value::Dict(if reversed { pairs.into_iter().rev().collect() } else { pairs })
    };
    assert!(dict(false).python_eq(&dict(true)));
    assert_eq!(dict(false), dict(true));
    assert!(Value::set_of(keys().collect(), false).python_eq(&Value::set_of(keys().collect(), true)));
}

/// Whether a `Counter` or an `OrderedDict` is in it, whose `==` is no equivalence.
fn is_uneven(value: &Value) -> bool {
    let text = value.to_string();
    text.contains("Counter(") || text.contains("OrderedDict(")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn python_eq_is_an_equivalence_that_the_key_stands_for(a in value(), b in value()) {
        prop_assert!(a.python_eq(&a));
        prop_assert_eq!(a.python_eq(&b), b.python_eq(&a));
        let same_key = a.python_key() == b.python_key();
        prop_assert!(a.python_eq(&b) || !same_key);
        if !is_uneven(&a) && !is_uneven(&b) {
            prop_assert_eq!(a.python_eq(&b), same_key);
        }
    }
}

#[test]
fn keys_of_what_lies_in_many_sets_stay_short() {
    let text = Value::str("x".repeat(1000));
    let other = Value::str("y".repeat(1000));
    let nested = |inner: Value| (0..60).fold(inner, |inner, _| Value::set_of(vec![inner], true));
    let (a, b) = (nested(text.clone()), nested(other));
    assert!(a.python_key().len() < 64, "{}", a.python_key().len());
    assert!(a.python_eq(&nested(text)) && !a.python_eq(&b));
    // A set of a dict's keys and values is no dict, and neither is one of another number of members.
    let (one, two) = (Value::int(1), Value::int(2));
    let sets = [vec![], vec![one.clone()], vec![one, two]].map(|items| Value::set_of(items, false));
    for (index, set) in sets.iter().enumerate() {
        assert!(sets.iter().enumerate().all(|(other, found)| set.python_eq(found) == (index == other)));
    }
}
