//! `copg`: contrastive policy gradient (Flet-Berliac et al. 2024, arXiv 2406.19185).
//!
//! # What it computes
//! −m · (R⁺ − R⁻ − `beta`·m/2) with the margin m = log π(y⁺)/ref(y⁺) − log π(y⁻)/ref(y⁻) and the rewards R of both responses. Its slope
//! in log π(y⁺) is −(R⁺_β − R⁻_β) with R_β = R − `beta` · log π/ref, and the opposite in log π(y⁻).
//!
//! # Why
//! A policy gradient of the regularised reward in which each response is the other's baseline. With that baseline it is right for
//! responses of any policy, without importance ratios: the minimum is m = (R⁺ − R⁻)/`beta`, that of the regularised reward. DPO knows only which
//! is better. Needs rewards.
//!
//! # Example
//! Rewards 1 and 0, `beta` 0.1: at m = 0 value 0 and slopes −1 and 1; the minimum is −5, at m = 10.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView};

/// Contrastive policy gradient, from two rewards.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Copg {
    /// The cost of a nat of divergence from the reference, in rewards; positive.
    pub beta: f64,
}

impl Default for Copg {
    fn default() -> Self {
        Self { beta: 0.1 }
    }
}

impl PairLoss for Copg {
    fn needs_rewards(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("beta", self.beta)
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        let (gain, cost) = (seen.rewards[0] - seen.rewards[1], self.beta * seen.margin);
        PairTerm::of_margin(-seen.margin * (gain - 0.5 * cost), cost - gain)
    }
}
