//! The decoders of values that a program returned, and of messages between two guests.

use veriplay_core::{EncodeCaps, Value};

const MAX_BYTES: usize = 1 << 16;

/// Checks that a value has one encoding, equals itself, and survives being written as Python writes it, and in the format of `marshal`.
pub(super) fn run(bytes: &[u8]) {
    if let Ok(message) = Value::from_marshal(bytes, EncodeCaps::with_bytes(MAX_BYTES)) {
        assert!(message.to_marshal().is_some(), "a message that cannot be sent on: {message}");
        check_message(&message);
    }
    let Ok(value) = Value::decode(bytes, EncodeCaps::with_bytes(MAX_BYTES)) else { return };
    check_message(&value);
    assert_eq!(value.encode(), bytes, "a value with two encodings");
    assert_eq!(value.python_key(), value.python_key());
    let text = value.to_string();
    let again = Value::parse_repr(&text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
    assert_eq!(again.to_string(), text);
    assert_eq!(again.python_key(), value.python_key(), "`{text}`");
}

/// What the host writes for another guest is the same value, where the format has it.
fn check_message(value: &Value) {
    let Some(message) = value.to_marshal() else { return };
    let read = Value::from_marshal(&message, EncodeCaps::with_bytes(message.len()));
    assert_eq!(read.as_ref(), Ok(value), "{value}");
}
