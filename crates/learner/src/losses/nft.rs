//! `nft`: negative-aware fine-tuning (Chen et al. 2025, arXiv 2505.18116, with the ratio of each token).
//!
//! # What it computes
//! With r = π / π_old and the solve rate s of the sample's group, held to [0.02, 0.98]: −A · log r for A > 0, and
//! −|A| · (1 − s)/s · log max((1 − s·r)/(1 − s), 1) for A < 0, where the bound changes the value and the slope is that of the argument.
//! For rewards 0 and 1, `dr_grpo` gives the method's weight 1 − s, and `grpo` its weight √((1 − s)/s).
//!
//! # Why
//! Right answers are imitated, and wrong ones through the policy that they leave for right ones. At r = 1 the slope is that of
//! `policy_gradient`; further on, a token of a wrong answer that became rare is left alone. A sample without a solve rate counts nothing: those of
//! groups that are all right or all wrong, and those of proposers and verifiers. Needs behaviour log-probabilities at temperature 1.
//!
//! # Example
//! s = 1/4 and A = −1/4: slope 1/4 at r = 1. At r = 1/2 the argument is 7/6: value −3/4 · ln(7/6) = −0.116, slope 3/28.

use serde::{Deserialize, Serialize};

use super::{TokenLoss, TokenTerm, TokenView};

/// Negative-aware fine-tuning. It has no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nft {}

impl TokenLoss for Nft {
    fn needs_behaviour(&self) -> bool {
        true
    }

    fn needs_rate(&self) -> bool {
        true
    }

    fn token(&self, TokenView { logprob, weight, ratio, rate, .. }: TokenView) -> TokenTerm {
        let Some(rate) = rate.map(|rate| rate.clamp(0.02, 0.98)) else { return TokenTerm::weighted(0.0, logprob) };
        if weight >= 0.0 {
            return TokenTerm::weighted(weight, ratio.ln());
        }
        let bounded = f64::max((1.0 - rate * ratio) / (1.0 - rate), 1.0);
        // d argument / d log π = −s·r / (1 − s)
        TokenTerm {
            value: weight * (1.0 - rate) / rate * bounded.ln(),
            slope: -weight * ratio / bounded,
            clipped: false,
        }
    }
}
