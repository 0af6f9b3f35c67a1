//! Python's `==`, exact equality, and the key that stands for the first.

use proptest::prelude::*;
use veriplay_core::Value;

use crate::arbitrary::value;
use crate::objects::read;

#[test]
fn pairs_are_equal_exactly_when_python_says_so() {
    let equal = [
        ("1", "1.0"),
        ("1", "True"),
        ("0", "False"),
        ("0.0", "-0.0"),
        ("[1, 0]", "[True, 0.0]"),
        ("9007199254740992", "9007199254740992.0"),
        ("1e+22", "10000000000000000000000"),
        ("{1, 2}", "{2, 1}"),
        ("{1, 2}", "frozenset({1.0, 2})"),
        ("{1: 'a', 2: 'b'}", "{2: 'b', 1: 'a'}"),
        ("{1: 'a'}", "{True: 'a'}"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("[nan]", "[nan]"),
        ("{(1, 2): {3}}", "{(1.0, 2): frozenset({3.0})}"),
    ];
    let different = [
        ("1", "'1'"),
        ("1", "2"),
        ("'1+1'", "'2'"),
        ("9007199254740993", "9007199254740992.0"),
        ("100000000000000000000000", "1e+23"),
        ("1.5", "1"),
        ("inf", "-inf"),
        ("[1, 2]", "(1, 2)"),
        ("[1, 2]", "[2, 1]"),
        ("[1]", "[1, 1]"),
        ("'a'", "b'a'"),
        ("None", "False"),
        ("None", "0"),
        ("{}", "set()"),
        ("set()", "[]"),
        ("{1, 2}", "{1, 3}"),
        ("{1: 2}", "{1: 3}"),
        ("{1: 2}", "{2: 1}"),
        ("nan", "inf"),
    ];
    for (a, b) in equal {
        assert!(read(a).python_eq(&read(b)) && read(b).python_eq(&read(a)), "{a} == {b}");
    }
    for (a, b) in different {
        assert!(!read(a).python_eq(&read(b)) && !read(b).python_eq(&read(a)), "{a} != {b}");
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

    #[test]
    fn exactly_equal_values_are_equal_for_python(a in value()) {
        let copy = Value::parse_repr(&a.to_string()).unwrap();
        prop_assert_eq!(&a, &copy);
        prop_assert!(a.python_eq(&copy));
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
