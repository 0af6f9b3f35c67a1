//! Texts: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::Comparison;

use crate::judges::{text_is_right, within};

/// Judges by a letter; float with 1e-6 and 0.
fn judges() -> [(char, Comparison); 8] {
    [
        ('e', Comparison::by("exact")),
        ('s', Comparison::by("lines")),
        ('l', Comparison::by("livecodebench")),
        ('o', Comparison::by("sandbox_fusion")),
        ('f', within("float", 1e-6, 0.0)),
        ('t', Comparison::by("tokens")),
        ('y', Comparison::by("yes_no")),
        ('n', Comparison::by("nemo_gym")),
    ]
}

/// Expected, actual, and the judges that take the one for the other.
const TABLE: &[(&str, &str, &str)] = &[
    ("3", "3", "esloftyn"),
    ("3", "3\n\n\n", "esloftyn"),
    ("3\n", "3", "esloftyn"),
    ("3", "3 ", "sloftyn"),
    ("3", "3\r\n", "sloftyn"),
    ("3", " 3", "loftn"),
    ("3", "\n3", "lotn"),
    ("1 2\n3", "1 2 \n3\t", "sloftyn"),
    ("1 2\n3", "1  2\n3", "lftn"),
    ("1 2\n3", "1 2\n\n3", "t"),
    ("1 2\n3", "1 2 3", "t"),
    ("1 2\n3", "1\n2\n3", "t"),
    ("1 2\n3", "1 2", ""),
    ("1 2", "1 2\n3", ""),
    ("a  b", "a b", "ft"),
    ("YES", "Yes", "oyn"),
    ("YES\n1", "yes\n2", ""),
    ("Yes\nNo", "YES\nno", "oyn"),
    ("Yes", "NO", ""),
    ("Yes", " yes", "oyn"),
    ("Yes 1", "YES 1", "o"),
    ("Snuke", "SNUKE", "o"),
    ("Yes", "yes.", ""),
    ("1.41421356237309504880", "1.414213562373", "ofn"),
    ("1000000", "1000000.5", "on"),
    ("1.5 2", "1.5000001 2", "fn"),
    ("1.5 2", "1.5000001 3", ""),
    ("1.5 x", "1.5000001 x", "f"),
    ("1", "1.0", "lofn"),
    ("1", "1e0", "lofn"),
    ("1", "01", "lofn"),
    ("1 2", "1.0 2.0", "lfn"),
    ("a 1", "a 1.0", "f"),
    ("a 1", "a 1", "esloftyn"),
    ("1_000", "1000", "lon"),
    ("1_000", "1__000", "ln"),
    ("0.333333", "0.3333334", "ofn"),
    ("0.333333", "0.333336", "o"),
    ("0.333333", "0.33334", ""),
    ("0.1", "0.10000000000000001", "ofn"),
    ("1000000", "1000001", "o"),
    ("50000000000000000", "50000000000000001", "o"),
    ("0", "0.0000000000000001", "ofn"),
    ("0.0", "-0", "lofn"),
    ("nan", "nan", "esloftyn"),
    ("nan", "NaN", "of"),
    ("nan 1", "nan 1.0", "f"),
    ("inf", "Infinity", "lfn"),
    ("inf", "-inf", ""),
    ("inf", "1e400", ""),
    ("1e400", "10e399", "ln"),
    ("", "", "esloftyn"),
    ("", "\n \n", "sloftyn"),
    ("", "0", ""),
    ("0", "", ""),
    ("é", "é", "esloftyn"),
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
            // A blank line is no word.
            let is_right = letter == 't' && actual.contains("\n\n");
            assert_eq!(text_is_right(&judge, "1\n2\n3", actual), is_right, "{letter}: {actual:?}");
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
    fn what_exact_takes_lines_takes_and_what_lines_takes_the_others_take(
        expected in "[ab1 .\n]{0,8}", actual in "[ab1 .\n]{0,8}",
    ) {
        let [exact, lines, others @ ..] = judges();
        let right = |judge: &Comparison| text_is_right(judge, &expected, &actual);
        prop_assert!(!right(&exact.1) || right(&lines.1));
        for (letter, judge) in others {
            prop_assert!(!right(&lines.1) || right(&judge), "{letter}: {actual:?} for {expected:?}");
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
