//! `sppo`: self-play preference optimisation (Wu et al. 2024, arXiv 2405.00675, its loss over pairs).
//!
//! # What it computes
//! (log π(y⁺)/ref(y⁺) − `eta`·(P⁺ − ½))² + (log π(y⁻)/ref(y⁻) − `eta`·(P⁻ − ½))², with P the share of wins of a response against
//! those to its prompt. A pair without shares is a sure win: P⁺ = 1 and P⁻ = 0.
//!
//! # Why
//! DPO sees the difference of two responses and may lower both. Here the chosen one rises by itself, as far as it wins. The reference is the
//! policy that sampled.
//!
//! # Example
//! π = ref, `eta` 1000, P 0.9 and 0.1: loss 2 · 400² = 320000, slopes −800 and 800.

use serde::{Deserialize, Serialize};

use super::{BadOption, PairLoss, PairTerm, PairView};

/// Self-play preference optimisation, from shares of wins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sppo {
    /// How many nats a sure win is worth, times two; positive.
    pub eta: f64,
}

impl Default for Sppo {
    /// The paper's, for its language models.
    fn default() -> Self {
        Self { eta: 1000.0 }
    }
}

impl PairLoss for Sppo {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::check_positive("eta", self.eta)
    }

    fn pair(&self, seen: &PairView) -> PairTerm {
        let error = |at: usize| seen.log_ratios[at] - self.eta * (seen.win[at] - 0.5);
        let [chosen, rejected] = [error(0), error(1)];
        PairTerm { value: chosen * chosen + rejected * rejected, slopes: [2.0 * chosen, 2.0 * rejected] }
    }
}
