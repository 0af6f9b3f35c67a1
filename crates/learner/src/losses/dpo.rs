//! `dpo`: direct preference optimisation (Rafailov et al. 2023, arXiv 2305.18290, equation 7).
//!
//! # What it computes
//! −log σ(`beta` · [(log π(y⁺) − log ref(y⁺)) − (log π(y⁻) − log ref(y⁻))]) for a chosen y⁺ and a rejected y⁻ behind one prompt;
//! log-probabilities are sums over all tokens of a response. At π = ref it is ln 2.
//!
//! # Why
//! Learns from pairs that execution ranked, with neither a reward model nor rollouts in the loop. Needs a reference.
//!
//! # Example
//! `beta` 0.1 and a margin of 10 nats: −log σ(1) = 0.313; every chosen token's slope is −0.1 · σ(−1) = −0.0269.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView, logistic};

/// Direct preference optimisation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dpo {
    /// How tightly the policy is held to the reference; positive.
    pub beta: f64,
}

impl Default for Dpo {
    /// The paper's.
    fn default() -> Self {
        Self { beta: 0.1 }
    }
}

impl PairLoss for Dpo {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("beta", self.beta)
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        logistic(self.beta, seen.margin)
    }
}
