//! Rotary positions in a `config.json`: base and scaling, where transformers 4 and 5 keep them.
//!
//! transformers 4: `rope_theta` beside `rope_scaling`; 5: both inside `rope_parameters`. The kind is `rope_type`, once `type`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::check;
use super::keys::Keys;
use super::{ConfigError, MAX_CONTEXT};

/// How Llama 3.1 stretches rotary frequencies for contexts longer than it was first trained on (Llama Team 2024, §3.4.2; the
/// formula is that of the released code).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Llama3Scaling {
    /// What long wavelengths are stretched by.
    pub factor: f64,
    /// Wavelengths above `original_max_position_embeddings / low_freq_factor` are stretched.
    pub low_freq_factor: f64,
    /// Wavelengths below `original_max_position_embeddings / high_freq_factor` are left alone.
    pub high_freq_factor: f64,
    /// Context of the first training.
    pub original_max_position_embeddings: usize,
}

impl Llama3Scaling {
    /// The stretched frequency of `f`, radians a position.
    ///
    /// With wavelength λ = 2π / f and s = (L/λ − low) / (high − low): f where λ < L/high; f / factor where λ > L/low; between the
    /// two (1 − s)·f/factor + s·f.
    pub(crate) fn frequency(&self, f: f64) -> f64 {
        let turns = self.original_max_position_embeddings as f64 * f / std::f64::consts::TAU;
        let smooth = (turns - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor);
        let share = smooth.clamp(0.0, 1.0);
        (1.0 - share) * f / self.factor + share * f
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let &Self { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: length } =
            self;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        check("rope_scaling.factor", factor, factor.is_finite() && factor >= 1.0, || "want at least 1".to_owned())?;
        check("rope_scaling.low_freq_factor", low, positive(low), || "want a positive number".to_owned())?;
        check("rope_scaling.high_freq_factor", high, high.is_finite() && high > low, || {
            format!("want more than low_freq_factor = {low}")
        })?;
        check("rope_scaling.original_max_position_embeddings", length, (1..=MAX_CONTEXT).contains(&length), || {
            format!("want 1 to {MAX_CONTEXT}")
        })
    }
}

/// What a file says about rotary positions.
pub(super) struct Rope {
    pub(super) theta: f64,
    pub(super) scaling: Option<Llama3Scaling>,
}

pub(super) fn read_rope(keys: &Keys<'_>) -> Result<Rope, ConfigError> {
    partial(keys)?;
    let new = keys.object("rope_parameters", "rope_parameters.")?;
    let inside = new.or(keys.object("rope_scaling", "rope_scaling.")?);
    let theta = inside.map(|k| k.number("rope_theta")).transpose()?.flatten();
    let theta = theta.map_or_else(|| keys.number("rope_theta"), |theta| Ok(Some(theta)))?.unwrap_or(10_000.0);
    Ok(Rope { theta, scaling: inside.map(scaling).transpose()?.flatten() })
}

fn scaling(keys: Keys<'_>) -> Result<Option<Llama3Scaling>, ConfigError> {
    partial(&keys)?;
    let key = if keys.get("rope_type").is_some() { "rope_type" } else { "type" };
    match keys.text(key)? {
        None | Some("default") => Ok(None),
        Some("llama3") => Ok(Some(Llama3Scaling {
            factor: keys.required_number("factor")?,
            low_freq_factor: keys.required_number("low_freq_factor")?,
            high_freq_factor: keys.required_number("high_freq_factor")?,
            original_max_position_embeddings: keys.required_size("original_max_position_embeddings")?,
        })),
        Some(other) => Err(keys.wrong(
            key,
            &Value::from(other),
            "only `default` and `llama3` are supported: remove it for short contexts",
        )),
    }
}

fn partial(keys: &Keys<'_>) -> Result<(), ConfigError> {
    let want = "want 1: heads that are rotated in part are not supported";
    keys.refuse_unless("partial_rotary_factor", want, |v| v.as_f64() == Some(1.0))
}
