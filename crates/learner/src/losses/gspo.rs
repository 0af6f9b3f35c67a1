//! `gspo`: group sequence policy optimisation (Zheng et al. 2025, arXiv 2507.18071, equations 5 and 7): the clipped surrogate on one ratio
//! for a whole response.
//!
//! # What it computes
//! With s = exp(mean over the response's tokens of log π − log π_old), the geometric mean of their ratios: at each token
//! −min(s·A, clip(s, 1 − `clip_low`, 1 + `clip_high`)·A). Each of the |y| tokens moves s by s/|y|, so the slope at a token is −s·A, or 0
//! where the clip decides. Where tokens have advantages of their own, that is GSPO-token (equation 13).
//!
//! # Why
//! A reward belongs to a response, and the ratio of one token, a single draw, is a noisy correction for it. The mean moves far less than a
//! token's ratio does, so that the clips are narrower by orders of magnitude; a response is left alone as a whole. Combine it with
//! `sequence_mean`, as in the paper. Needs behaviour log-probabilities at temperature 1.
//!
//! # Example
//! Two tokens with ratios 2 and 0.5 have s = 1. A = 1, s = 1.001: clipped at 1.0004, slope 0. A = −1 there: value 1.001, slope 1.001.

use serde::{Deserialize, Serialize};

use super::{BadOption, PpoClip, TokenLoss, TokenTerm, TokenView};

/// The clipped surrogate on ratios of whole responses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gspo {
    /// How far below 1 the ratio counts; 0 to 1.
    pub clip_low: f64,
    /// How far above 1 the ratio counts; not negative.
    pub clip_high: f64,
}

impl Default for Gspo {
    /// The ranges of the paper's section 5.1.
    fn default() -> Self {
        Self { clip_low: 3e-4, clip_high: 4e-4 }
    }
}

impl Gspo {
    const fn surrogate(self) -> PpoClip {
        PpoClip { clip_low: self.clip_low, clip_high: self.clip_high, dual_clip: None }
    }
}

impl TokenLoss for Gspo {
    fn needs_behaviour(&self) -> bool {
        true
    }

    fn compares_sequences(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        self.surrogate().check()
    }

    fn token(&self, seen: TokenView) -> TokenTerm {
        // A sample's wider clip is of the size of a token's.
        self.surrogate().token(TokenView { wider_clip: 0.0, ..seen })
    }
}
