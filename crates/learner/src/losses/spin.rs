//! `spin`: self-play fine-tuning (Chen et al. 2024, arXiv 2401.01335, equation 4.7 with the logistic loss).
//!
//! # What it computes
//! ℓ(`lambda` · [log π(y)/π_t(y) − log π(y′)/π_t(y′)]) with ℓ(z) = −log σ(z), y a given text and y′ the completion of the
//! same prompt by the previous iteration's policy, π_t.
//!
//! # Why
//! The formula is DPO's; the pairs differ. The chosen side is data, the rejected side is the policy's own, and the reference is
//! not the start model but the opponent π_t: take the policy as the new reference at the start of each iteration.
//! At its fixed point the policy's distribution is that of the data.
//!
//! # Example
//! `lambda` 0.1 and π = π_t: ln 2 for every pair, which is where each iteration begins.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView, logistic};

/// Self-play fine-tuning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spin {
    /// How tightly the policy is held to its opponent; positive.
    pub lambda: f64,
}

impl Default for Spin {
    /// The released code's, for the first iterations.
    fn default() -> Self {
        Self { lambda: 0.1 }
    }
}

impl PairLoss for Spin {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("lambda", self.lambda)
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        logistic(self.lambda, seen.margin)
    }
}
