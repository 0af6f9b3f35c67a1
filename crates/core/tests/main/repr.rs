//! `repr`, as Python writes it.

use proptest::prelude::*;
use veriplay_core::Value;

use crate::arbitrary::value;

#[test]
fn floats_are_written_as_python_writes_them() {
    for text in [
        "0.0", "-0.0", "1.0", "0.30000000000000004", "0.3333333333333333", "100.0", "1000000000000000.0",
        "9999999999999998.0", "1e+16", "1.5e+16", "1e+22", "1e+100", "0.0001", "1e-05", "1.25e-07", "5e-324",
        "1.7976931348623157e+308", "inf", "-inf", "nan",
    ] {
        assert_eq!(Value::Float(text.parse().unwrap()).to_string(), text);
    }
    assert_eq!(Value::Float(-f64::NAN).to_string(), "nan");
}

#[test]
fn strings_are_quoted_and_escaped_as_python_does() {
    let corpus = [
        ("", "''"),
        ("it's", "\"it's\""),
        ("\"", "'\"'"),
        ("'\"", "'\\'\"'"),
        ("a\\b", "'a\\\\b'"),
        ("\n\r\t\x00\x1b\x7f", "'\\n\\r\\t\\x00\\x1b\\x7f'"),
        ("é漢🦀", "'é漢🦀'"),
        ("\u{85}\u{a0}\u{ad}", "'\\x85\\xa0\\xad'"),
        ("\u{2028}\u{e000}", "'\\u2028\\ue000'"),
        ("\u{10ffff}", "'\\U0010ffff'"),
    ];
    for (text, wanted) in corpus {
        assert_eq!(Value::str(text).to_string(), wanted);
    }
    assert_eq!(Value::Bytes(b"it's \x80\n".to_vec()).to_string(), "b\"it's \\x80\\n\"");
}

#[test]
fn containers_are_written_as_python_writes_them() {
    let one = || vec![Value::int(1)];
    let dict = Value::Dict(vec![(Value::str("a"), Value::List(one()))]);
    let tuples = [Value::Tuple(vec![]), Value::Tuple(one())];
    let sets = [Value::set_of(vec![], false), Value::set_of(vec![], true), Value::set_of(one(), true)];
    assert_eq!(tuples.map(|value| value.to_string()), ["()", "(1,)"]);
    assert_eq!(sets.map(|value| value.to_string()), ["set()", "frozenset()", "frozenset({1})"]);
    assert_eq!(dict.to_string(), "{'a': [1]}");
}

/// Written in decimal it would take a quarter of a minute.
fn huge_int() -> Value {
    Value::parse_literal(&format!("0x{}", "f".repeat(1_000_000))).unwrap()
}

#[test]
fn an_int_of_more_digits_than_python_writes_is_written_in_hexadecimal() {
    let power = |digits: usize| format!("1{}", "0".repeat(digits - 1));
    assert_eq!(Value::parse_literal(&power(4300)).unwrap().to_string(), power(4300));
    let nines = "9".repeat(4300);
    assert_eq!(Value::parse_literal(&nines).unwrap().to_string(), nines);
    // 10^4300 has one digit too many.
    let long = Value::parse_repr(&power(4301)).unwrap();
    assert!(long.to_string().starts_with("0x"), "{long}");
    assert_eq!(Value::parse_repr(&long.to_string()).unwrap(), long);
    assert!(huge_int().to_string().starts_with("0xffff"));
}

#[test]
fn an_excerpt_of_a_huge_value_is_short() {
    let many = Value::List(std::iter::repeat_n(huge_int(), 100).collect());
    assert_eq!(many.excerpt(8), "[0xfffff…");
    assert_eq!(Value::str("é".repeat(1000)).excerpt(4), "'ééé…");
    assert_eq!(Value::str("\0".repeat(1000)).excerpt(6), "'\\x00\\…");
}

proptest! {
    #[test]
    fn an_excerpt_is_the_start_of_what_is_written(value in value(), chars in 0..60usize) {
        let whole = value.to_string();
        let start: String = whole.chars().take(chars).collect();
        let wanted = if whole.chars().count() > chars { start + "…" } else { whole };
        prop_assert_eq!(value.excerpt(chars), wanted);
    }
}
