//! `cispo`: clipped importance sampling (MiniMax-M1, arXiv 2506.13585, equations 4 and 5).
//!
//! # What it computes
//! −clip(r, 1 − `clip_low`, 1 + `clip_high`) · A · log π with r = π / π_old, and the clipped r taken as a constant: its slope is
//! −clip(r)·A. With `clip_low` = 1 there is no lower bound, as in the paper's experiments: it is importance sampling truncated at
//! 1 + `clip_high` (Ionides 2008; as V-trace's ρ in IMPALA, arXiv 1802.01561, section 4.1).
//!
//! # Why
//! A PPO clip drops the gradient of tokens that moved far in the first updates on a batch, often the rare ones at which reasoning turns.
//! Here they keep a bounded weight. Needs behaviour log-probabilities at temperature 1.
//!
//! # Example
//! A = 1, r = 5, `clip_high` 1: slope −2. r = 0.1, `clip_low` 0.5: slope −0.5.

use serde::{Deserialize, Serialize};

use super::{BadOption, PpoClip, TokenLoss, TokenTerm, TokenView};

/// Importance sampling with a weight that both bounds hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cispo {
    /// How far below 1 the ratio counts; 0 to 1.
    pub clip_low: f64,
    /// How far above 1 the ratio counts; not negative.
    pub clip_high: f64,
}

impl Default for Cispo {
    /// Without a lower bound. The paper tells no upper one: 2 is the usual cap of truncated importance sampling.
    fn default() -> Self {
        Self { clip_low: 1.0, clip_high: 1.0 }
    }
}

impl TokenLoss for Cispo {
    fn needs_behaviour(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        PpoClip { clip_low: self.clip_low, clip_high: self.clip_high, dual_clip: None }.check()
    }

    fn token(&self, seen: TokenView) -> TokenTerm {
        let held = seen.ratio.clamp(1.0 - self.clip_low, 1.0 + self.clip_high);
        TokenTerm { clipped: seen.ratio != held, ..TokenTerm::weighted(held * seen.weight, seen.logprob) }
    }
}
