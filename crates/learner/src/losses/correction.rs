//! `correction`: rollouts of a sampler that computes otherwise than the learner. The old policy is then the learner's own, and its ratio to the
//! sampler's policy is corrected for apart: decoupled PPO (Hilton et al. 2021, arXiv 2110.00641, section 3), truncated importance sampling for
//! rollout engines (Yao et al. 2025; verl's `rollout_is = "token"`) and rejected sequences (verl's `rollout_rs`).
//!
//! # What it computes
//! π_old is the policy that the updates on a batch begin with, scored by the path that trains; every loss compares π with it, and not with
//! π_behaviour. All that a token of a rollout adds to the loss, added terms too, is multiplied by min(ρ, `cap`) with ρ = π_old / π_behaviour, a
//! constant. A response counts nothing where the geometric mean of its tokens' ρ (verl's `seq_mean_k1`), or their product (`seq_sum_k1`), is
//! outside of the `mask`'s band. The normalizer stays. Without `cap` all weights are 1, without `mask` every response counts.
//!
//! # Why
//! Engines round otherwise, or compute in 8 bits. A loss that compares π with what they said spends its clip range on that: a token on which
//! they are 0.2 nats apart gets no gradient at ratio 1. The cap trades a bias for a bounded variance; the mask drops responses of which the
//! learner can tell that its own policy would not have written them. For one update on a batch π_old is the π that it computes anyway; several
//! cost one forward pass more. Needs behaviour log-probabilities at temperature 1.
//!
//! # Example
//! Two tokens with ρ = 4 and 0.5, cap 2: weights 2 and 0.5. Their product is 2, their geometric mean 1.414.

use serde::{Deserialize, Serialize};

use super::BadOption;

/// A correction for rollouts of a sampler that computes otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Correction {
    /// The largest weight of a token; positive. Absent weighs all tokens alike.
    pub cap: Option<f64>,
    /// Which responses count. Absent means all.
    pub mask: Option<SequenceMask>,
}

/// The band that a response's ratio must be in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceMask {
    /// What of its tokens' ratios is compared.
    pub ratio: SequenceRatio,
    /// The smallest that counts; 0 to 1.
    pub low: f64,
    /// The largest that counts; at least 1.
    pub high: f64,
}

/// The ratio of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceRatio {
    /// The geometric mean of its tokens' ratios.
    Geometric,
    /// Their product, which is further from 1 the longer a response is.
    Product,
}

impl Correction {
    pub(crate) fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("correction.cap", self.cap.unwrap_or(1.0))?;
        let Some(SequenceMask { low, high, .. }) = self.mask else { return Ok(()) };
        BadOption::check("correction.mask.low", low, (0.0..=1.0).contains(&low), "from 0 to 1")?;
        BadOption::check("correction.mask.high", high, high.is_finite() && high >= 1.0, "a number that is at least 1")
    }

    /// The weight of a token with this ratio.
    pub(crate) fn weight(&self, ratio: f64) -> f64 {
        self.cap.map_or(1.0, |cap| ratio.min(cap))
    }
}

impl SequenceMask {
    /// Whether a response does not count, of whose so many tokens the log-ratios have this sum.
    pub(crate) fn drops(&self, sum: f64, tokens: f64) -> bool {
        let log_ratio = match self.ratio {
            SequenceRatio::Geometric => sum / tokens,
            SequenceRatio::Product => sum,
        };
        !(self.low.ln()..=self.high.ln()).contains(&log_ratio)
    }
}
