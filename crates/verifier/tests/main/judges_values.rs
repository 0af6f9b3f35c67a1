//! Values: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::{Comparison, Value};

use crate::judges::{value_is_right, within};

/// Judges by a letter: exact, cruxeval, livecodebench, evalplus, float with 1e-6 and 0.
fn judges() -> [(char, Comparison); 5] {
    [
        ('e', Comparison::by("exact")),
        ('c', Comparison::by("cruxeval")),
        ('l', Comparison::by("livecodebench")),
        ('p', Comparison::by("evalplus")),
        ('f', within("float", 1e-6, 0.0)),
    ]
}

/// Expected, actual, and the judges that take the one for the other.
const TABLE: &[(&str, &str, &str)] = &[
    ("1", "1", "eclpf"),
    ("1", "1.0", "clpf"),
    ("1.0", "1", "clpf"),
    ("1", "True", "clp"),
    ("1", "2", ""),
    ("10000000", "10000001", ""),
    ("'a'", "'a'", "eclpf"),
    ("'a'", "'A'", ""),
    ("'1'", "1", ""),
    ("b'a'", "'a'", ""),
    ("None", "None", "eclpf"),
    ("None", "False", ""),
    ("0", "None", ""),
    ("[1, 2]", "[1, 2]", "eclpf"),
    ("[1, 2]", "(1, 2)", "l"),
    ("(1, 2)", "[1, 2]", ""),
    ("[[1], [2]]", "((1,), (2,))", ""),
    ("[[1], [2]]", "([1], [2])", "l"),
    ("[1, 2]", "[2, 1]", ""),
    ("[1, 2]", "[1, 2, 3]", ""),
    ("[]", "()", "l"),
    ("{1: 'a', 2: 'b'}", "{2: 'b', 1: 'a'}", "eclpf"),
    ("{1: 'a'}", "{1.0: 'a'}", "clp"),
    ("{1: 0.3}", "{1: 0.3000000001}", "f"),
    ("{1, 2}", "{2, 1}", "eclpf"),
    ("{1, 2}", "[1, 2]", ""),
    ("{1, 2}", "frozenset({1, 2})", "clp"),
    ("0.3", "0.30000000000000004", "pf"),
    ("0.3", "0.3000011", ""),
    ("0.3", "0.30000101", "p"),
    ("1e9", "1000000100.0", "p"),
    ("1e9", "1000000101.0", ""),
    ("0.0", "-0.0", "clpf"),
    ("[0.1, 0.2]", "[0.1, 0.20000000001]", "pf"),
    ("(0.1, 0.2)", "(0.1, 0.20000000001)", "pf"),
    ("[0.1, 0.2]", "(0.1, 0.20000000001)", ""),
    ("[0.1, 2]", "[0.10000000001, 2]", "f"),
    ("[[0.1]]", "[[0.10000000001]]", "f"),
    ("2.0000001", "2", "f"),
    ("2.0", "2", "clpf"),
    ("nan", "nan", "eclpf"),
    ("nan", "0.0", ""),
    ("0.0", "nan", ""),
    ("inf", "inf", "eclpf"),
    ("inf", "-inf", ""),
    ("inf", "1e308", ""),
    ("1e308", "inf", ""),
    ("[inf, 0.1]", "[inf, 0.10000000001]", "pf"),
    ("[nan, 0.1]", "[nan, 0.10000000001]", "f"),
    ("1.0", "True", "clp"),
    ("1.5", "'1.5'", ""),
    ("Counter({'a': 1})", "{'a': 1}", "clp"),
    ("{'a': 1}", "Counter({'a': 1})", "clp"),
    ("Counter({'a': 1})", "Counter({'a': 1, 'b': 0})", "clp"),
    ("{'a': 1}", "Counter({'a': 1, 'b': 0})", ""),
    ("{'a': [1]}", "defaultdict(<class 'list'>, {'a': [1]})", "clp"),
    ("OrderedDict({'a': 1, 'b': 2})", "OrderedDict({'b': 2, 'a': 1})", ""),
    ("OrderedDict({'a': 1, 'b': 2})", "{'b': 2, 'a': 1}", "clp"),
    ("OrderedDict({'a': 0.3})", "OrderedDict({'a': 0.3000000001})", "f"),
    ("(1+2j)", "(1+2j)", "eclpf"),
    ("(1+2j)", "(1+2.0000000001j)", "f"),
    ("(1+0j)", "1", "clp"),
    ("1", "np.int64(1)", "eclpf"),
    ("1", "np.int64(2)", ""),
    ("0.5", "np.float64(0.5)", "eclpf"),
    ("0.3", "np.float64(0.30000000000000004)", "f"),
    ("np.float64(0.3)", "np.float64(0.30000000000000004)", "pf"),
    ("[np.float64(0.3)]", "[0.30000000000000004]", "pf"),
    ("np.float32(0.3)", "np.float32(0.30000004)", "f"),
    ("True", "np.True_", "eclpf"),
    ("Decimal('1.0')", "Decimal('1')", "clp"),
    ("Decimal('1.0')", "1", "clp"),
    ("Decimal('0.1')", "0.1", ""),
    ("Fraction(1, 2)", "0.5", "clp"),
    ("deque([1, 2])", "[1, 2]", ""),
    ("deque([0.1])", "deque([0.10000000001], maxlen=2)", "f"),
    ("range(0, 3)", "[0, 1, 2]", ""),
    ("range(0, 3, 2)", "range(0, 4, 2)", "clp"),
    ("bytearray(b'a')", "b'a'", "clp"),
    ("datetime.date(2024, 1, 1)", "datetime.datetime(2024, 1, 1, 0, 0)", ""),
    ("datetime.timedelta(days=1)", "datetime.timedelta(days=1)", "eclpf"),
];

#[test]
fn judges_differ_exactly_where_their_rules_do() {
    for (expected, actual, wanted) in TABLE {
        let found: String = judges()
            .iter()
            .filter(|(_, judge)| value_is_right(judge, expected, actual))
            .map(|(letter, _)| *letter)
            .collect();
        assert_eq!(found, *wanted, "{actual} for {expected}");
    }
}

#[test]
fn apps_takes_the_one_item_of_a_list_for_the_list() {
    let apps = Comparison::by("apps");
    for (expected, actual, right) in [
        ("[5]", "5", true),
        ("[5]", "[5]", true),
        ("[5]", "(5,)", true),
        ("[5]", "5.0", true),
        ("[[5]]", "[5]", true),
        ("[[5]]", "(5,)", true),
        ("[[[1, 2], [3, 4]]]", "[(1, 2), (3, 4)]", true),
        ("[[[1, 2], [3, 4]]]", "[(1, 2), [3, 4]]", true),
        ("[1, 2]", "(1, 2)", true),
        ("[[1, 2]]", "[(1, 2)]", false),
        ("[[[1, 2]]]", "[(1, 3)]", false),
        ("[[[1, 2], 3]]", "[(1, 2), 3]", false),
        ("[5]", "[[5]]", false),
        ("[5]", "6", false),
        ("5", "[5]", false),
        ("[1, 2]", "1", false),
        ("(5,)", "5", false),
        ("[]", "None", false),
    ] {
        assert_eq!(value_is_right(&apps, expected, actual), right, "{actual} for {expected}");
    }
}

#[test]
fn float_keeps_ints_exact_and_infinities_apart_under_any_tolerance() {
    let wide = within("float", 1e300, 1e300);
    for (expected, actual) in [
        ("1", "2"),
        ("inf", "1.0"),
        ("inf", "-inf"),
        ("1.0", "inf"),
        ("nan", "1.0"),
        ("1.0", "nan"),
        ("1.0", "True"),
        ("True", "1.0"),
        ("1.0", "None"),
        ("{1.0}", "{1.1}"),
        ("[1.0]", "[]"),
        ("{'a': 1.0}", "{'b': 1.0}"),
    ] {
        assert!(!value_is_right(&wide, expected, actual), "{actual} for {expected}");
    }
    assert!(value_is_right(&wide, "[1.0, {'a': (5.0, 'x')}]", "[7.0, {'a': (9, 'x')}]"));
    // An int beyond the floats is no infinity.
    let huge = format!("1{}", "0".repeat(400));
    assert!(!value_is_right(&wide, "inf", &huge) && !value_is_right(&wide, &huge, "inf"));
    assert!(value_is_right(&wide, &huge, &huge));
}

#[test]
fn float_adds_the_two_parts_of_its_tolerance() {
    let both = within("float", 1.0, 0.5);
    for (actual, right) in [("10.0", true), ("16.0", true), ("4.0", true), ("16.5", false), ("3.5", false)] {
        assert_eq!(value_is_right(&both, "10.0", actual), right, "{actual}");
    }
    // The share is the expected value's, so the rule has no mirror image.
    assert!(!value_is_right(&both, "4.0", "8.0") && value_is_right(&both, "8.0", "4.0"));
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
