//! Judge `evalplus`: the problems with an oracle. What it takes of other values is in `cases/one_judge.txt`.

use crate::cases::{is_yes, texts};
use crate::judges::{call_is_right, within};
use crate::table::{arguments, read};

/// Whether `actual` passes the named problem; `None` is something without a plain value.
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
