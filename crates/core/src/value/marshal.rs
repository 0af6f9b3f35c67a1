//! The part of CPython's `marshal` format, version 2, that holds the literal types without sets.
//!
//! CPython reads and writes it in one call of C code, which takes a twentieth of the time of the strict encoding's Python code. It is for what
//! enters and leaves guests alone: the host reads a guest's bytes, which are untrusted, and writes a guest's itself, so that `marshal.loads` is
//! never given what a guest wrote. The format is CPython's `Python/marshal.c`. One byte of type, then, little-endian:
//!
//! | type | value |
//! |---|---|
//! | `N` `T` `F` | None, True, False |
//! | `i` | an int of 32 bits |
//! | `l` | i32 count of digits, negative for a negative int, then the digits in base 2¹⁵, u16 each, the lowest first |
//! | `g` | 8 bytes IEEE 754 |
//! | `u` | u32 length, then UTF-8 |
//! | `s` | u32 length, then the bytes |
//! | `[` `(` | u32 count, then the items |
//! | `{` | key, value, …, then `0` |

use dashu_int::{IBig, Sign, UBig};
use num_traits::ToPrimitive;

use super::Value;
use super::codec::{DecodeError, EncodeCaps, Members, Reader, canonical_bits};

const DIGIT_BITS: u32 = 15;

impl Value {
    /// It in the format of `marshal`; `None` where a set, or a class beyond the literal types, is in it.
    pub fn to_marshal(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.marshal_into(&mut out)?;
        Some(out)
    }

    /// A list of `items` in that format, where they have it.
    pub fn list_to_marshal(items: &[Value]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        put_items(&mut out, b'[', items)?;
        Some(out)
    }

    fn marshal_into(&self, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Value::None => out.push(b'N'),
            Value::Bool(true) => out.push(b'T'),
            Value::Bool(false) => out.push(b'F'),
            Value::Int(value) => put_int(out, value)?,
            Value::Float(value) => {
                out.push(b'g');
                out.extend_from_slice(&canonical_bits(*value).to_le_bytes());
            }
            Value::Str(text) => put_bytes(out, b'u', text.as_bytes())?,
            Value::Bytes(bytes) => put_bytes(out, b's', bytes)?,
            Value::List(items) => put_items(out, b'[', items)?,
            Value::Tuple(items) => put_items(out, b'(', items)?,
            Value::Dict(pairs) => {
                out.push(b'{');
                for (key, value) in pairs {
                    key.marshal_into(out)?;
                    value.marshal_into(out)?;
                }
                out.push(b'0');
            }
            Value::Set(_) | Value::FrozenSet(_) | Value::Object(_) => return None,
        }
        Some(())
    }

    /// Reads one value within `caps` that fills `bytes`, which `marshal.dumps(value, 2)` wrote, or a program that means harm.
    pub fn from_marshal(bytes: &[u8], caps: EncodeCaps) -> Result<Value, DecodeError> {
        let mut reader = Reader::new(bytes, caps)?;
        let value = reader.marshalled(0)?;
        reader.finish(value)
    }
}

fn put_count(out: &mut Vec<u8>, kind: u8, count: usize) -> Option<()> {
    out.push(kind);
    // CPython's own limit.
    out.extend_from_slice(&i32::try_from(count).ok()?.to_le_bytes());
    Some(())
}

fn put_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) -> Option<()> {
    put_count(out, kind, bytes.len())?;
    out.extend_from_slice(bytes);
    Some(())
}

fn put_items(out: &mut Vec<u8>, kind: u8, items: &[Value]) -> Option<()> {
    put_count(out, kind, items.len())?;
    items.iter().try_for_each(|item| item.marshal_into(out))
}

fn put_int(out: &mut Vec<u8>, value: &IBig) -> Option<()> {
    if let Some(small) = value.to_i32() {
        out.push(b'i');
        out.extend_from_slice(&small.to_le_bytes());
        return Some(());
    }
    let (sign, amount) = value.clone().into_parts();
    let digits = digits_of(&amount.to_le_bytes());
    let count = i32::try_from(digits.len()).ok()?;
    out.push(b'l');
    out.extend_from_slice(&if sign == Sign::Negative { -count } else { count }.to_le_bytes());
    out.extend(digits.into_iter().flat_map(u16::to_le_bytes));
    Some(())
}

/// The digits in base 2¹⁵ of the amount with these bytes, the lowest first.
fn digits_of(amount: &[u8]) -> Vec<u16> {
    let (mut digits, mut low, mut bits) = (Vec::new(), 0_u32, 0);
    for byte in amount {
        low |= u32::from(*byte) << bits;
        bits += u8::BITS;
        if bits >= DIGIT_BITS {
            digits.push((low & 0x7fff) as u16);
            low >>= DIGIT_BITS;
            bits -= DIGIT_BITS;
        }
    }
    digits.push(low as u16);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

impl Reader<'_> {
    fn marshalled(&mut self, depth: usize) -> Result<Value, DecodeError> {
        self.check_depth(depth)?;
        let at = self.at();
        match self.byte()? {
            b'N' => Ok(Value::None),
            b'T' => Ok(Value::Bool(true)),
            b'F' => Ok(Value::Bool(false)),
            b'i' => Ok(Value::int(i32::from_le_bytes(self.array()?))),
            b'l' => self.marshalled_int(at),
            // Any NaN is the one that there is.
            b'g' => Ok(Value::Float(f64::from_bits(canonical_bits(f64::from_le_bytes(self.array()?))))),
            b'u' => self.str(at),
            b's' => Ok(Value::Bytes(self.counted_bytes()?.to_vec())),
            b'[' => Ok(Value::List(self.items(depth, Self::marshalled)?)),
            b'(' => Ok(Value::Tuple(self.items(depth, Self::marshalled)?)),
            b'{' => self.marshalled_dict(depth),
            _ => Err(DecodeError::Invalid { at, what: "no such type" }),
        }
    }

    fn marshalled_int(&mut self, at: usize) -> Result<Value, DecodeError> {
        let count = i32::from_le_bytes(self.array()?);
        let digits = self.take((count.unsigned_abs() as usize).saturating_mul(2))?;
        let digits = digits.chunks_exact(2).map(|digit| u16::from_le_bytes([digit[0], digit[1]]));
        if digits.clone().any(|digit| digit >> DIGIT_BITS != 0) || digits.clone().next_back() == Some(0) {
            return Err(DecodeError::Invalid { at, what: "an int that is not in canonical form" });
        }
        let sign = if count < 0 { Sign::Negative } else { Sign::Positive };
        Ok(Value::Int(IBig::from_parts(sign, UBig::from_le_bytes(&bytes_of(digits)))))
    }

    fn marshalled_dict(&mut self, depth: usize) -> Result<Value, DecodeError> {
        let (mut pairs, mut members) = (Vec::new(), Members::default());
        while self.peek()? != b'0' {
            let at = self.at();
            let key = self.marshalled(depth + 1)?;
            members.add(&key, at)?;
            pairs.push((key, self.marshalled(depth + 1)?));
        }
        self.byte()?;
        Ok(Value::Dict(pairs))
    }
}

/// The bytes of the amount with these digits in base 2¹⁵.
fn bytes_of(digits: impl Iterator<Item = u16>) -> Vec<u8> {
    let (mut bytes, mut low, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in digits {
        low |= u32::from(digit) << bits;
        bits += DIGIT_BITS;
        while bits >= u8::BITS {
            bytes.push(low as u8);
            low >>= u8::BITS;
            bits -= u8::BITS;
        }
    }
    bytes.push(low as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: EncodeCaps = EncodeCaps::with_bytes(1 << 16);

    /// Values and what `marshal.dumps(value, 2)` of CPython makes of them.
    fn examples() -> Vec<(Value, Vec<u8>)> {
        let int = |value: i128| Value::int(value);
        vec![
            (Value::Tuple(vec![]), b"(\0\0\0\0".to_vec()),
            (Value::Tuple(vec![Value::str("a"), int(1)]), b"(\x02\0\0\0u\x01\0\0\0ai\x01\0\0\0".to_vec()),
            (int(1 << 40), b"l\x03\0\0\0\0\0\0\0\0\x04".to_vec()),
            (int(-(1 << 40)), b"l\xfd\xff\xff\xff\0\0\0\0\0\x04".to_vec()),
            (int(-5), b"i\xfb\xff\xff\xff".to_vec()),
            (int(1 << 31), b"l\x03\0\0\0\0\0\0\0\x02\0".to_vec()),
            (
                Value::List(vec![Value::Float(1.5), Value::None, Value::Bool(true)]),
                b"[\x03\0\0\0g\0\0\0\0\0\0\xf8?NT".to_vec(),
            ),
            (Value::Dict(vec![(Value::str("a"), Value::Bytes(b"x".to_vec()))]), b"{u\x01\0\0\0as\x01\0\0\0x0".to_vec()),
            (Value::str("ééé"), b"u\x06\0\0\0\xc3\xa9\xc3\xa9\xc3\xa9".to_vec()),
        ]
    }

    #[test]
    fn values_are_written_as_cpython_writes_them_and_read_back() {
        for (value, bytes) in examples() {
            assert_eq!(value.to_marshal().as_deref(), Some(bytes.as_slice()), "{value:?}");
            let list = Value::list_to_marshal(std::slice::from_ref(&value));
            assert_eq!(list, Value::List(vec![value.clone()]).to_marshal());
            assert_eq!(Value::from_marshal(&bytes, CAPS), Ok(value));
        }
    }

    #[test]
    fn ints_of_any_size_come_back() {
        for bits in [14, 15, 16, 29, 30, 31, 32, 33, 45, 60, 63, 64, 65, 480, 481, 5000] {
            for offset in [-1, 0, 1] {
                for sign in [-1, 1] {
                    let value = Value::Int(IBig::from(sign) * ((IBig::from(1) << bits) + IBig::from(offset)));
                    let bytes = value.to_marshal().expect("an int has the format");
                    assert_eq!(Value::from_marshal(&bytes, CAPS), Ok(value));
                }
            }
        }
    }

    #[test]
    fn what_cpython_would_not_write_is_refused() {
        let bad: [&[u8]; 14] = [
            b"", b"c\0\0\0\0",          // code
            b"\xe9\x01\0\0\0",     // a flag to refer back to it
            b"r\0\0\0\0",          // such a reference
            b"(\x02\0\0\0N",       // an item short
            b"(\xff\xff\xff\xffN", // a count beyond the bytes
            b"NN",                 // two values
            b"l\x01\0\0\0\0\0",    // a spare digit
            b"l\x01\0\0\0\0\x80",  // a digit of 16 bits
            b"l\0\0\0\x80",        // a count that has no negative
            b"u\x01\0\0\0\xff",    // no UTF-8
            b"{NNNN0",             // a key twice
            b"{[\0\0\0\0N0",       // a key without a hash
            b"{N",                 // no end
        ];
        for bytes in bad {
            assert!(Value::from_marshal(bytes, CAPS).is_err(), "{bytes:?}");
        }
        let deep = [b"[\x01\0\0\0".repeat(EncodeCaps::DEPTH + 1), b"N".to_vec()].concat();
        assert!(matches!(Value::from_marshal(&deep, CAPS), Err(DecodeError::TooDeep(_))));
        let long = Value::str("a".repeat(1 << 16)).to_marshal().expect("a str has the format");
        assert!(matches!(Value::from_marshal(&long, CAPS), Err(DecodeError::TooLong { .. })));
    }

    #[test]
    fn sets_and_other_classes_have_no_such_format() {
        let set = Value::set_of(vec![Value::None], false);
        let complex = Value::complex(0.0, 1.0);
        for value in [set, complex] {
            assert_eq!(Value::list_to_marshal(std::slice::from_ref(&value)), None);
            assert_eq!(Value::List(vec![value]).to_marshal(), None);
        }
    }
}
