//! `tis`: policy gradient with truncated importance sampling, for rollouts of an older or another policy (Ionides 2008; as
//! V-trace's ρ in IMPALA, arXiv 1802.01561, section 4.1; for rollout engines that differ from the trainer, Yao et al. 2025).
//!
//! # What it computes
//! −min(r, `cap`) · A · log π with r = π / π_behaviour, and r taken as a constant: its slope is −min(r, `cap`)·A.
//!
//! # Why
//! Below the cap the gradient is unbiased for rollouts of any policy; the cap trades a bias for a bounded variance. Unlike a PPO
//! clip it never drops a token. Needs behaviour log-probabilities at temperature 1.
//!
//! # Example
//! A = 1, r = 5, cap 2: slope −2. r = 0.5: slope −0.5.

use serde::{Deserialize, Serialize};

use super::{BadOption, TokenLoss, TokenTerm, TokenView};

/// Truncated importance sampling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tis {
    /// The largest ratio that counts; positive.
    pub cap: f64,
}

impl Default for Tis {
    fn default() -> Self {
        Self { cap: 2.0 }
    }
}

impl TokenLoss for Tis {
    fn needs_behaviour(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("cap", self.cap)
    }

    fn token(&self, TokenView { logprob, weight, ratio, .. }: TokenView) -> TokenTerm {
        let clipped = ratio > self.cap;
        TokenTerm { clipped, ..TokenTerm::weighted(ratio.min(self.cap) * weight, logprob) }
    }
}
