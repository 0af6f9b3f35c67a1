//! `sft`: supervised fine-tuning: the cross-entropy of given texts.
//!
//! # What it computes
//! −w · log π(token) for a weight w ≥ 0. A negative weight is refused: it would teach unlikelihood, which has no lower bound.
//!
//! # Why
//! Texts that are known to be good: solutions and tests that agree (Sol-Ver), warm-up, distillation.
//!
//! # Example
//! w = 1 and log π = −3: value 3, slope −1.

use serde::{Deserialize, Serialize};

use super::{TokenLoss, TokenTerm, TokenView};

/// −w · log π for w ≥ 0. It has no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sft {}

impl TokenLoss for Sft {
    fn refuses(&self, weight: f32) -> bool {
        weight < 0.0
    }

    fn token(&self, seen: TokenView) -> TokenTerm {
        TokenTerm::weighted(seen.weight, seen.logprob)
    }
}
