//! Reads `[game]`: a game's own keys and the shared ones, which stand in one table, into two structs.

use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::{GameConfig, ReadSettings};

impl<'de, G: Deserialize<'de>> Deserialize<'de> for GameConfig<G> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<G>(PhantomData<G>);

impl<'de, G: Deserialize<'de>> Visitor<'de> for TableVisitor<G> {
    type Value = GameConfig<G>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a table of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GameConfig<G>, A::Error> {
        let mut shared = ReadSettings::default();
        let own = G::deserialize(OwnSettings { map, shared: &mut shared })?;
        Ok(GameConfig { shared: shared.finish()?, own })
    }
}

/// Gives a game's own settings the keys of the table that are theirs, and reads the shared ones on the way.
struct OwnSettings<'a, A> {
    map: A,
    shared: &'a mut ReadSettings,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for OwnSettings<'_, A> {
    type Error = A::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        own: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(OwnKeys { map: self.map, shared: self.shared, own })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        self.deserialize_struct("", &[], visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

struct OwnKeys<'a, A> {
    map: A,
    shared: &'a mut ReadSettings,
    own: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OwnKeys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(KeySeed { seed, own: self.own })? {
                None => return Ok(None),
                Some(Key::Own(key)) => return Ok(Some(key)),
                Some(Key::Shared(key, unused)) => {
                    self.shared.read_value(key, &mut self.map)?;
                    seed = unused;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A key of the table: a game's own, or a shared one, with the seed that it left over.
enum Key<K, V> {
    Own(V),
    Shared(&'static str, K),
}

/// Reads a key. It refuses an unknown one itself, while the format still knows where the key stands.
struct KeySeed<K> {
    seed: K,
    own: &'static [&'static str],
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<K> {
    type Value = Key<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for KeySeed<K> {
    type Value = Key<K, K::Value>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the name of a setting")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        if let Some(key) = ReadSettings::KEYS.iter().find(|key| **key == name) {
            return Ok(Key::Shared(key, self.seed));
        }
        if self.own.contains(&name) {
            return self.seed.deserialize(StrDeserializer::new(name)).map(Key::Own);
        }
        let names: Vec<String> = ReadSettings::KEYS.iter().chain(self.own).map(|key| format!("`{key}`")).collect();
        Err(E::custom(format_args!("unknown field `{name}`, expected one of {}", names.join(", "))))
    }
}
