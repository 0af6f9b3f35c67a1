//! Rotary positions: the kinds of layers, the frequencies that queries and keys are rotated at, and their tables.
//!
//! Called by the network, which gives every layer its kind, and by the operations, which rotate queries and keys by its table.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_kernels::layers::RopeTable;

use super::{ConfigError, MAX_CONTEXT, ModelConfig, check};

/// How a layer's attention depends on positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// Queries and keys are rotated.
    Rotated,
    /// Neither is rotated (NoPE, Kazemnejad et al. 2023, arXiv 2305.19466).
    Unrotated,
}

impl LayerKind {
    pub(crate) const ALL: [Self; 2] = [Self::Rotated, Self::Unrotated];
}

/// cos and sin of every position, by the kind of a layer. The table of a kind that rotates nothing has no pairs.
#[derive(Debug)]
pub(crate) struct RopeTables([Arc<RopeTable>; LayerKind::ALL.len()]);

impl RopeTables {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        Self(LayerKind::ALL.map(|kind| {
            let frequencies = match kind {
                LayerKind::Rotated => config.rope_frequencies(),
                LayerKind::Unrotated => Vec::new(),
            };
            let magnitude = config.rope_scaling.as_ref().map_or(1.0, |s| s.magnitude(config.max_position_embeddings));
            Arc::new(RopeTable::new(config.context(), &frequencies, magnitude))
        }))
    }

    pub(crate) const fn of(&self, kind: LayerKind) -> &Arc<RopeTable> {
        &self.0[kind as usize]
    }
}

/// How rotary frequencies are stretched for contexts longer than a model was first trained on.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// That of Llama 3.1 and later.
    Llama3(Llama3Scaling),
    /// That of Phi-3 and later.
    LongRope(LongRope),
}

impl RopeScaling {
    /// The frequency of pair `i`, whose plain one is `f`: radians a position.
    pub(super) fn frequency(&self, i: usize, f: f64) -> f64 {
        match self {
            Self::Llama3(scaling) => scaling.frequency(f),
            Self::LongRope(scaling) => f / scaling.short_factor[i],
        }
    }

    /// What cos and sin are multiplied by, in a model of this context.
    fn magnitude(&self, max_position_embeddings: usize) -> f64 {
        match self {
            Self::Llama3(_) => 1.0,
            Self::LongRope(scaling) => scaling.magnitude(max_position_embeddings),
        }
    }

    /// The longest sequence that it is computed for; `None` where it has no bound of its own.
    pub(super) const fn context(&self) -> Option<usize> {
        match self {
            Self::Llama3(_) => None,
            Self::LongRope(scaling) => Some(scaling.original_max_position_embeddings),
        }
    }

    /// Checks every value; `pairs` of a head are rotated.
    pub(super) fn validate(&self, pairs: usize) -> Result<(), ConfigError> {
        match self {
            Self::Llama3(scaling) => scaling.validate(),
            Self::LongRope(scaling) => scaling.validate(pairs),
        }
    }
}

/// How Llama 3.1 stretches rotary frequencies for contexts longer than it was first trained on (Llama Team 2024, §3.4.2; the
/// formula is that of the released code).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Llama3Scaling {
    /// Stretches long wavelengths.
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

    fn validate(&self) -> Result<(), ConfigError> {
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

/// LongRoPE (Ding et al. 2024, arXiv 2402.13753), as Phi-3 has it: a factor for each rotated pair. Sequences up to the original context have
/// the short factors, and longer ones others throughout: a model here has the original context.
#[derive(Debug, Clone, PartialEq)]
pub struct LongRope {
    /// Stretches each pair in the original context.
    pub short_factor: Vec<f64>,
    /// Stretches each pair in longer ones; only kept.
    pub long_factor: Vec<f64>,
    /// Context of the first training.
    pub original_max_position_embeddings: usize,
}

impl LongRope {
    /// sqrt(1 + ln(s) / ln(L)) where the context is s times L, the original one.
    fn magnitude(&self, max_position_embeddings: usize) -> f64 {
        let original = self.original_max_position_embeddings as f64;
        let stretched = max_position_embeddings as f64 / original;
        if stretched > 1.0 { (1.0 + stretched.ln() / original.ln()).sqrt() } else { 1.0 }
    }

    fn validate(&self, pairs: usize) -> Result<(), ConfigError> {
        let lists =
            [("rope_scaling.short_factor", &self.short_factor), ("rope_scaling.long_factor", &self.long_factor)];
        for (key, factors) in lists {
            let fine = factors.len() == pairs && factors.iter().all(|x| x.is_finite() && *x > 0.0);
            check(key, format!("{factors:?}"), fine, || format!("want {pairs} positive numbers"))?;
        }
        let length = self.original_max_position_embeddings;
        check("original_max_position_embeddings", length, (2..=MAX_CONTEXT).contains(&length), || {
            format!("want 2 to {MAX_CONTEXT}")
        })
    }
}
