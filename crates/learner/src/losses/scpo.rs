//! `scpo`: self-consistency preference optimisation (Prasad et al. 2024, arXiv 2411.04109).
//!
//! # What it computes
//! DPO's loss with `beta`, plus `alpha` / |y⁺| · (−log π(y⁺)), |y⁺| in tokens. The pair's weight multiplies both: in the paper the votes for y⁺
//! less those for y⁻, as a share of all.
//!
//! # Why
//! Votes instead of labels: a pair counts as much as the responses agree. The second term keeps the chosen response likely, which DPO
//! alone may lower with the rejected one.
//!
//! # Example
//! π = ref, `beta` 0.1, `alpha` 1 and log π(y⁺) = −8 of 4 tokens: ln 2 + 2 = 2.693, slopes −0.05 − 0.25 and 0.05.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView, logistic};

/// Self-consistency preference optimisation, from votes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scpo {
    /// How tightly the policy is held to the reference; positive.
    pub beta: f64,
    /// Weight of the chosen response's mean −log π of a token; not negative.
    pub alpha: f64,
}

impl Default for Scpo {
    fn default() -> Self {
        Self { beta: 0.1, alpha: 1.0 }
    }
}

impl PairLoss for Scpo {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("beta", self.beta)?;
        let fine = self.alpha.is_finite() && self.alpha >= 0.0;
        BadOption::check("alpha", self.alpha, fine, "a number that is not negative")
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        let PairTerm { value, slopes: [chosen, rejected] } = logistic(self.beta, seen.margin);
        let each = self.alpha / seen.tokens;
        PairTerm { value: value - each * seen.logprob, slopes: [chosen - each, rejected] }
    }
}
