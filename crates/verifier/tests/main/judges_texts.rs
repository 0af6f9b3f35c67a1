//! Texts: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::Comparison;

use crate::judges::{text_is_right, within};

/// Judges by a letter: exact, stdio, livecodebench, common_oj, float with 1e-6 and 0.
fn judges() -> [(char, Comparison); 5] {
    [
        ('e', Comparison::by("exact")),
        ('s', Comparison::by("stdio")),
        ('l', Comparison::by("livecodebench")),
        ('o', Comparison::by("common_oj")),
        ('f', within("float", 1e-6, 0.0)),
    ]
}

/// Expected, actual, and the judges that take the one for the other.
const TABLE: &[(&str, &str, &str)] = &[
    ("3", "3", "eslof"),
    ("3", "3\n\n\n", "eslof"),
    ("3\n", "3", "eslof"),
    ("3", "3 ", "slof"),
    ("3", "3\r\n", "slof"),
    ("3", " 3", "lof"),
    ("3", "\n3", "lo"),
    ("1 2\n3", "1 2 \n3\t", "slof"),
    ("1 2\n3", "1  2\n3", "lf"),
    ("1 2\n3", "1 2\n\n3", ""),
    ("1 2\n3", "1 2 3", ""),
    ("1 2\n3", "1\n2\n3", ""),
    ("1 2\n3", "1 2", ""),
    ("1 2", "1 2\n3", ""),
    ("a  b", "a b", "f"),
    ("YES", "Yes", "o"),
    ("YES\n1", "yes\n2", ""),
    ("1", "1.0", "lof"),
    ("1", "1e0", "lof"),
    ("1", "01", "lof"),
    ("1 2", "1.0 2.0", "lf"),
    ("a 1", "a 1.0", "f"),
    ("a 1", "a 1", "eslof"),
    ("1_000", "1000", "lo"),
    ("1_000", "1__000", "l"),
    ("0.333333", "0.3333334", "of"),
    ("0.333333", "0.333336", "o"),
    ("0.333333", "0.33334", ""),
    ("0.1", "0.10000000000000001", "of"),
    ("1000000", "1000001", "o"),
    ("50000000000000000", "50000000000000001", "o"),
    ("0", "0.0000000000000001", "of"),
    ("0.0", "-0", "lof"),
    ("nan", "nan", "eslof"),
    ("nan", "NaN", "of"),
    ("nan 1", "nan 1.0", "f"),
    ("inf", "Infinity", "lf"),
    ("inf", "-inf", ""),
    ("inf", "1e400", ""),
    ("1e400", "10e399", "l"),
    ("", "", "eslof"),
    ("", "\n \n", "slof"),
    ("", "0", ""),
    ("0", "", ""),
    ("é", "é", "eslof"),
];

#[test]
fn judges_differ_exactly_where_their_rules_do() {
    for (expected, actual, wanted) in TABLE {
        let found: String = judges()
            .iter()
            .filter(|(_, judge)| text_is_right(judge, expected, actual))
            .map(|(letter, _)| *letter)
            .collect();
        assert_eq!(found, *wanted, "{actual:?} for {expected:?}");
    }
}

/// What `Decimal` of CPython 3.11 made of each word, as its canonical number; `!` where it raised.
const DECIMALS: &[(&str, &str)] = &[
    ("1e999999999999999999", "1e999999999999999999"),
    ("10e999999999999999998", "1e999999999999999999"),
    ("0.1e1000000000000000000", "1e999999999999999999"),
    ("1e1000000000000000000", "!"),
    ("10e999999999999999999", "!"),
    ("100000e999999999999999995", "!"),
    ("1e-1999999999999999997", "1e-1999999999999999997"),
    ("1e-1999999999999999998", "!"),
    ("10e-1999999999999999998", "!"),
    ("1.5e-1999999999999999997", "!"),
    ("0e1000000000000000000", "!"),
    ("0e-1999999999999999999", "!"),
    ("1e-99999999999999999999999", "!"),
    ("1e99999999999999999999999999999999999999999999", "!"),
    ("0e5", "0"),
    ("-0.000", "0"),
    ("_1_", "1"),
    ("1__0", "10"),
    ("1_e_5", "100000"),
    ("_", "!"),
    ("+", "!"),
    (".", "!"),
    ("1.", "1"),
    (".5", "0.5"),
    ("-.5e+3", "-500"),
    ("+007", "7"),
    ("1E+05", "100000"),
    ("INFINITY", "inf"),
    ("-Inf", "-infinity"),
    ("in_f", "inf"),
    ("infin", "!"),
    ("0x10", "!"),
    ("1e1e1", "!"),
    ("1e", "!"),
    ("1e+", "!"),
    ("+-1", "!"),
    ("1\0", "!"),
    ("nanx", "!"),
    ("nan1.5", "!"),
];

#[test]
fn livecodebench_reads_numbers_as_decimal_does() {
    let judge = Comparison::by("livecodebench");
    // A word beside, so that no line is right by its text; a word that is no number spoils its line.
    let same = |expected: &str, actual: &str| text_is_right(&judge, &format!("1.0 {expected}"), &format!("1 {actual}"));
    for (word, number) in DECIMALS {
        match *number {
            "!" => assert!(!same(word, word), "{word}"),
            number => {
                assert!(same(number, word) && same(word, number), "{word}");
                assert!(!same("123456789", word) && !same(&format!("-{number}"), word) || *number == *"0", "{word}");
            }
        }
    }
    for nan in ["nan", "NaN123", "sNaN", "-nan", "nan_1"] {
        assert!(!same(nan, nan) && !same(nan, "1"), "{nan}");
        assert!(text_is_right(&judge, nan, nan), "a line that is the same is right");
    }
}

#[test]
fn a_prefix_of_the_lines_is_wrong_by_every_judge() {
    for (letter, judge) in judges() {
        for actual in ["1", "1\n2", "1\n2\n3\n4", "", "1\n\n2\n3"] {
            assert!(!text_is_right(&judge, "1\n2\n3", actual), "{letter}: {actual:?}");
        }
        assert!(text_is_right(&judge, "1\n2\n3", "1\n2\n3"), "{letter}");
    }
}

#[test]
fn float_keeps_words_and_ints_exact_under_any_tolerance() {
    let wide = within("float", 1e300, 1e300);
    for (expected, actual) in [
        ("1", "2"),
        ("yes", "no"),
        ("yes", "YES"),
        ("1.0", "one"),
        ("nan", "1.0"),
        ("1.0", "nan"),
        ("inf", "1.0"),
        ("1.0", "inf"),
        ("-5", "5"),
        ("123456789012345678901234567890", "123456789012345678901234567891"),
    ] {
        assert!(!text_is_right(&wide, expected, actual), "{actual} for {expected}");
    }
    for (expected, actual) in [("1.0", "2"), ("-0", "0"), ("+5", "005"), ("x 1.5", "x 9")] {
        assert!(text_is_right(&wide, expected, actual), "{actual} for {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_text_is_right_for_itself(text in "[a-c0-9 .\n\t_-]{0,30}") {
        for (letter, judge) in judges() {
            prop_assert!(text_is_right(&judge, &text, &text), "{letter}: {text:?}");
        }
    }

    #[test]
    fn line_ends_at_the_end_are_never_looked_at(text in "[a-c0-9 .]{1,10}(\n[a-c0-9 .]{1,10}){0,3}", ends in 0..4usize) {
        for (letter, judge) in judges() {
            let ended = format!("{text}{}", "\n".repeat(ends));
            prop_assert!(text_is_right(&judge, &text, &ended), "{letter}: {text:?}");
        }
    }

    #[test]
    fn what_exact_takes_stdio_takes_and_what_stdio_takes_the_others_take(
        expected in "[ab1 .\n]{0,8}", actual in "[ab1 .\n]{0,8}",
    ) {
        let [exact, stdio, others @ ..] = judges();
        let right = |judge: &Comparison| text_is_right(judge, &expected, &actual);
        prop_assert!(!right(&exact.1) || right(&stdio.1));
        for (letter, judge) in others {
            prop_assert!(!right(&stdio.1) || right(&judge), "{letter}: {actual:?} for {expected:?}");
        }
    }

    #[test]
    fn one_more_word_is_wrong(text in "[a-c]{1,5}( [a-c]{1,5}){0,3}", word in "[d-f]{1,3}") {
        for (letter, judge) in judges() {
            prop_assert!(!text_is_right(&judge, &text, &format!("{text} {word}")), "{letter}");
            prop_assert!(!text_is_right(&judge, &text, &format!("{text}\n{word}")), "{letter}");
        }
    }
}
