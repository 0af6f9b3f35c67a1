//! Two equalities: exact, and Python's. Both take time near linear in the size of the values: a guest chooses them.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_traits::FromPrimitive;

use super::Value;

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Dict(a), Value::Dict(b)) => same_pairs(a, b),
            (Value::List(a), Value::List(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Set(a), Value::Set(b))
            | (Value::FrozenSet(a), Value::FrozenSet(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::None, Value::None) => true,
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Dicts without order. Keys are hashable, so they hold no dicts, and their encodings name them.
fn same_pairs(a: &[(Value, Value)], b: &[(Value, Value)]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let known: HashMap<Vec<u8>, &Value> = b.iter().map(|(key, value)| (key.encode(), value)).collect();
    a.iter().all(|(key, value)| known.get(&key.encode()).is_some_and(|other| *other == value))
}

impl Value {
    /// Python's `==` on plain values: `1 == 1.0 == True`, sets and dicts without order, list never equals tuple.
    ///
    /// One difference: NaN equals NaN. A program that returns NaN has returned the same thing twice, and Python's own
    /// answer depends on object identity, which does not survive a crossing.
    #[must_use]
    pub fn python_eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.python_eq(y))
            }
            _ => self.python_key() == other.python_key(),
        }
    }

    /// Bytes that two values share exactly when [`Value::python_eq`] holds: what to hash, count or sort by. Members of sets and
    /// dicts stand in it as one digest, so that it takes linear time whatever lies in what.
    #[must_use]
    pub fn python_key(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_key(&mut out);
        out
    }

    fn put_key(&self, out: &mut Vec<u8>) {
        match self {
            Value::None | Value::Int(_) | Value::Str(_) | Value::Bytes(_) => self.encode_into(out),
            Value::Bool(value) => Value::int(u8::from(*value)).encode_into(out),
            Value::Float(value) => integral(*value).unwrap_or(Value::Float(*value)).encode_into(out),
            Value::List(items) => put_list(out, b'l', items),
            Value::Tuple(items) => put_list(out, b't', items),
            Value::Set(items) | Value::FrozenSet(items) => {
                let mut keys: Vec<Vec<u8>> = items.iter().map(Value::python_key).collect();
                keys.sort_unstable();
                keys.dedup();
                put_members(out, b'S', &keys);
            }
            Value::Dict(pairs) => {
                let both = |(key, value): &(Value, Value)| {
                    let mut both = key.python_key();
                    value.put_key(&mut both);
                    both
                };
                let mut keys: Vec<Vec<u8>> = pairs.iter().map(both).collect();
                keys.sort_unstable();
                put_members(out, b'd', &keys);
            }
        }
    }
}

/// A float that is an integer, as that very integer, however large. Python compares so, exactly.
fn integral(value: f64) -> Option<Value> {
    (value.fract() == 0.0).then(|| BigInt::from_f64(value).map(Value::Int)).flatten()
}

/// A count and the keys: each key says itself where it ends, so two lists of keys never read alike.
fn put_list(out: &mut Vec<u8>, tag: u8, items: &[Value]) {
    put_count(out, tag, items.len());
    items.iter().for_each(|item| item.put_key(out));
}

/// A count and a digest of the sorted keys, which would be copied once a level where they lie in one another.
fn put_members(out: &mut Vec<u8>, tag: u8, keys: &[Vec<u8>]) {
    put_count(out, tag, keys.len());
    let mut digest = blake3::Hasher::new();
    for key in keys {
        digest.update(key);
    }
    out.extend_from_slice(digest.finalize().as_bytes());
}

fn put_count(out: &mut Vec<u8>, tag: u8, count: usize) {
    out.push(tag);
    out.extend_from_slice(&(count as u64).to_le_bytes());
}
