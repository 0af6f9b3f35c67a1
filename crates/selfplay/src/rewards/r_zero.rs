//! `r_zero`, `sqlm`, `svs`, `spice`: published difficulty curves, each a function of the solve rate s.
//!
//! # What it rewards
//! Solver: 1 for an accepted attempt, 0 for any other. Proposer, with solve rate s: `r_zero` min(s, 1 − s), as the code of R-Zero has it
//! (arXiv 2508.05004); `sqlm` 1 for 0 < s < 1 (arXiv 2508.03682); `svs` 1 for 1/8 ≤ s ≤ 5/8 (arXiv 2508.14029); `spice`
//! exp(−(s (1 − s) − 1/4)² / 0.02) for 0 < s < 1 (arXiv 2510.24684). Everything else of a valid task gets 0, a duplicate −0.25, an
//! invalid or malformed proposal −0.5, as under `band`: the papers differ there, and their solvers are judged by votes or other texts.
//!
//! # Why
//! To compare curves with everything else equal. The evidence that the exact curve matters is mixed: SPICE reports a difference of four points
//! between curves, SSR hardly any between its curve and none.
//!
//! # How it can be gamed
//! By tasks with two answers that a solver guesses: they have s = 1/2 for ever. `r_zero` and `spice` reward them most, and the rule for
//! different outputs in `[gate]` is what holds against it.
//!
//! # Example
//! Of 8 rollouts 2 solve the task: the proposer gets 0.25, 1, 1 and 0.823 under the four.

use veriplay_core::Reward;

use super::{ProposalOutcome, RewardScheme};

pub(super) struct Curve {
    name: &'static str,
    /// The reward of a valid task with this solve rate.
    at: fn(f64) -> f64,
}

pub(super) const R_ZERO: Curve = Curve { name: "r_zero", at: |rate| rate.min(1.0 - rate) };
pub(super) const SQLM: Curve = Curve { name: "sqlm", at: |rate| one_if(0.0 < rate && rate < 1.0) };
pub(super) const SVS: Curve = Curve { name: "svs", at: |rate| one_if((0.125..=0.625).contains(&rate)) };
pub(super) const SPICE: Curve = Curve {
    name: "spice",
    at: |rate| {
        let distance = rate * (1.0 - rate) - 0.25;
        one_if(0.0 < rate && rate < 1.0) * (-distance * distance / 0.02).exp()
    },
};

fn one_if(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl RewardScheme for Curve {
    fn name(&self) -> &'static str {
        self.name
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        outcome.reward_by_rate(self.at)
    }
}
