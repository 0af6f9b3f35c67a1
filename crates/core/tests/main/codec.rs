//! The encoding: one for each value, and no bytes make the decoder fall over.

use proptest::prelude::*;
use veriplay_core::{DecodeError, EncodeCaps, Value};

use crate::arbitrary::value;

const CAPS: EncodeCaps = EncodeCaps::with_bytes(1 << 16);

fn decode(bytes: &[u8]) -> Result<Value, DecodeError> {
    Value::decode(bytes, CAPS)
}

/// `depth` lists in one another, around nothing.
fn nested(depth: usize) -> Value {
    (1..depth).fold(Value::List(Vec::new()), |inner, _| Value::List(vec![inner]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_comes_back_from_its_encoding(value in value()) {
        let back = decode(&value.encode()).unwrap();
        prop_assert_eq!(&back, &value);
        prop_assert_eq!(back.encode(), value.encode());
    }

    #[test]
    fn a_changed_byte_is_another_value_or_none(value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = value.encode();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        if let Ok(other) = decode(&bytes) {
            prop_assert_ne!(&other, &value);
            prop_assert_eq!(other.encode(), bytes);
        }
    }

    #[test]
    fn a_cut_encoding_is_none(value in value(), at in any::<prop::sample::Index>()) {
        let bytes = value.encode();
        prop_assert!(decode(&bytes[..at.index(bytes.len())]).is_err());
    }
}

#[test]
fn second_encodings_of_a_value_are_refused() {
    for (what, bytes) in include_str!("second_encodings.txt").lines().filter_map(|line| line.split_once(": ")) {
        let Ok(Value::Bytes(bytes)) = Value::parse_literal(bytes) else { panic!("{bytes} is not a literal of bytes") };
        assert!(decode(&bytes).is_err(), "{what} was taken as {:?}", decode(&bytes));
    }
    assert!(decode(b"S\x02\0\0\0i\x01\0\0\0\x01i\x01\0\0\0\x02").is_ok(), "a set that rises");
    assert!(decode(b"d\x01\0\0\0i\x01\0\0\0\x01N").is_ok(), "a dict with one key");
}

#[test]
fn nesting_is_capped_where_the_guest_caps_it() {
    assert!(decode(&nested(EncodeCaps::DEPTH).encode()).is_ok());
    assert_eq!(decode(&nested(EncodeCaps::DEPTH + 2).encode()), Err(DecodeError::TooDeep(EncodeCaps::DEPTH)));
}

#[test]
fn claimed_counts_cost_no_memory() {
    // Each list claims four thousand million items. Reserving what is claimed, or even one place a byte, at every level
    // would take gigabytes.
    let bytes = b"l\xff\xff\xff\xff".repeat(60);
    assert!(matches!(decode(&bytes), Err(DecodeError::Truncated(_))));
}

#[test]
fn a_value_longer_than_the_cap_is_refused_before_it_is_read() {
    let caps = EncodeCaps::with_bytes(10);
    assert_eq!(
        Value::decode(&Value::str("x".repeat(6)).encode(), caps),
        Err(DecodeError::TooLong { bytes: 11, cap: 10 })
    );
    assert!(Value::decode(&Value::str("x".repeat(5)).encode(), caps).is_ok());
}
