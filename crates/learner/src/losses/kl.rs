//! `kl`: holds the policy to a reference, in the loss or in the reward (estimators: Schulman 2020, "Approximating KL divergence").
//!
//! # What it computes
//! With ρ = log π − log ref of a token that π drew, an estimate of the reverse divergence KL(π ‖ ref):
//!
//! | estimator | per token | value | gradient, as a loss on given tokens |
//! |---|---|---|---|
//! | `k1` | ρ | unbiased, high variance, may be negative | ∇log π: zero on average, so it teaches nothing; refused in the loss |
//! | `k2` | ρ²/2 | biased | ρ·∇log π: unbiased for ∇KL(π ‖ ref) |
//! | `k3` | e^(−ρ) − 1 + ρ | unbiased, never negative | (1 − e^(−ρ))·∇log π: unbiased for ∇KL(ref ‖ π), the *forward* divergence |
//!
//! In the `loss`: coefficient · estimate is added at every token (k3 is GRPO's, arXiv 2402.03300, equation 4). In the `reward`: the
//! advantage of token t is lowered by coefficient · Σ over s ≥ t of k1 at the *behaviour* log-probabilities, where s runs on through the
//! later turns of its episode (REINFORCE++, arXiv 2501.03262, its token-level penalty). The score-function gradient of that is unbiased
//! for ∇KL(π ‖ ref); the estimator is k1 there and no other.
//!
//! # Why
//! Keeps a policy near its start, against drift and against reward hacking that needs unusual text. Imitated samples have no
//! such term, because the estimates are means over samples of π.
//!
//! # Example
//! ρ = ln 2: k1 0.693, k2 0.240, k3 0.193.

use serde::{Deserialize, Serialize};

use super::{BadOption, TokenTerm};

/// Which estimate of KL(π ‖ ref).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KlEstimator {
    /// ρ.
    K1,
    /// ρ²/2.
    K2,
    /// e^(−ρ) − 1 + ρ.
    K3,
}

/// Where the divergence is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KlPlace {
    /// As a term of the loss.
    Loss,
    /// As a part of every token's advantage.
    Reward,
}

/// A divergence from a reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kl {
    /// The cost of a nat; positive.
    pub coefficient: f64,
    /// How it is estimated.
    pub estimator: KlEstimator,
    /// Where it is charged.
    pub place: KlPlace,
}

impl Kl {
    pub(crate) fn check(&self) -> Result<(), BadOption> {
        let fine = self.coefficient.is_finite() && self.coefficient > 0.0;
        BadOption::check("kl.coefficient", self.coefficient, fine, "a positive number; leave `kl` out for none")?;
        let k1 = self.estimator == KlEstimator::K1;
        let want = "`k2` or `k3` in the loss, where k1 has no gradient on average, and `k1` in the reward";
        let value = format!("{:?}", self.estimator).to_lowercase();
        BadOption::check("kl.estimator", value, k1 == (self.place == KlPlace::Reward), want)
    }

    /// The estimate at one token, and its slope in log π, both without the coefficient.
    pub(crate) fn token(estimator: KlEstimator, logprob: f64, reference: f64) -> TokenTerm {
        let log_ratio = logprob - reference;
        let (value, slope) = match estimator {
            KlEstimator::K1 => (log_ratio, 1.0),
            KlEstimator::K2 => (0.5 * log_ratio * log_ratio, log_ratio),
            // exp_m1 keeps the digits where the two policies nearly agree.
            KlEstimator::K3 => ((-log_ratio).exp_m1() + log_ratio, -(-log_ratio).exp_m1()),
        };
        TokenTerm { value, slope, clipped: false }
    }

    /// The penalty on every token's advantage within its turn, before the coefficient: Σ over s ≥ t of k1.
    pub(crate) fn to_go(behaviour: &[f32], reference: &[f32]) -> Vec<f64> {
        let mut sum = 0.0;
        let mut out: Vec<f64> = behaviour
            .iter()
            .zip(reference)
            .rev()
            .map(|(&b, &r)| {
                sum += f64::from(b) - f64::from(r);
                sum
            })
            .collect();
        out.reverse();
        out
    }
}
