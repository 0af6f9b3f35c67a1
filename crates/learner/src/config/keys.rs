//! Typed access to the keys of a JSON object, with errors that name key and value.

use serde_json::{Map, Value};

use super::ConfigError;

/// The keys of an object. `path` goes before a key's name in errors, such as `rope_parameters.`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys<'a> {
    map: &'a Map<String, Value>,
    path: &'static str,
}

impl<'a> Keys<'a> {
    pub(super) fn of(value: &'a Value) -> Result<Self, ConfigError> {
        let map = value.as_object().ok_or_else(|| ConfigError::Parse("it is not a JSON object".to_owned()))?;
        Ok(Self { map, path: "" })
    }

    /// The object under `key`, whose keys go by `path` in errors. `None` when the key is absent or null.
    pub(super) fn object(&self, key: &str, path: &'static str) -> Result<Option<Keys<'a>>, ConfigError> {
        let object = |value: &'a Value| value.as_object().map(|map| Keys { map, path });
        self.optional(key, "want an object", object)
    }

    /// The value under `key`; null is absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is there, be it null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// The value under `key`, as `read` has it.
    pub(super) fn optional<T>(
        &self,
        key: &str,
        want: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(|value| read(value).ok_or_else(|| self.wrong(key, value, want))).transpose()
    }

    /// A whole number, if there is one.
    pub(super) fn size(&self, key: &str) -> Result<Option<usize>, ConfigError> {
        self.optional(key, "want a whole number", |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    /// A whole number that must be there.
    pub(super) fn required_size(&self, key: &str) -> Result<usize, ConfigError> {
        self.size(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number, if there is one.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, ConfigError> {
        self.optional(key, "want a number", Value::as_f64)
    }

    /// A number that must be there.
    pub(super) fn required_number(&self, key: &str) -> Result<f64, ConfigError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// A flag; absent is false.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ConfigError> {
        Ok(self.optional(key, "want true or false", Value::as_bool)?.unwrap_or(false))
    }

    /// A string, if there is one.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, ConfigError> {
        self.optional(key, "want a string", Value::as_str)
    }

    /// One token id, if there is one. Some files say −1 for none.
    pub(super) fn token(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let read = |v: &Value| if v.as_i64() == Some(-1) { Some(None) } else { token(v).map(Some) };
        Ok(self.optional(key, "want a token id", read)?.flatten())
    }

    /// One token id, or a list of them, or none.
    pub(super) fn tokens(&self, key: &str) -> Result<Vec<u32>, ConfigError> {
        let read = |v: &Value| match v {
            Value::Array(list) => list.iter().map(token).collect(),
            one => Some(vec![token(one)?]),
        };
        Ok(self.optional(key, "want a token id or a list of them", read)?.unwrap_or_default())
    }

    /// The error for a value that cannot be used.
    pub(super) fn wrong(&self, key: &str, value: &Value, want: &str) -> ConfigError {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        ConfigError::Value { key: format!("{}{key}", self.path), value, want: want.to_owned() }
    }

    /// Fails with [`Keys::wrong`] when the key is there and `fine` says no.
    pub(super) fn refuse_unless(
        &self,
        key: &str,
        want: &str,
        fine: impl FnOnce(&Value) -> bool,
    ) -> Result<(), ConfigError> {
        match self.get(key) {
            Some(value) if !fine(value) => Err(self.wrong(key, value, want)),
            _ => Ok(()),
        }
    }

    /// The error for a key that must be there.
    fn missing(&self, key: &str) -> ConfigError {
        ConfigError::Missing(format!("{}{key}", self.path))
    }
}

fn token(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

/// The end tokens that a `generation_config.json` names: one, several or none.
///
/// # Errors
/// Text that is no JSON object, or a value that is no token id.
pub(crate) fn end_tokens(generation_config: &Value) -> Result<Vec<u32>, ConfigError> {
    Keys::of(generation_config)?.tokens("eos_token_id")
}
