//! Python literals and programs in a model's text.

use veriplay_core::{EncodeCaps, Value, count_statements, normalize_program};

const MAX_BYTES: usize = 1 << 20;

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

fn survives(value: &Value) {
    let text = value.to_string();
    let again = Value::parse_repr(&text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
    assert_eq!(again.encode(), value.encode(), "`{text}`");
    let decoded = Value::decode(&value.encode(), EncodeCaps::with_bytes(MAX_BYTES));
    assert_eq!(decoded.expect("what was encoded decodes").encode(), value.encode());
}
