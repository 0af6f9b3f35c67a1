//! Plain Python values, which cross between a guest and the host, and which judges compare.
//!
//! [`codec`] is the strict tagged encoding, [`literal`] reads Python literals, [`repr`] writes them, [`equality`]
//! compares as Python's `==` does, [`object`] adds the classes beyond the literal types, [`weight`] tells what values take of memory, and [`marshal`] is CPython's own encoding, for
//! messages between guests. All of it runs on the host; a guest only encodes.

mod codec;
mod equality;
mod literal;
mod marshal;
mod object;
mod repr;
mod weight;

use dashu_int::IBig;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use codec::{DecodeError, EncodeCaps};
pub use literal::{LiteralError, MAX_LITERAL_BYTES};
pub use object::{NumpyType, Object, PythonClass};
pub use weight::{most_text_weight, record_weight, text_weight};

/// A plain Python value of an exact built-in type or known class. Anything else has no encoding.
///
/// `==` on this type is structural and exact (`1 != 1.0`, NaN equals NaN, dict order does not count, sets are kept sorted);
/// [`Value::python_eq`] is Python's `==`. In JSON a value is its Python text, such as `"[1, 'a']"`.
#[derive(Debug, Clone)]
pub enum Value {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An `int` of any size
    Int(IBig),
    /// A `float`; every NaN is one NaN
    Float(f64),
    /// A `str` without lone surrogates
    Str(String),
    /// A `bytes`
    Bytes(Vec<u8>),
    /// A `list`
    List(Vec<Value>),
    /// A `tuple`
    Tuple(Vec<Value>),
    /// A `set`: sorted by encoding, without repeats
    Set(Vec<Value>),
    /// A `frozenset`: sorted by encoding, without repeats
    FrozenSet(Vec<Value>),
    /// A `dict` in insertion order
    Dict(Vec<(Value, Value)>),
    /// A value of one of the classes of [`PythonClass`]
    Object(Box<Object>),
}

impl Value {
    /// An `int`.
    pub fn int(value: impl Into<IBig>) -> Self {
        Value::Int(value.into())
    }

    /// The `int` that `text` writes in decimal digits with or without a sign, however many they are; [`Value::parse_literal`] takes as many as
    /// Python does.
    pub fn parse_int(text: &str) -> Option<Self> {
        // The parser takes underscores anywhere.
        (!text.contains('_')).then(|| text.parse().ok().map(Value::Int)).flatten()
    }

    /// A `str`.
    pub fn str(value: impl Into<String>) -> Self {
        Value::Str(value.into())
    }

    /// The Python name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::FrozenSet(_) => "frozenset",
            Value::Dict(_) => "dict",
            Value::Object(object) => object.class().name(),
        }
    }

    /// The nesting depth, as [`EncodeCaps::depth`] counts it.
    pub(crate) fn depth(&self) -> usize {
        let deepest = |items: &[Value]| items.iter().map(Value::depth).max();
        let inner = match self {
            Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => deepest(items),
            Value::Dict(pairs) => pairs.iter().map(|(key, value)| key.depth().max(value.depth())).max(),
            Value::Object(object) => Some(object.state().depth()),
            _ => None,
        };
        inner.map_or(0, |inner| inner + 1)
    }
}

macro_rules! value_from {
    ($($from:ty => $make:expr),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                $make(value)
            }
        })+
    };
}

value_from!(
    bool => Value::Bool, i32 => Value::int, i64 => Value::int, u32 => Value::int, u64 => Value::int, usize => Value::int,
    IBig => Value::Int, f64 => Value::Float, &str => Value::str, String => Value::Str,
);

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(items: Vec<V>) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Value::parse_record(&text).map_err(serde::de::Error::custom)
    }
}
