//! The decoder of values that a program returned.

use veriplay_core::{EncodeCaps, Value};

const MAX_BYTES: usize = 1 << 16;

/// Checks that a value has one encoding, equals itself, and survives being written as Python writes it.
pub(super) fn run(bytes: &[u8]) {
    let Ok(value) = Value::decode(bytes, EncodeCaps::with_bytes(MAX_BYTES)) else { return };
    assert_eq!(value.encode(), bytes, "a value with two encodings");
    assert_eq!(value.python_key(), value.python_key());
    let text = value.to_string();
    let again = Value::parse_repr(&text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
    assert_eq!(again.to_string(), text);
    assert_eq!(again.python_key(), value.python_key(), "`{text}`");
}
