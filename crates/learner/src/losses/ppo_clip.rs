//! `ppo_clip`: the clipped surrogate (Schulman et al. 2017, arXiv 1707.06347, equation 7), with separate bounds on the two sides
//! (clip-higher of DAPO, arXiv 2503.14476, equation 10) and, optionally, the dual clip (Ye et al. 2020, arXiv 1912.09729).
//!
//! # What it computes
//! With r = π / π_old: −min(r·A, clip(r, 1 − `clip_low`, 1 + `clip_high`)·A). With `dual_clip` = c, tokens of negative A
//! cost at most −c·A. Where a clip decides, the slope is 0; exactly at a bound it is that of the unclipped side, as in PyTorch.
//!
//! # Why
//! More than one update on the same rollouts: a token that has moved far enough is left alone. A `clip_high` above `clip_low`
//! lets rare tokens grow, which keeps the entropy up; a sample may have a wider one, as under the advantage `adpo`. Needs behaviour
//! log-probabilities at temperature 1.
//!
//! # Example
//! A = 1, r = 1.5, both clips 0.2: value −1.2, slope 0. A = −1 there: value 1.5, slope 1.5.

use serde::{Deserialize, Serialize};

use super::{BadOption, TokenLoss, TokenTerm, TokenView};

/// The clipped surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PpoClip {
    /// How far below 1 the ratio counts; 0 to 1.
    pub clip_low: f64,
    /// How far above 1 the ratio counts; not negative.
    pub clip_high: f64,
    /// The largest ratio that counts for tokens of negative advantage; above 1.
    pub dual_clip: Option<f64>,
}

impl Default for PpoClip {
    /// Symmetric, as in the paper, without a dual clip.
    fn default() -> Self {
        Self { clip_low: 0.2, clip_high: 0.2, dual_clip: None }
    }
}

impl TokenLoss for PpoClip {
    fn needs_behaviour(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        BadOption::check("clip_low", self.clip_low, (0.0..=1.0).contains(&self.clip_low), "from 0 to 1")?;
        let fine = self.clip_high.is_finite() && self.clip_high >= 0.0;
        BadOption::check("clip_high", self.clip_high, fine, "a number that is not negative")?;
        let dual = self.dual_clip.unwrap_or(2.0);
        BadOption::check("dual_clip", dual, dual.is_finite() && dual > 1.0, "a number above 1")
    }

    fn token(&self, TokenView { weight, ratio, wider_clip, .. }: TokenView) -> TokenTerm {
        let plain = -ratio * weight;
        let held = -ratio.clamp(1.0 - self.clip_low, 1.0 + (self.clip_high + wider_clip)) * weight;
        if held > plain {
            return TokenTerm::clipped(held);
        }
        match self.dual_clip {
            Some(most) if weight < 0.0 && plain > -most * weight => TokenTerm::clipped(-most * weight),
            // d r / d log π = r
            _ => TokenTerm { value: plain, slope: plain, clipped: false },
        }
    }
}
