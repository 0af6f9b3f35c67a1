//! Two equalities: exact, and Python's.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::Value;

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Dict(a), Value::Dict(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.iter().any(|(k, v)| k == key && v == value))
            }
            (Value::List(a), Value::List(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Set(a), Value::Set(b))
            | (Value::FrozenSet(a), Value::FrozenSet(b)) => a == b,
            _ => self.encode() == other.encode(),
        }
    }
}

impl Eq for Value {}

impl Value {
    /// Python's `==` on plain values: `1 == 1.0 == True`, sets and dicts without order, list never equals tuple.
    ///
    /// One difference: NaN equals NaN. A program that returns NaN has returned the same thing twice, and Python's own
    /// answer depends on object identity, which does not survive a crossing.
    #[must_use]
    pub fn python_eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.python_eq(y))
            }
            (Value::Set(a) | Value::FrozenSet(a), Value::Set(b) | Value::FrozenSet(b)) => {
                a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| x.python_eq(y)))
            }
            (Value::Dict(a), Value::Dict(b)) => {
                let has = |key: &Value, value: &Value| b.iter().any(|(k, v)| k.python_eq(key) && v.python_eq(value));
                a.len() == b.len() && a.iter().all(|(key, value)| has(key, value))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.equals(&b),
                _ => false,
            },
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Value::Bool(value) => Some(Number::Int(BigInt::from(u8::from(*value)))),
            Value::Int(value) => Some(Number::Int(value.clone())),
            Value::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }
}

enum Number {
    Int(BigInt),
    Float(f64),
}

impl Number {
    fn equals(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Number::Int(int), Number::Float(float)) | (Number::Float(float), Number::Int(int)) => {
                // Exactly, as Python does: an int beyond 2^53 equals a float only when the float is that very integer.
                float.is_finite() && float.fract() == 0.0 && {
                    let near = int.to_f64().is_some_and(|near| near == *float);
                    near && BigInt::from_f64(*float).is_some_and(|exact| exact == *int)
                }
            }
        }
    }
}
