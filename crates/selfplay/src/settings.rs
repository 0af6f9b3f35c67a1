//! What a setting of a game may be. Called by each game's `config`, on keys that a config file states.

use serde::{Deserialize, Serialize};

use crate::advantages::{self, AdvantageEstimator};

/// Whether the proposer learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposerMode {
    /// Its samples are trained on, with a weight.
    Train,
    /// It proposes, and its samples are not trained on. Supervised examples still are: both roles share their weights.
    Frozen,
}

impl ProposerMode {
    /// What the proposer's advantages are multiplied with.
    #[must_use]
    pub const fn weight(self, configured: f64) -> f64 {
        match self {
            Self::Train => configured,
            Self::Frozen => 0.0,
        }
    }
}

/// A setting that has no meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is `{value}`: {allowed}")]
pub struct ConfigError {
    /// The key.
    pub key: &'static str,
    /// The value it has.
    pub value: String,
    /// What it may be, and what to do.
    pub allowed: String,
}

pub(crate) fn refused(key: &'static str, value: impl ToString, allowed: impl Into<String>) -> ConfigError {
    ConfigError { key, value: value.to_string(), allowed: allowed.into() }
}

pub(crate) fn check_name(key: &'static str, value: &str, names: &[&str]) -> Result<(), ConfigError> {
    if names.contains(&value) {
        return Ok(());
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(refused(key, value, format!("use one of {}", names.join(", "))))
}

pub(crate) fn check_count(key: &'static str, value: usize, least: usize, most: usize) -> Result<(), ConfigError> {
    let allowed = || format!("use a whole number from `{least}` to `{most}`");
    if (least..=most).contains(&value) { Ok(()) } else { Err(refused(key, value, allowed())) }
}

pub(crate) fn check_number(key: &'static str, value: f64, least: f64, most: f64) -> Result<(), ConfigError> {
    let allowed = || format!("use a number from `{least}` to `{most}`");
    if (least..=most).contains(&value) { Ok(()) } else { Err(refused(key, value, allowed())) }
}

/// A group of one is its own mean, so every solver advantage would be 0.
pub(crate) fn check_group(advantage: &str, group: usize) -> Result<(), ConfigError> {
    let grouped = advantages::by_name(advantage).is_some_and(AdvantageEstimator::needs_groups);
    if !grouped || group >= 2 {
        return Ok(());
    }
    let allowed = format!("advantage `{advantage}` needs at least `2`; raise it, or use advantage `trr`");
    Err(refused("group", group, allowed))
}
