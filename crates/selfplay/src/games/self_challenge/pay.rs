//! What a challenger and an executor are paid.
//!
//! The paper pays an executor 1 or 0 by the final state, and keeps a challenger's artifacts that pass its filters. Under `validity` a
//! challenger is paid for just that: 1 for an artifact that is valid and new, else 0. Under `difficulty` an artifact that is not valid
//! costs 0.5 and one that is known 0.25; a valid one pays 1 − s for a solve rate 0 < s < 1, and nothing at both ends: what everybody does
//! teaches nothing, and what nobody does may be impossible as it says. A valid artifact that nobody was asked is not paid for.
//!
//! # How it can be gamed
//! A task whose instruction leaves open what its verification function wants pays by luck. The failure cases, and dropping what
//! nobody does, hold against it; a small `challenger_weight` and the anchors too.

use veriplay_core::{Reward, Status};

use super::config::RewardName;

/// What became of a challenge, as far as a reward may know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChallengeOutcome {
    /// Nothing was proposed, or the gate refused it.
    Refused,
    /// The gate refused it as known.
    Duplicate,
    /// It is valid, and nobody was asked.
    Unrated,
    /// It is valid, and executors' episodes were judged.
    Rated {
        /// The solve rate s in [0, 1].
        rate: f64,
    },
}

/// A way to pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pay {
    name: RewardName,
}

impl Pay {
    /// By this name.
    #[must_use]
    pub const fn new(name: RewardName) -> Self {
        Self { name }
    }

    /// What a challenger is paid. `None`: it is not, and nothing is learned from it.
    #[must_use]
    pub fn challenger(&self, outcome: ChallengeOutcome) -> Option<Reward> {
        match (self.name, outcome) {
            (RewardName::Validity, ChallengeOutcome::Refused | ChallengeOutcome::Duplicate) => {
                Some(Reward::single("validity", 0.0))
            }
            (RewardName::Validity, _) => Some(Reward::single("validity", 1.0)),
            (_, ChallengeOutcome::Refused) => Some(Reward::single("validity", -0.5)),
            (_, ChallengeOutcome::Duplicate) => Some(Reward::single("novelty", -0.25)),
            (_, ChallengeOutcome::Unrated) => None,
            (_, ChallengeOutcome::Rated { rate }) => Some(Reward::single("difficulty", difficulty(rate))),
        }
    }

    /// What an executor is paid.
    #[must_use]
    pub fn executor(&self, status: Status) -> Reward {
        Reward::single("accuracy", f64::from(u8::from(status == Status::Accepted)))
    }

    /// Whether rewards are shuffled within each role's batch before anybody learns from them.
    #[must_use]
    pub fn shuffled(&self) -> bool {
        self.name == RewardName::Random
    }
}

/// 1 − s inside (0, 1), and 0 at both ends.
fn difficulty(rate: f64) -> f64 {
    if rate <= 0.0 { 0.0 } else { 1.0 - rate }
}
