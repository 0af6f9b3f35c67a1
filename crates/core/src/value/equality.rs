//! Exact equality and Python's. Both take near linear time in the size of the values, because a guest chooses them.

use std::collections::HashMap;

use super::Value;
use super::object::{Object, PythonClass, numbers};

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Dict(a), Value::Dict(b)) => match_pairs(a, b, Value::encode, Value::eq),
            (Value::List(a), Value::List(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Set(a), Value::Set(b))
            | (Value::FrozenSet(a), Value::FrozenSet(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::Object(a), Value::Object(b)) => a == b,
            (Value::None, Value::None) => true,
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Compares dicts without order. The key of a key identifies it, because it is hashable and contains no dicts.
fn match_pairs(
    a: &[(Value, Value)],
    b: &[(Value, Value)],
    key_of: fn(&Value) -> Vec<u8>,
    same: fn(&Value, &Value) -> bool,
) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let known: HashMap<Vec<u8>, &Value> = b.iter().map(|(key, value)| (key_of(key), value)).collect();
    a.iter().all(|(key, value)| known.get(&key_of(key)).is_some_and(|other| same(value, other)))
}

impl Value {
    /// Python's `==` on plain values: `1 == 1.0 == True == Decimal(1)`, sets and dicts without order, list never equals tuple.
    ///
    /// NaN equals NaN: a program that returns NaN has returned the same thing twice, and Python's own answer depends on
    /// object identity, which does not survive a crossing. numpy scalars count as the numbers they are, exactly, where numpy
    /// rounds both sides to one dtype first (`np.float32(0.1) == 0.1`). A `Decimal` with more than 400 zeros or 4300 digits
    /// before the point equals no int.
    pub fn python_eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => equal_items(a, b),
            (Value::Object(a), Value::Object(b)) => match (a.class(), b.class(), a.pairs(), b.pairs()) {
                (PythonClass::Counter, PythonClass::Counter, Some(a), Some(b)) => equal_counts(a, b),
                (PythonClass::OrderedDict, PythonClass::OrderedDict, Some(a), Some(b)) => {
                    let same = |(a, b): (&(Value, Value), &(Value, Value))| a.0.python_eq(&b.0) && a.1.python_eq(&b.1);
                    a.len() == b.len() && a.iter().zip(b).all(same)
                }
                (.., Some(a), Some(b)) => equal_pairs(a, b),
                _ => match (a.items(), b.items()) {
                    (Some(a), Some(b)) => equal_items(a, b),
                    _ => self.python_key() == other.python_key(),
                },
            },
            _ if self.kind() != other.kind() => false,
            _ => match (self.pairs(), other.pairs()) {
                (Some(a), Some(b)) => equal_pairs(a, b),
                _ => self.python_key() == other.python_key(),
            },
        }
    }

    /// Values of different kinds are never equal, which is told without a look at what is in them.
    fn kind(&self) -> u8 {
        match self {
            Value::List(_) => 1,
            Value::Tuple(_) => 2,
            Value::Set(_) | Value::FrozenSet(_) => 3,
            _ if self.pairs().is_some() => 4,
            Value::Object(object) if object.items().is_some() => 5,
            _ => 0,
        }
    }

    /// The pairs of a dict of any kind.
    fn pairs(&self) -> Option<&[(Value, Value)]> {
        match self {
            Value::Dict(pairs) => Some(pairs),
            Value::Object(object) => object.pairs(),
            _ => None,
        }
    }

    /// Bytes to hash, count or sort by. Members of sets and dicts stand in it as one digest, so that it takes linear time whatever
    /// lies in what. Two values that share them are equal by [`Value::python_eq`], and equal values share
    /// them, but for `Counter` and `OrderedDict`, whose `==` is no equivalence: `Counter(a=0) == Counter() == {} != Counter(a=0)`.
    /// Neither stands in a set or for a key.
    pub fn python_key(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_key(&mut out);
        out
    }

    fn put_key(&self, out: &mut Vec<u8>) {
        match self {
            Value::None | Value::Int(_) | Value::Str(_) | Value::Bytes(_) => self.encode_into(out),
            Value::Bool(value) => Value::int(u8::from(*value)).encode_into(out),
            Value::Float(value) => numbers::put_float(out, *value),
            Value::List(items) => put_list(out, b'l', items),
            Value::Tuple(items) => put_list(out, b't', items),
            Value::Set(items) | Value::FrozenSet(items) => {
                let mut keys: Vec<Vec<u8>> = items.iter().map(Value::python_key).collect();
                keys.sort_unstable();
                keys.dedup();
                put_members(out, b'S', &keys);
            }
            Value::Dict(pairs) => put_pairs(out, b'd', pairs, false),
            Value::Object(object) => put_object(out, object),
        }
    }
}

fn put_object(out: &mut Vec<u8>, object: &Object) {
    match (object.pairs(), object.items()) {
        (Some(pairs), _) if object.class() == PythonClass::OrderedDict => put_pairs(out, b'O', pairs, true),
        (Some(pairs), _) => put_pairs(out, b'd', pairs, false),
        (_, Some(items)) => put_list(out, b'q', items),
        _ => numbers::put_object(out, object),
    }
}

fn put_pairs(out: &mut Vec<u8>, tag: u8, pairs: &[(Value, Value)], ordered: bool) {
    let both = |(key, value): &(Value, Value)| {
        let mut both = key.python_key();
        value.put_key(&mut both);
        both
    };
    let mut keys: Vec<Vec<u8>> = pairs.iter().map(both).collect();
    if !ordered {
        keys.sort_unstable();
    }
    put_members(out, tag, &keys);
}

fn equal_items(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.python_eq(y))
}

fn equal_pairs(a: &[(Value, Value)], b: &[(Value, Value)]) -> bool {
    match_pairs(a, b, Value::python_key, Value::python_eq)
}

/// Compares counters. A missing item has count zero.
fn equal_counts(a: &[(Value, Value)], b: &[(Value, Value)]) -> bool {
    let zero = Value::int(0);
    let counted = |pairs: &[(Value, Value)]| -> Vec<(Value, Value)> {
        pairs.iter().filter(|(_, count)| !count.python_eq(&zero)).cloned().collect()
    };
    equal_pairs(&counted(a), &counted(b))
}

/// Writes a count and the keys. Each key delimits itself, so different lists of keys never have the same bytes.
fn put_list(out: &mut Vec<u8>, tag: u8, items: &[Value]) {
    put_count(out, tag, items.len());
    items.iter().for_each(|item| item.put_key(out));
}

/// Writes a count and a digest of the keys. The keys themselves would be copied once for each level of nesting.
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
