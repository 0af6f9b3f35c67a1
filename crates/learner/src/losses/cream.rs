//! `cream`: consistency-regularised preference optimisation (Wang et al. 2024, arXiv 2410.12735).
//!
//! # What it computes
//! C · DPO(y⁺, y⁻) + (1 − C) · DPO(y⁻, y⁺), with DPO's loss under `beta` and C the `consistency`: (τ + 1)/2, with Kendall's τ of the
//! rankings by this model and by the last one. At C = 1 it is DPO.
//!
//! # Why
//! Rankings of one's own are noisy. What two iterations rank differently is not sure, and the loss then has its minimum at a finite margin,
//! ln(C/(1 − C)) / `beta`, instead of at certainty.
//!
//! # Example
//! `beta` 0.1, C 0.8 and π = ref: ln 2, slopes −0.03 and 0.03: those of DPO times 2C − 1.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView, logistic};

/// Consistency-regularised preference optimisation, for orders in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cream {
    /// How tightly the policy is held to the reference; positive.
    pub beta: f64,
    /// How far the order of pairs is trusted; 0 to 1.
    pub consistency: f64,
}

impl Default for Cream {
    /// As `dpo`: every order is trusted.
    fn default() -> Self {
        Self { beta: 0.1, consistency: 1.0 }
    }
}

impl PairLoss for Cream {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("beta", self.beta)?;
        BadOption::check("consistency", self.consistency, (0.0..=1.0).contains(&self.consistency), "from 0 to 1")
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        let (right, doubt) = (self.consistency, 1.0 - self.consistency);
        let (ahead, back) = (logistic(self.beta, seen.margin), logistic(self.beta, -seen.margin));
        PairTerm::of_margin(right * ahead.value + doubt * back.value, right * ahead.slopes[0] - doubt * back.slopes[0])
    }
}
