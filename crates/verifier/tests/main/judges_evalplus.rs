//! Judge `evalplus`: its tolerance, the leak that is not reproduced, and the problems with an oracle.

use veriplay_core::{Comparison, Value};

use crate::judges::{call_is_right, value_is_right, within};
use crate::table::{arguments, read};

/// Whether `actual` passes the named problem; `None` is something without a plain value.
fn passes(problem: (&str, &str), atol: f64, input: &str, expected: &str, actual: Option<&str>) -> bool {
    let actual: Option<Value> = actual.map(read);
    call_is_right(&within("evalplus", atol, 0.0), problem, &arguments(input), &read(expected), actual.as_ref())
}

#[test]
fn a_tolerance_of_the_problem_reaches_every_number_of_one_shape() {
    let judge = within("evalplus", 0.5, 0.0);
    for (expected, actual, right) in [
        ("1", "1.25", false),
        ("1", "2", false),
        ("10", "10", true),
        ("[1, 2.0]", "[1.25, 2.25]", true),
        ("[[1.0], [2.0]]", "[(1.25,), [2.25]]", true),
        ("[[1.0], [2.0, 3.0]]", "[[1.1], [2.0, 3.0]]", false),
        ("[1.0, 2.0]", "[[1.0, 2.0], [1.0, 2.0]]", false),
        ("[1.0, 2.0]", "[1.25]", false),
        ("(1.0, 2.0)", "[1.25, 2.0]", false),
        ("['a', 1.0]", "['a', 1.25]", false),
        ("{'a': 1.0}", "{'a': 1.25}", false),
        ("None", "None", true),
        ("[True]", "[1.25]", true),
        ("[inf]", "[inf]", true),
        ("[inf, 1.0]", "[inf, 1.25]", true),
        ("[inf, 1.0]", "[1.0, 1.25]", false),
        ("[nan, 1.0]", "[nan, 1.25]", false),
        ("[10000000000000000000000, 1.0]", "[10000000000000000000000, 1.25]", false),
        ("(1+2j)", "(1.3+2.3j)", true),
        ("(1+2j)", "(1.4+2.4j)", false),
        ("(1+2j)", "np.complex128(1.3+2.3j)", false),
        ("[(1+2j), 1]", "[(1.25+2j), np.float32(1.25)]", true),
        ("[(inf+0j)]", "[(inf+0j)]", true),
        ("np.float64(1.0)", "np.float64(1.25)", true),
        ("np.float32(1.0)", "np.float64(1.25)", false),
        ("deque([1.0])", "deque([1.25])", true),
        ("deque([1.0])", "[1.25]", false),
        ("Counter({'a': 1})", "Counter({'a': 2})", false),
        ("Decimal('1')", "Decimal('1.25')", false),
        ("Fraction(1, 1)", "Fraction(5, 4)", false),
    ] {
        assert_eq!(value_is_right(&judge, expected, actual), right, "{actual} for {expected}");
    }
}

#[test]
fn the_tolerance_for_floats_does_not_leak_to_the_next_case() {
    let judge = Comparison::by("evalplus");
    assert!(value_is_right(&judge, "0.5", "0.5000001"));
    // Behind a float, releases to 0.3.1 take this one: within 1e-6 + 1e-7 · 10000000.
    assert!(!value_is_right(&judge, "10000000", "10000001"));
    assert!(!value_is_right(&judge, "[]", "()"));
    // The relative part of a tolerance is the set's own.
    assert!(!value_is_right(&within("evalplus", 0.0, 0.5), "1.0", "1.25"));
}

#[test]
fn find_zero_asks_for_a_zero_and_not_for_the_recorded_one() {
    let problem = ("HumanEval/32", "find_zero");
    for (xs, x, right) in [
        ("[-6, 11, -6, 1]", "1.0", true),
        ("[-6, 11, -6, 1]", "2.0", true),
        ("[-6, 11, -6, 1]", "3", true),
        ("[-6, 11, -6, 1]", "2.5", false),
        ("[1, 2]", "-0.5", true),
        ("[1, 2]", "-0.50003", true),
        ("[1, 2]", "-0.5001", false),
        ("[1, 2]", "nan", false),
        ("[1, 2]", "'-0.5'", false),
        ("[1, 2]", "None", false),
        ("[0, 0]", "inf", false),
        ("[1, 2]", "-1e308", false),
    ] {
        assert_eq!(passes(problem, 1e-4, xs, "1.0", Some(x)), right, "{x} of {xs}");
    }
    // The recorded value is not enough by itself, and another set's function of that name has no oracle.
    assert!(!passes(problem, 1e-4, "[1, 2]", "7.0", Some("7.0")));
    assert!(!passes(("mine/1", "find_zero"), 1e-4, "[-6, 11, -6, 1]", "1.0", Some("2.0")));
}

#[test]
fn tasks_on_collections_compare_as_sets() {
    let names = [
        "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
        "intersection_array", "find_dissimilar", "Diff",
    ];
    for name in names {
        let same = |expected: &str, actual: &str| passes(("Mbpp/2", name), 0.0, "1", expected, Some(actual));
        assert!(same("(4, 5)", "[5, 4]") && same("[4, 5]", "{4, 5}") && same("[4]", "[4, 4, 4.0]"), "{name}");
        assert!(same("['a', 'b']", "'ba'") && same("[1]", "{1: 2}"), "{name}");
        assert!(!same("(4, 5)", "[4]") && !same("(4, 5)", "[4, 5, 6]") && !same("[4]", "4"), "{name}");
        assert!(!same("[[4]]", "[[4]]") && !same("[4]", "None"), "{name}");
    }
    assert!(!passes(("Mbpp/3", "is_not_prime"), 0.0, "1", "(4, 5)", Some("[5, 4]")));
    assert!(!passes(("HumanEval/58", "similar_elements"), 0.0, "1", "(4, 5)", Some("[5, 4]")));
}

#[test]
fn three_tasks_ask_for_something_rather_than_none() {
    for name in ["check_str", "text_match_three", "text_starta_endb"] {
        let same = |expected: &str, actual: Option<&str>| passes(("Mbpp/454", name), 0.0, "'a'", expected, actual);
        assert!(same("True", None) && same("True", Some("'Found a match!'")) && same("True", Some("True")), "{name}");
        assert!(same("False", Some("None")) && same("False", Some("False")), "{name}");
        assert!(!same("False", None) && !same("True", Some("None")) && !same("True", Some("False")), "{name}");
        // A bool is compared, anything else is something: 0 is not None.
        assert!(!same("False", Some("0")) && same("True", Some("0")), "{name}");
    }
    assert!(!passes(("Mbpp/3", "is_not_prime"), 0.0, "1", "True", None));
}

#[test]
fn four_tasks_take_a_second_reading() {
    let equivalent = |actual| passes(("Mbpp/164", "are_equivalent"), 0.0, "36, 57", "False", Some(actual));
    assert!(equivalent("False") && equivalent("True") && equivalent("'anything'"));
    let sum_div = |actual| passes(("Mbpp/295", "sum_div"), 0.0, "8", "7", Some(actual));
    assert!(sum_div("7") && sum_div("0") && sum_div("False") && !sum_div("8") && !sum_div("None"));
    let area = |atol, actual| passes(("Mbpp/581", "surface_Area"), atol, "3, 4", "33", Some(actual));
    // 9 + 2 · 3 · sqrt(2.25 + 16) = 34.63…, rounded 35.
    assert!(area(0.0, "33") && area(0.0, "35") && area(0.0, "35.0") && !area(0.0, "34") && !area(0.0, "'35'"));
    assert!(area(1.0, "34") && !area(0.5, "34.4"));
    let digits = |input, actual| passes(("Mbpp/558", "digit_distance_nums"), 0.0, input, "9", Some(actual));
    // 023 and 256: 2 + 3 + 3.
    assert!(digits("23, 256", "9") && digits("23, 256", "8") && digits("256, 23", "8") && !digits("23, 256", "7"));
    assert!(digits("-5, 3", "9") && !digits("-5, 3", "2"));
}
