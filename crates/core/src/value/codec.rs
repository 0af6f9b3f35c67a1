//! The strict tagged encoding. One byte of tag, then, little-endian:
//!
//! | tag | value |
//! |---|---|
//! | `N` `T` `F` | None, True, False |
//! | `i` | u32 length, then the minimal signed two's complement bytes (zero has none) |
//! | `f` | 8 bytes IEEE 754; NaN only as `0x7ff8_0000_0000_0000` |
//! | `s` | u32 length, then UTF-8 |
//! | `b` | u32 length, then the bytes |
//! | `l` `t` | u32 count, then the items |
//! | `S` `Z` | set, frozenset: u32 count, then the items in strictly rising order of their encodings |
//! | `d` | u32 count, then key, value, … in insertion order, no key twice |
//! | `o` `n` | an object: the code of its class, then its state; the classes are listed in `value/object.rs` |
//!
//! Each value has exactly one encoding. Bytes from a guest are untrusted, so the decoder refuses every other encoding, and values that cannot
//! exist in Python: sets and dicts with unhashable members, or with two members that are equal in Python.

use std::collections::HashSet;

use dashu_int::IBig;

use super::Value;
use super::object::{Object, PythonClass};

/// Limits of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeCaps {
    /// Bytes of one encoded value.
    pub bytes: usize,
    /// Nesting depth of containers.
    pub depth: usize,
}

impl EncodeCaps {
    /// The nesting depth that the guest's harness allows too.
    pub const DEPTH: usize = 64;

    /// Caps for values of at most `bytes`, nested at most [`EncodeCaps::DEPTH`] deep.
    pub const fn with_bytes(bytes: usize) -> Self {
        Self { bytes, depth: Self::DEPTH }
    }
}

/// Why bytes are not the encoding of a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Longer than allowed.
    #[error("an encoded value of {bytes} bytes exceeds the cap of {cap}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The cap.
        cap: usize,
    },
    /// Nested deeper than allowed.
    #[error("an encoded value is nested deeper than {0}")]
    TooDeep(usize),
    /// The bytes end inside a value.
    #[error("the encoded value ends at byte {0}, inside an item")]
    Truncated(usize),
    /// Bytes follow the value.
    #[error("{0} bytes follow the encoded value")]
    Trailing(usize),
    /// An unknown tag, or an item that is not in canonical form.
    #[error("byte {at} of the encoded value: {what}")]
    Invalid {
        /// Offset of the item.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Value {
    /// Its encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    pub(super) fn encode_into(&self, out: &mut Vec<u8>) {
        match self {
            Value::None => out.push(b'N'),
            Value::Bool(true) => out.push(b'T'),
            Value::Bool(false) => out.push(b'F'),
            Value::Int(value) => put_bytes(out, b'i', &int_bytes(value)),
            Value::Float(value) => {
                out.push(b'f');
                out.extend_from_slice(&canonical_bits(*value).to_le_bytes());
            }
            Value::Str(text) => put_bytes(out, b's', text.as_bytes()),
            Value::Bytes(bytes) => put_bytes(out, b'b', bytes),
            Value::List(items) => put_items(out, b'l', items),
            Value::Tuple(items) => put_items(out, b't', items),
            Value::Set(items) => put_items(out, b'S', items),
            Value::FrozenSet(items) => put_items(out, b'Z', items),
            Value::Dict(pairs) => {
                put_count(out, b'd', pairs.len());
                for (key, value) in pairs {
                    key.encode_into(out);
                    value.encode_into(out);
                }
            }
            Value::Object(object) => {
                out.extend_from_slice(&object.class().tag());
                object.state().encode_into(out);
            }
        }
    }

    /// Reads one value that fills `bytes`, by its canonical encoding, within `caps`.
    pub fn decode(bytes: &[u8], caps: EncodeCaps) -> Result<Value, DecodeError> {
        let mut reader = Reader::new(bytes, caps)?;
        let value = reader.value(0)?;
        reader.finish(value)
    }

    /// What a value with this encoding takes of a limit on output: its bytes, and no less than 10 for each value in it and 12 more for each member of a
    /// set and key of a dict. Read by a host, a value takes three or four times as much memory, whatever it is. Bytes that are no encoding have some cost.
    pub fn output_cost(encoded: &[u8]) -> u64 {
        const VALUE: u64 = 10;
        const MEMBER: u64 = 12;
        let (mut rest, mut cost) = (encoded, 0);
        while let Some((tag, after)) = rest.split_first() {
            let length = after.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
            let (skipped, members) = match tag {
                b'N' | b'T' | b'F' => (0, 0),
                b'i' | b's' | b'b' => (length.saturating_add(4), 0),
                b'f' => (8, 0),
                b'l' | b't' => (4, 0),
                // A count that lies is no more than what there is.
                b'S' | b'Z' | b'd' => (4, length.min(after.len()) as u64),
                _ => (1, 0),
            };
            cost += VALUE + MEMBER * members;
            rest = after.get(skipped..).unwrap_or_default();
        }
        cost.max(encoded.len() as u64)
    }

    /// A `set` (or, with `frozen`, a `frozenset`) of `items`, sorted. Of items that are equal in Python it keeps the first.
    pub fn set_of(items: Vec<Value>, frozen: bool) -> Value {
        let mut seen = HashSet::new();
        let mut items: Vec<Value> = items.into_iter().filter(|item| seen.insert(item.python_key())).collect();
        items.sort_by_cached_key(Value::encode);
        if frozen { Value::FrozenSet(items) } else { Value::Set(items) }
    }

    /// Whether Python can hash it, so that it may be in a set or be a dict's key.
    pub fn is_hashable(&self) -> bool {
        match self {
            Value::List(_) | Value::Set(_) | Value::Dict(_) => false,
            Value::Tuple(items) => items.iter().all(Value::is_hashable),
            Value::Object(object) => object.is_hashable(),
            _ => true,
        }
    }
}

pub(super) fn canonical_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

/// Minimal little-endian two's complement. Zero has no bytes.
fn int_bytes(value: &IBig) -> Box<[u8]> {
    value.to_le_bytes()
}

fn put_count(out: &mut Vec<u8>, tag: u8, count: usize) {
    out.push(tag);
    // A value of 4 GiB cannot be built within any job's limits; saturating keeps the decoder the one to refuse it.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    put_count(out, tag, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_items(out: &mut Vec<u8>, tag: u8, items: &[Value]) {
    put_count(out, tag, items.len());
    for item in items {
        item.encode_into(out);
    }
}

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], caps: EncodeCaps) -> Result<Self, DecodeError> {
        if bytes.len() > caps.bytes {
            return Err(DecodeError::TooLong { bytes: bytes.len(), cap: caps.bytes });
        }
        Ok(Self { bytes, at: 0, max_depth: caps.depth })
    }

    /// The value, where no bytes follow it.
    pub(super) fn finish(self, value: Value) -> Result<Value, DecodeError> {
        match self.bytes.len() - self.at {
            0 => Ok(value),
            rest => Err(DecodeError::Trailing(rest)),
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn check_depth(&self, depth: usize) -> Result<(), DecodeError> {
        if depth > self.max_depth { Err(DecodeError::TooDeep(self.max_depth)) } else { Ok(()) }
    }

    pub(super) fn peek(&self) -> Result<u8, DecodeError> {
        self.bytes.get(self.at).copied().ok_or(DecodeError::Truncated(self.bytes.len()))
    }

    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        Ok(self.take(N)?.try_into().expect("took as many"))
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            return Err(DecodeError::Truncated(self.bytes.len()));
        }
        self.at += count;
        Ok(&rest[..count])
    }

    fn count(&mut self) -> Result<usize, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    pub(super) fn counted_bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let count = self.count()?;
        self.take(count)
    }

    fn value(&mut self, depth: usize) -> Result<Value, DecodeError> {
        self.check_depth(depth)?;
        let at = self.at;
        match self.byte()? {
            b'N' => Ok(Value::None),
            b'T' => Ok(Value::Bool(true)),
            b'F' => Ok(Value::Bool(false)),
            b'i' => self.int(at),
            b'f' => self.float(at),
            b's' => self.str(at),
            b'b' => Ok(Value::Bytes(self.counted_bytes()?.to_vec())),
            b'l' => Ok(Value::List(self.items(depth, Self::value)?)),
            b't' => Ok(Value::Tuple(self.items(depth, Self::value)?)),
            b'S' => Ok(Value::Set(self.sorted_items(depth)?)),
            b'Z' => Ok(Value::FrozenSet(self.sorted_items(depth)?)),
            b'd' => self.dict(depth),
            tag @ (b'o' | b'n') => self.object(tag, at, depth),
            _ => Err(DecodeError::Invalid { at, what: "no such tag" }),
        }
    }

    fn int(&mut self, at: usize) -> Result<Value, DecodeError> {
        let bytes = self.counted_bytes()?;
        let value = IBig::from_le_bytes(bytes);
        if *int_bytes(&value) != *bytes {
            return Err(DecodeError::Invalid { at, what: "an int with spare bytes" });
        }
        Ok(Value::Int(value))
    }

    fn float(&mut self, at: usize) -> Result<Value, DecodeError> {
        let bits = u64::from_le_bytes(self.array()?);
        let value = f64::from_bits(bits);
        if canonical_bits(value) != bits {
            return Err(DecodeError::Invalid { at, what: "a NaN that is not the canonical one" });
        }
        Ok(Value::Float(value))
    }

    pub(super) fn str(&mut self, at: usize) -> Result<Value, DecodeError> {
        let text = std::str::from_utf8(self.counted_bytes()?);
        text.map(Value::str).map_err(|_| DecodeError::Invalid { at, what: "a str that is not UTF-8" })
    }

    /// Reserves no memory: the count is untrusted, and a value takes more memory than its byte of encoding.
    pub(super) fn items(&mut self, depth: usize, read: ReadValue<Self>) -> Result<Vec<Value>, DecodeError> {
        let count = self.count()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self, depth + 1)?);
        }
        Ok(items)
    }

    fn sorted_items(&mut self, depth: usize) -> Result<Vec<Value>, DecodeError> {
        let count = self.count()?;
        let (mut items, mut members) = (Vec::new(), Members::default());
        let mut last: &[u8] = &[];
        for _ in 0..count {
            let at = self.at;
            items.push(self.member(depth, &mut members)?);
            let encoded = &self.bytes[at..self.at];
            if encoded <= last {
                return Err(DecodeError::Invalid { at, what: "set items that do not rise" });
            }
            last = encoded;
        }
        Ok(items)
    }

    fn dict(&mut self, depth: usize) -> Result<Value, DecodeError> {
        let count = self.count()?;
        let (mut pairs, mut members) = (Vec::new(), Members::default());
        for _ in 0..count {
            let key = self.member(depth, &mut members)?;
            pairs.push((key, self.value(depth + 1)?));
        }
        Ok(Value::Dict(pairs))
    }

    fn object(&mut self, tag: u8, at: usize, depth: usize) -> Result<Value, DecodeError> {
        let code = self.byte()?;
        let Some(class) = PythonClass::from_tag(tag, code) else {
            return Err(DecodeError::Invalid { at, what: "no such class" });
        };
        let state = self.value(depth + 1)?;
        let object = Object::new(class, state).map_err(|what| DecodeError::Invalid { at, what })?;
        Ok(Value::Object(Box::new(object)))
    }

    /// Reads a set's item or a dict's key.
    fn member(&mut self, depth: usize, members: &mut Members) -> Result<Value, DecodeError> {
        let at = self.at;
        let value = self.value(depth + 1)?;
        members.add(&value, at)?;
        Ok(value)
    }
}

/// Reads a value at a depth.
type ReadValue<R> = fn(&mut R, usize) -> Result<Value, DecodeError>;

/// The items of a set, or the keys of a dict, that have been read.
#[derive(Default)]
pub(super) struct Members(HashSet<Vec<u8>>);

impl Members {
    /// Adds the one that was read at `at`, which must be hashable and differ from those before it.
    pub(super) fn add(&mut self, value: &Value, at: usize) -> Result<(), DecodeError> {
        if !value.is_hashable() {
            return Err(DecodeError::Invalid { at, what: "a set item or dict key that cannot be hashed" });
        }
        if !self.0.insert(value.python_key()) {
            return Err(DecodeError::Invalid { at, what: "a set item or dict key twice" });
        }
        Ok(())
    }
}
