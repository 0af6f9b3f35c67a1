//! What is wrong with a value, and checks that settings have in common.

use crate::play::PlayError;

/// A setting with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is `{value}`: {allowed}")]
pub struct ConfigError {
    /// The key, as a path from the table that was checked.
    pub key: String,
    /// The value it has.
    pub value: String,
    /// What it may be, and what to do.
    pub allowed: String,
}

/// The error that `key` has this value.
pub fn invalid_value(key: &'static str, value: impl ToString, allowed: impl Into<String>) -> ConfigError {
    ConfigError { key: key.to_owned(), value: value.to_string(), allowed: allowed.into() }
}

impl ConfigError {
    /// The same error as of the table around `table`.
    #[must_use]
    pub fn within(self, table: &str) -> Self {
        Self { key: format!("{table}.{}", self.key), ..self }
    }
}

impl From<ConfigError> for PlayError {
    fn from(error: ConfigError) -> Self {
        Self::Setup(error.to_string())
    }
}

/// Checks that a key has one of these names.
pub fn check_name(key: &'static str, value: &str, names: &[&str]) -> Result<(), ConfigError> {
    if names.contains(&value) {
        return Ok(());
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(invalid_value(key, value, format!("use one of {}", names.join(", "))))
}

/// Checks keys with their values, each against the least and the most that it may be.
pub fn check_counts(counts: &[(&'static str, usize, usize, usize)]) -> Result<(), ConfigError> {
    let wrong = counts.iter().find(|(_, value, least, most)| !(least..=most).contains(&value));
    wrong.map_or(Ok(()), |(key, value, least, most)| {
        Err(invalid_value(key, value, format!("use a whole number from `{least}` to `{most}`")))
    })
}

/// As [`check_counts`].
pub fn check_numbers(numbers: &[(&'static str, f64, f64, f64)]) -> Result<(), ConfigError> {
    let wrong = numbers.iter().find(|(_, value, least, most)| !(least..=most).contains(&value));
    wrong.map_or(Ok(()), |(key, value, least, most)| {
        Err(invalid_value(key, value, format!("use a number from `{least}` to `{most}`")))
    })
}

/// Checks keys whose values may not be 0.
pub fn check_positive(values: &[(&'static str, u64)]) -> Result<(), ConfigError> {
    let zero = values.iter().find(|(_, value)| *value == 0);
    zero.map_or(Ok(()), |(key, value)| Err(invalid_value(key, value, "use at least `1`")))
}
