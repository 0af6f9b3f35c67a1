//! `repr`, as Python writes it.

use veriplay_core::Value;

#[test]
fn floats_are_written_as_python_writes_them() {
    let corpus = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1.0 / 3.0, "0.3333333333333333"),
        (100.0, "100.0"),
        (1e15, "1000000000000000.0"),
        (9999999999999998.0, "9999999999999998.0"),
        (1e16, "1e+16"),
        (1.5e16, "1.5e+16"),
        (1e22, "1e+22"),
        (1e100, "1e+100"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (1.25e-7, "1.25e-07"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "nan"),
    ];
    for (value, wanted) in corpus {
        assert_eq!(Value::Float(value).to_string(), wanted);
    }
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
    assert_eq!(Value::Tuple(one()).to_string(), "(1,)");
    assert_eq!(Value::Tuple(vec![]).to_string(), "()");
    assert_eq!(Value::List(vec![]).to_string(), "[]");
    assert_eq!(Value::set_of(vec![], false).to_string(), "set()");
    assert_eq!(Value::set_of(vec![], true).to_string(), "frozenset()");
    assert_eq!(Value::set_of(one(), true).to_string(), "frozenset({1})");
    assert_eq!(Value::Dict(vec![(Value::str("a"), Value::List(one()))]).to_string(), "{'a': [1]}");
}
