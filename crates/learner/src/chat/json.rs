//! JSON into template values, keys in the order of the text: a template that writes a tool's schema writes it as it was given.
//!
//! Why not `serde_json::Value`: it sorts keys. And why not straight into a template value: this workspace has serde_json keep numbers
//! as text, and a visitor that does not know how then sees an object in place of every number.

use std::fmt;

use minijinja::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Under `arbitrary_precision` serde_json hands a number over as an object of one entry with this key and the digits.
const NUMBER: &str = "$serde_json::private::Number";

pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<Ordered>(text).map(|Ordered(value)| value)
}

/// A value whose objects keep their order.
struct Ordered(Value);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor).map(Ordered)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::from(()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(Ordered(value)) = list.next_element()? {
            out.push(value);
        }
        Ok(Value::from(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out: Vec<(String, Value)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == NUMBER {
                return number(&map.next_value::<String>()?).map_err(serde::de::Error::custom);
            }
            let Ordered(value) = map.next_value()?;
            match out.iter_mut().find(|(old, _)| *old == key) {
                Some((_, old)) => *old = value,
                None => out.push((key, value)),
            }
        }
        Ok(Value::from_pairs(out))
    }
}

fn number(digits: &str) -> Result<Value, String> {
    if let Ok(whole) = digits.parse::<i128>() {
        return Ok(i64::try_from(whole).map_or_else(|_| Value::from(whole), Value::from));
    }
    digits.parse::<f64>().map(Value::from).map_err(|e| format!("`{digits}`: {e}"))
}
