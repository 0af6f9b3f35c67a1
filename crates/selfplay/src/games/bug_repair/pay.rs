//! What an injector and a solver are paid (SSR, arXiv 2512.18552, section 2).
//!
//! Injector: −1 if any consistency check fails; −α for a solve rate of 0 or 1; 1 − (1 + α) s for 0 < s < 1. With α = 0.8 and
//! eight solvers that is 0.775 at s = 1/8, 0.1 at 1/2 and −0.575 at 7/8: on the noisy estimate the best bug is one that a
//! quarter of solvers repairs. A bug that is known already pays −α: nothing new is to be learned from it. Solver: 1 for a repair
//! that passes every test, else −1.

use veriplay_core::{Reward, Status};

use super::config::{GameConfig, RewardName};

/// What became of an injection, as far as a reward may know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InjectionOutcome {
    /// Nothing was proposed, or a check failed.
    Refused,
    /// It passes all checks, and is known.
    Duplicate,
    /// It passes all checks, and nobody was asked to repair it.
    Unrated,
    /// It passes all checks, and solvers' repairs were judged.
    Rated {
        /// The solve rate s in [0, 1].
        rate: f64,
    },
}

/// A way to pay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pay {
    name: RewardName,
    alpha: f64,
}

impl Pay {
    /// As the config says.
    #[must_use]
    pub const fn new(config: &GameConfig) -> Self {
        Self { name: config.reward, alpha: config.alpha }
    }

    /// What an injector is paid. `None`: it is not, and nothing is learned from it.
    #[must_use]
    pub fn injector(&self, outcome: InjectionOutcome) -> Option<Reward> {
        let consistency = |score| Some(Reward::single("consistency", score));
        match (self.name, outcome) {
            (_, InjectionOutcome::Refused) => consistency(-1.0),
            (RewardName::Consistency, InjectionOutcome::Duplicate) => Some(Reward::single("novelty", -1.0)),
            (RewardName::Consistency, _) => consistency(1.0),
            (_, InjectionOutcome::Unrated) => None,
            (_, InjectionOutcome::Duplicate) => Some(Reward::single("novelty", -self.alpha)),
            (_, InjectionOutcome::Rated { rate }) => Some(Reward::single("difficulty", self.difficulty(rate))),
        }
    }

    /// What a solver is paid.
    #[must_use]
    pub fn solver(&self, status: Status) -> Reward {
        Reward::single("accuracy", if status == Status::Accepted { 1.0 } else { -1.0 })
    }

    /// Whether rewards are shuffled within each role's batch before anybody learns from them.
    #[must_use]
    pub fn shuffled(&self) -> bool {
        self.name == RewardName::Random
    }

    fn difficulty(&self, rate: f64) -> f64 {
        if rate <= 0.0 || rate >= 1.0 { -self.alpha } else { 1.0 - (1.0 + self.alpha) * rate }
    }
}
