//! `prdp`: proximal reward difference prediction (Deng et al. 2024, arXiv 2402.08714).
//!
//! # What it computes
//! (log π(y⁺)/ref(y⁺) − log π(y⁻)/ref(y⁻) − (R⁺ − R⁻)/`beta`)² with the rewards R of both responses. With `clip`, it is the larger of that and the
//! same with each log-ratio held to [−`clip`, `clip`], whose slope in a log-ratio that is held is 0.
//!
//! # Why
//! A regression instead of a policy gradient: the policy predicts differences of rewards. Without `clip` the gradient is that of `copg`
//! times 2 / `beta`. The clip takes away the reason to move further in one step, where the reference is the policy that sampled. Needs rewards.
//!
//! # Example
//! Rewards 1 and 0, `beta` 0.5 and π = ref: (0 − 2)² = 4, slopes −4 and 4. With `clip` 0.5 and log-ratios 1 and 0: (0.5 − 2)² = 2.25, slopes
//! 0 and 3.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView};

/// Proximal reward difference prediction, a regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prdp {
    /// The reward of a nat of difference; positive.
    pub beta: f64,
    /// How far a log-ratio may move from 0, in nats; positive. Without it, any way.
    pub clip: Option<f64>,
}

impl Default for Prdp {
    fn default() -> Self {
        Self { beta: 0.1, clip: None }
    }
}

impl PairLoss for Prdp {
    fn needs_rewards(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("beta", self.beta)?;
        BadOption::check_positive("clip", self.clip.unwrap_or(1.0))
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        let want = (seen.rewards[0] - seen.rewards[1]) / self.beta;
        let (error, clip) = (seen.margin - want, self.clip.unwrap_or(f64::INFINITY));
        let held = seen.log_ratios.map(|log_ratio| log_ratio.clamp(-clip, clip));
        let bounded = held[0] - held[1] - want;
        if bounded.abs() <= error.abs() {
            return PairTerm::of_margin(error * error, 2.0 * error);
        }
        let slope = |at: usize, sign: f64| if seen.log_ratios[at].abs() <= clip { 2.0 * sign * bounded } else { 0.0 };
        PairTerm { value: bounded * bounded, slopes: [slope(0, 1.0), slope(1, -1.0)] }
    }
}
