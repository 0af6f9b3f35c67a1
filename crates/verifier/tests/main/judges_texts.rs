//! Texts: each judge against the rule of its origin, and the judges against each other.

use proptest::prelude::*;
use veriplay_core::Comparison;
use veriplay_verifier::judges::parse_judge;

use crate::cases::texts;
use crate::judges::text_is_right;

/// Judges by a letter; float with 1e-6 and 0.
fn judges() -> [(char, Comparison); 8] {
    const LETTERS: [char; 8] = ['e', 's', 'l', 'o', 'f', 't', 'y', 'n'];
    const NAMES: [&str; 8] =
        ["exact", "lines", "livecodebench", "sandbox_fusion", "float:atol=1e-6", "tokens", "yes_no", "nemo_gym"];
    std::array::from_fn(|at| (LETTERS[at], parse_judge(NAMES[at]).unwrap()))
}

#[test]
fn judges_differ_exactly_where_their_rules_do() {
    for [expected, actual, wanted] in texts(include_str!("cases/judges_of_texts.txt")) {
        let judges = judges().into_iter().filter(|(_, judge)| text_is_right(judge, &expected, &actual));
        assert_eq!(judges.map(|(letter, _)| letter).collect::<String>(), wanted, "{actual:?} for {expected:?}");
    }
}

#[test]
fn livecodebench_reads_numbers_as_decimal_does() {
    let judge = Comparison::by("livecodebench");
    // A word beside, so that no line is right by its text; a word that is no number spoils its line.
    let same = |expected: &str, actual: &str| text_is_right(&judge, &format!("1.0 {expected}"), &format!("1 {actual}"));
    for [word, number] in texts(include_str!("cases/decimals.txt")) {
        if number == "!" {
            assert!(!same(&word, &word), "{word}");
            continue;
        }
        assert!(same(&number, &word) && same(&word, &number), "{word}");
        assert!(!same("123456789", &word) && !same(&format!("-{number}"), &word) || number == "0", "{word}");
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
