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
    let two = |tag: u8, a: &Value, b: &Value| [&[tag, 2, 0, 0, 0][..], &a.encode(), &b.encode()].concat();
    let (one, two_, none) = (Value::int(1), Value::int(2), Value::None);
    let odd_nan = [&b"f"[..], &0x7ff8_0000_0000_0001u64.to_le_bytes()].concat();
    let corpus: Vec<(&str, Vec<u8>)> = vec![
        ("zero with a byte", b"i\x01\0\0\0\0".to_vec()),
        ("one with a spare byte", b"i\x02\0\0\0\x01\0".to_vec()),
        ("minus one with a spare byte", b"i\x02\0\0\0\xff\xff".to_vec()),
        ("another NaN", odd_nan),
        ("a set that falls", two(b'S', &two_, &one)),
        ("a set with one item twice", two(b'S', &one, &one)),
        ("a set that holds 1 and 1.0", two(b'S', &Value::Float(1.0), &one)),
        ("a set of a list", [&b"S\x01\0\0\0"[..], &Value::List(vec![]).encode()].concat()),
        ("a frozenset of a dict", [&b"Z\x01\0\0\0"[..], &Value::Dict(vec![]).encode()].concat()),
        (
            "a dict with a key twice",
            [&b"d\x02\0\0\0"[..], &two(b'l', &one, &none)[5..], &two(b'l', &one, &none)[5..]].concat(),
        ),
        ("a dict with the keys 1 and True", [&b"d\x02\0\0\0"[..], &one.encode(), b"N", b"T", b"N"].concat()),
        ("a dict with a list as key", [&b"d\x01\0\0\0"[..], &Value::List(vec![]).encode(), b"N"].concat()),
        ("a str that is not UTF-8", b"s\x01\0\0\0\xff".to_vec()),
        ("a str with a surrogate", b"s\x03\0\0\0\xed\xa0\x80".to_vec()),
        ("a tag that is none", b"x".to_vec()),
        ("nothing", Vec::new()),
        ("two values", b"NN".to_vec()),
        ("a count beyond the bytes", b"l\xff\xff\xff\xffN".to_vec()),
        ("a length beyond the bytes", b"b\xff\xff\xff\xff".to_vec()),
    ];
    for (what, bytes) in corpus {
        assert!(decode(&bytes).is_err(), "{what} was taken as {:?}", decode(&bytes));
    }
    assert!(decode(&two(b'S', &one, &two_)).is_ok(), "a set that rises");
    assert!(decode(&[&b"d\x01\0\0\0"[..], &one.encode(), b"N"].concat()).is_ok(), "a dict with one key");
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
