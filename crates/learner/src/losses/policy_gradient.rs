//! `policy_gradient`: REINFORCE (Williams 1992, "Simple statistical gradient-following algorithms"). The default.
//!
//! # What it computes
//! −A · log π(token), summed over the tokens of a response. Its gradient is −A · ∇log π, and so is that of PPO-clip at ratio 1.
//!
//! # Why
//! On-policy, with one update a batch, nothing else is needed: no old log-probabilities, no clipping, no reference.
//!
//! # Example
//! A = 2 and log π = −1: value 2, and a slope of −2 in log π.

use serde::{Deserialize, Serialize};

use super::{TokenLoss, TokenTerm, TokenView};

/// −A · log π. It has no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyGradient {}

impl TokenLoss for PolicyGradient {
    fn token(&self, seen: TokenView) -> TokenTerm {
        TokenTerm::weighted(seen.weight, seen.logprob)
    }
}
