//! Python literals and programs in a model's text.

use veriplay_core::{EncodeCaps, Value, count_statements, normalize_program};

/// Checks that literals survive a round trip, and that normalization is idempotent.
pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(value) = Value::parse_literal(text) {
        survives(&value);
    }
    if let Ok(value) = Value::parse_repr(text) {
        survives(&value);
    }
    if let Ok(arguments) = Value::parse_arguments(text) {
        let text = Value::arguments_text(&arguments);
        let again = Value::parse_arguments(&text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
        assert_eq!(Value::List(again).encode(), Value::List(arguments).encode());
    }
    let program = normalize_program(text);
    assert_eq!(normalize_program(&program), program, "normalising twice is not normalising once");
    let _ = count_statements(text);
}

/// Checks that a value comes back from its text and from its encoding.
pub(super) fn survives(value: &Value) {
    let (text, encoded) = (value.to_string(), value.encode());
    let again = Value::parse_repr(&text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
    assert_eq!(again.encode(), encoded, "`{text}`");
    let decoded = Value::decode(&encoded, EncodeCaps::with_bytes(encoded.len()));
    assert_eq!(decoded.expect("what was encoded decodes").encode(), encoded);
}
