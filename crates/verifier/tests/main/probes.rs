//! Inputs like a given one.

use std::collections::HashSet;

use proptest::prelude::*;
use veriplay_core::Value;
use veriplay_verifier::probes;

use crate::table::{arguments, int_of};

/// Types and nesting, without lengths.
fn shape(value: &Value) -> String {
    match value {
        Value::Tuple(items) => format!("({})", items.iter().map(shape).collect::<Vec<_>>().join(",")),
        _ => value.type_name().to_owned(),
    }
}

#[test]
fn probes_have_the_types_of_the_input_and_other_values() {
    let inputs = [
        "0", "5", "-3", "1000000007", "2.5", "'abc'", "''", "'a b'", "b'ab'", "[1, 2, 3]", "[]", "(1, 'a')", "{1, 2}",
        "{'k': 1}", "{}", "[[1, 2], [3, 4]]", "1, 2", "'ab', [1], 3.0", "[None, 1]", "-0.0",
    ];
    for text in inputs {
        let input = arguments(text);
        let found = probes(&input, 8);
        assert_eq!(found.len(), 8, "{text}: {found:?}");
        let keys: HashSet<_> =
            found.iter().chain([&input]).map(|list| Value::Tuple(list.clone()).python_key()).collect();
        assert_eq!(keys.len(), 9, "{text}: {found:?}");
        for probe in &found {
            assert_eq!(shape(&Value::Tuple(probe.clone())), shape(&Value::Tuple(input.clone())), "{text}");
        }
    }
}

#[test]
fn types_with_few_values_have_few_probes() {
    assert_eq!(probes(&arguments("True"), 8), [arguments("False")]);
    assert!(probes(&arguments("None"), 8).is_empty());
    assert!(probes(&[], 8).is_empty());
    assert_eq!(probes(&arguments("True, False"), 8).len(), 3);
}

#[test]
fn ints_stay_near_and_do_not_become_negative() {
    for x in [0, 1, 12, 500] {
        for probe in probes(&[Value::int(x)], 8) {
            let moved = int_of(&probe[0]);
            assert!((0..=(x + 3).max(12)).contains(&moved) && (x <= 12 || moved >= x - 8), "{x} became {moved}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn probes_are_a_function_of_the_input(x in any::<i64>(), text in "[a-z]{0,5}", list in prop::collection::vec(0i64..9, 0..5)) {
        let input = vec![Value::int(x), Value::str(text), Value::List(list.into_iter().map(Value::int).collect())];
        prop_assert_eq!(probes(&input, 6), probes(&input, 6));
        prop_assert_eq!(&probes(&input, 6)[..3], &probes(&input, 3)[..]);
    }
}
