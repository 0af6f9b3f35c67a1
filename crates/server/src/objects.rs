//! Records that are read from JSON objects alone. A derived record takes an array too, whose items serde counts off as the fields, so that the order
//! of its fields would be a part of the protocol. Whole numbers may be written with an exponent, as options of the command line may.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// A record that was an object.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(record)| record)
}

/// Reads a field that must be an object or null.
pub(crate) fn optional_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Option::<Object<T>>::deserialize(deserializer)?.map(|Object(record)| record))
}

pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Count::<0>::deserialize(deserializer).map(|Count(number)| number)
}

pub(crate) fn optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Count>::deserialize(deserializer)?.map(|Count(number)| number))
}

/// Reads an amount of fuel or null. Its range is checked with that of the other limits.
pub(crate) fn optional_fuel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Count<1>>::deserialize(deserializer)?.map(|Count(number)| number))
}

/// A whole number, which may be written as `1e12`. `LEAST` is the least one that makes sense, for the message about another value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count<const LEAST: u64 = 0>(pub(crate) u64);

impl<'de, const LEAST: u64> Deserialize<'de> for Count<LEAST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(CountVisitor::<LEAST>).map(Self)
    }
}

struct CountVisitor<const LEAST: u64>;

impl<const LEAST: u64> Visitor<'_> for CountVisitor<LEAST> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {LEAST} on")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Every whole number up to 2^53 is a double of its own.
        let is_exact = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0;
        if is_exact { Ok(number as u64) } else { Err(E::invalid_value(Unexpected::Float(number), &self)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_have_an_exponent() {
        for (text, number) in [("0", 0), ("7.0", 7), ("1e12", 1_000_000_000_000), ("18446744073709551615", u64::MAX)] {
            assert_eq!(serde_json::from_str::<Count>(text).expect(text), Count(number));
        }
        for text in ["-1", "1.5", "1e17", "\"1\"", "true", "[]"] {
            let error = serde_json::from_str::<Count<1>>(text).expect_err(text).to_string();
            assert!(error.contains("expected a whole number from 1 on"), "{text}: {error}");
        }
    }
}
