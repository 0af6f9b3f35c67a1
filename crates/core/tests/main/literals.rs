//! The literal parser: a model's text becomes values, and nothing in it is ever evaluated.

use proptest::prelude::*;
use veriplay_core::{MAX_LITERAL_BYTES, Value};

use crate::arbitrary::value;

#[test]
fn text_that_is_more_than_a_literal_is_refused() {
    let corpus = [
        // What has cheated Absolute Zero's release.
        "x) or (True", "1) or (1 == 1", "f(1)", "f", "eval('1')", "__import__('os')", "1+1", "1 + 1", "2**10",
        "1 if True else 2", "1 == 1", "not True", "1 or 2", "[x for x in range(3)]", "{x: 1 for x in 'ab'}",
        "(x := 1)", "lambda: 1", "f'{1}'", "'a' f'{1}'", "t'a'", "1j", "1+2j", "float('inf')", "inf", "nan", "-inf",
        "frozenset({1})", "set([1])", "set(1)", "dict()", "list()", "*[1]", "[*[1]]", "{**{}}", "...", "Ellipsis",
        "none", "true", "'a'.upper()", "[1][0]", "1 # comment", "yield", // Broken text.
        "", " ", "1,", "1, 2", "1 2", "1\n2", "'a'\n'b'", "-\n1", "(", ")", "[1", "[1,,2]", "[,]", "{,}", "{1: }",
        "{1: 2, 3}", "{1, 2: 3}", "{[1]}", "{[1]: 2}", "{({1},): 2}", "'a", "'a\nb'", "'''a", "'\\", "'\\x1'",
        "'\\u12'", "'\\ud800'", "'\\U00110000'", "'\\N{DASH}'", "b'é'", "b'a' 'b'", "'a\rb'", "'a\0b'", "ub'a'",
        // Numbers.
        "--1", "-(-1)", "+-1", "-True", "-'a'", "-(1,)", "-", "012", "0_7", "1__0", "1_", "_1", "0x", "0xg", "0_x1",
        "0b2", "1.5.2", "1e", "1e+", "1_.5", "1._5", "1e_5", "1_e5", ".", ".e5", "1.real", "1abc", "0x1.5", "1if",
        "１", "½",
    ];
    for text in corpus {
        assert!(Value::parse_literal(text).is_err(), "`{text}` was taken as {:?}", Value::parse_literal(text));
    }
}

/// Literals, with `⏎` for a line end, and how their values are written.
const LITERALS: &str = include_str!("literals.txt");

#[test]
fn literals_are_read_as_python_reads_them() {
    for (text, wanted) in LITERALS.lines().filter_map(|line| line.split_once(" → ")) {
        let text = text.replace('⏎', "\n");
        let read = Value::parse_literal(&text).unwrap_or_else(|error| panic!("`{text}` was refused: {error}"));
        assert_eq!(read.to_string(), wanted, "`{text}`");
    }
}

#[test]
fn argument_lists_are_literals_and_nothing_with_a_name() {
    for text in ["x=1", "*[1]", "**{}", "1) or (True", "1, x", "f(1), 2", ",", "1,,2", "1;2", "1 2", "print('a')"] {
        assert!(Value::parse_arguments(text).is_err(), "`{text}` was taken");
    }
    for (text, wanted) in [
        ("", ""),
        ("1", "1"),
        ("1, 'a',", "1, 'a'"),
        ("[1],\n(2,)", "[1], (2,)"),
        ("(1, 2)", "(1, 2)"),
        // A literal may overflow, and `inf` is a name.
        ("1e400, [(-1e999,)], {1: 1e309}", "1e309, [(-1e309,)], {1: 1e309}"),
    ] {
        let read = Value::parse_arguments(text).unwrap();
        assert_eq!(Value::arguments_text(&read), wanted);
        assert_eq!(Value::parse_arguments(wanted).unwrap(), read);
    }
}

#[test]
fn an_int_of_more_decimal_digits_than_python_reads_is_written_so_that_it_does() {
    for (digits, prefix) in [(3570, "-5"), (3580, "-0x"), (4300, "-0x")] {
        let text = format!("[-0x{}]", "f".repeat(digits));
        let read = Value::parse_arguments(&text).unwrap();
        let written = Value::arguments_text(&read);
        assert!(written.starts_with(&format!("[{prefix}")), "{digits}: {written}");
        assert_eq!(Value::parse_arguments(&written).unwrap(), read);
    }
}

#[test]
fn deep_nesting_is_refused_and_never_a_crash() {
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
    for (open, close) in [("[", "]"), ("(", ")"), ("(", ",)"), ("{1: ", "}"), ("-(", ")"), ("-", ""), ("{(", ",)}")] {
        assert!(Value::parse_literal(&nested(open, close, 100_000)).is_err(), "`{open}`");
    }
    assert!(Value::parse_literal(&"(".repeat(100_000)).is_err());
    assert!(Value::parse_literal(&nested("[", "]", 64)).is_ok());
    assert!(Value::parse_literal(&nested("[", "]", 65)).is_err());
}

#[test]
fn what_is_deepest_in_the_encoding_comes_back_from_its_repr() {
    let leaf = Value::List(vec![Value::int(-1), Value::Float(f64::NEG_INFINITY), Value::set_of(vec![], true)]);
    let deep = (1..veriplay_core::EncodeCaps::DEPTH).fold(leaf, |inner, _| Value::List(vec![inner]));
    assert_eq!(Value::parse_repr(&deep.to_string()).unwrap(), deep);
    let frozen = (0..64).fold(Value::set_of(vec![], true), |inner, _| Value::set_of(vec![inner], true));
    assert_eq!(Value::parse_repr(&frozen.to_string()).unwrap(), frozen);
    assert!(Value::decode(&frozen.encode(), veriplay_core::EncodeCaps::with_bytes(1 << 10)).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_comes_back_from_its_repr_and_its_json(value in value()) {
        prop_assert_eq!(&Value::parse_repr(&value.to_string()).unwrap(), &value);
        let json = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), &value);
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_before_it_is_read() {
    let list = |bytes: usize| format!("[{}]", " ".repeat(bytes - 2));
    let longest = list(MAX_LITERAL_BYTES);
    let longer = list(MAX_LITERAL_BYTES + 1);
    assert!(Value::parse_literal(&longest).is_ok() && Value::parse_repr(&longest).is_ok());
    assert!(Value::parse_arguments(&longest).is_ok());
    let read = [Value::parse_literal(&longer), Value::parse_repr(&longer)].map(|read| read.map(drop));
    for refused in read.into_iter().chain([Value::parse_arguments(&longer).map(drop)]) {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("1048577 bytes") && text.contains("at most 1048576"), "{text}");
    }
    // A record of ours holds whatever was encoded.
    let record = serde_json::to_string(&longer).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&record).unwrap(), Value::List(Vec::new()));
}

#[test]
fn an_int_may_have_as_many_digits_as_python_reads_and_more_in_a_repr_but_not_any_number() {
    let nines = |digits| "9".repeat(digits);
    assert!(Value::parse_literal(&nines(4300)).is_ok() && Value::parse_literal(&nines(4301)).is_err());
    assert!(Value::parse_repr(&nines(20_000)).is_ok() && Value::parse_repr(&nines(20_001)).is_err());
    assert!(Value::parse_literal(&format!("0x{}", "f".repeat(500_000))).is_ok());
    let huge = Value::Int(dashu_int::IBig::from(7).pow(9000));
    assert_eq!(Value::parse_repr(&huge.to_string()).unwrap(), huge);
}

#[test]
fn adjacent_literals_are_joined_in_any_number() {
    let pieces = 150_000;
    assert_eq!(Value::parse_literal(&"b'x' ".repeat(pieces)).unwrap(), Value::Bytes(vec![b'x'; pieces]));
    assert_eq!(Value::parse_literal(&"'x' ".repeat(pieces)).unwrap(), Value::str("x".repeat(pieces)));
}
