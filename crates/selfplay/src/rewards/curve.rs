//! Difficulty curves: what a task is worth to its proposer by its solve rate s = k / G, for k of G judged attempts that solve it.
//!
//! # What it rewards
//! Solver: 1 for an accepted attempt, 0 for any other. Proposer: −0.5 for an invalid or malformed proposal, −0.25 for a duplicate, and the curve for a
//! valid one, which is 0 wherever the table does not say. `random` is the control: the rewards of `failure_rate`, shuffled within each batch of one
//! role and task type by a permutation seeded by (run seed, step).
//!
//! | name | reward | source |
//! |---|---|---|
//! | `failure_rate` | 1 − s on 0 < s < 1 | Absolute Zero Reasoner without its penalties (arXiv 2505.03335) |
//! | `band` | 4 s (1 − s) | learnability, the variance of success (arXiv 2408.15099, 2502.12272) |
//! | `r_zero` | min(s, 1 − s) | the code of R-Zero (arXiv 2508.05004) and Agent0; the paper of R-Zero has twice as much |
//! | `dr_zero` | (G − k) / (G − 1) on 0 < k < G | Dr. Zero (arXiv 2601.07055), as it is told: its code was not read |
//! | `svs` | 1 on 1/8 ≤ s ≤ 5/8 | SvS (arXiv 2508.14029) |
//! | `sqlm` | 1 on 0 < s < 1 | SQLM (arXiv 2508.03682) |
//! | `pasodoble` | 1.1 − s on s > 1/5 | PasoDoble (arXiv 2511.11881) |
//! | `opensir` | 1 at s = 0.7, linear down to 1/4 at 0.5 and 0.9 | the code of OpenSIR (arXiv 2511.00602) |
//! | `spice` | exp(−(s (1 − s) − 1/4)² / 0.02) on 0 < s < 1 | SPICE (arXiv 2510.24684) |
//! | `serl` | 1 on 1/5 ≤ s ≤ 4/5 | the filter of SeRL (arXiv 2505.20347) |
//! | `stp` | 1 on 0 < s < 1/4 | STP (arXiv 2502.00212) |
//!
//! # Why
//! To compare curves with everything else equal: papers differ in what else they reward. Evidence that the exact curve matters is mixed: SPICE
//! reports four points between curves, SSR hardly any between its curve and none. `band` is the setting that was measured to train a 1M model in
//! minutes. Some models get better under any reward (arXiv 2506.10947): a gain counts only as far as `random` does not show it.
//!
//! # How it can be gamed
//! A coin flip has s = 1/2 for ever, and most curves are high there; `min_distinct_outputs` in `[gate]` and `discount_guesses` hold against it. Curves
//! that are high at k = 1 reward luck: the estimate is noisiest there, and a task of true solve rate 0.01 earns up to a fifth of the best one.
//!
//! # Example
//! Of 8 attempts 2 solve the task: it is worth 0.75 under `failure_rate` and `band`, 0.25 under `r_zero`, 0.857 under `dr_zero`, 0.823 under `spice`.

use std::ops::Bound::{self, Excluded, Included};
use std::ops::RangeBounds;

use veriplay_core::Reward;

use super::{LEARNABILITY, ProposalFacts, ProposalOutcome, RewardScheme};

pub(super) struct Curve {
    name: &'static str,
    /// The solve rates at which it is not 0.
    support: (Bound<f64>, Bound<f64>),
    /// Its value there, of the solve rate and the number of judged attempts.
    value: fn(f64, f64) -> f64,
    shuffled: bool,
}

const fn curve(name: &'static str, support: (Bound<f64>, Bound<f64>), value: fn(f64, f64) -> f64) -> Curve {
    Curve { name, support, value, shuffled: false }
}

/// Some attempts solve the task, and some do not.
const LEARNABLE: (Bound<f64>, Bound<f64>) = (Excluded(0.0), Excluded(1.0));

pub(super) const FAILURE_RATE: Curve = curve("failure_rate", LEARNABLE, |s, _| 1.0 - s);
pub(super) const RANDOM: Curve = Curve { name: "random", shuffled: true, ..FAILURE_RATE };
pub(super) const BAND: Curve = curve("band", LEARNABLE, |s, _| 4.0 * s * (1.0 - s));
pub(super) const R_ZERO: Curve = curve("r_zero", LEARNABLE, |s, _| s.min(1.0 - s));
pub(super) const DR_ZERO: Curve = curve("dr_zero", LEARNABLE, |s, judged| judged * (1.0 - s) / (judged - 1.0));
pub(super) const SVS: Curve = curve("svs", (Included(0.125), Included(0.625)), |_, _| 1.0);
pub(super) const SQLM: Curve = curve("sqlm", LEARNABLE, |_, _| 1.0);
pub(super) const PASODOBLE: Curve = curve("pasodoble", (Excluded(0.2), Included(1.0)), |s, _| 1.1 - s);
pub(super) const OPENSIR: Curve =
    curve("opensir", (Included(0.5), Included(0.9)), |s, _| 1.0 - 0.75 * (s - 0.7).abs() / 0.2);
pub(super) const SPICE: Curve =
    curve("spice", LEARNABLE, |s, _| (-(s * (1.0 - s) - 0.25) * (s * (1.0 - s) - 0.25) / 0.02).exp());
pub(super) const SERL: Curve = curve("serl", (Included(0.2), Included(0.8)), |_, _| 1.0);
pub(super) const STP: Curve = curve("stp", (Excluded(0.0), Excluded(0.25)), |_, _| 1.0);

impl Curve {
    fn at(&self, facts: ProposalFacts) -> f64 {
        let rate = facts.rate();
        if self.support.contains(&rate) { (self.value)(rate, f64::from(facts.judged)) } else { 0.0 }
    }
}

impl RewardScheme for Curve {
    fn name(&self) -> &'static str {
        self.name
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        Some(match outcome {
            ProposalOutcome::Unrated(_) => return None,
            ProposalOutcome::Malformed | ProposalOutcome::Invalid => Reward::single("validity", -0.5),
            ProposalOutcome::Duplicate => Reward::single("novelty", -0.25),
            ProposalOutcome::Solved(facts) => Reward::single(LEARNABILITY, self.at(facts)),
        })
    }

    fn shuffled(&self) -> bool {
        self.shuffled
    }
}
