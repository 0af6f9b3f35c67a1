//! `ssr`, `consistency` and `ssr_random`: the rewards of Self-play SWE-RL (arXiv 2512.18552, section 2), and two to compare with.
//!
//! # What it rewards
//! Solver: 1 when Accepted, else −1. Proposer under `ssr`: −1 if any consistency check fails; −α for a solve rate s of 0 or 1, and for a
//! task that is known already; 1 − (1 + α) s for 0 < s < 1. α is 0.8 unless a game has another. Under `consistency`: 1 for a task that
//! passes all checks and is new, whether or not solvers attempted it, else −1. `ssr_random` is the control: the rewards of `ssr`,
//! shuffled within each (role, kind) batch.
//!
//! # Why
//! It is the published scheme, but for duplicates, of which nothing new is to be learned. With α = 0.8 and eight solvers a proposer gets
//! 0.775 at s = 1/8, 0.1 at 1/2 and −0.575 at 7/8.
//!
//! # How it can be gamed
//! The highest reward is at s = 1/G, where the estimate is noisiest: on it the best task is one that a quarter of solvers solves.
//!
//! # Example
//! Of 8 rollouts 2 solve the task: those solvers get 1, the others −1, and the proposer gets 0.55.

use veriplay_core::{Reward, Status};

use super::{DIFFICULTY, ProposalOutcome, RewardScheme};

#[derive(Clone, Copy)]
pub(super) struct Ssr {
    name: &'static str,
    alpha: f64,
    /// Whether a proposer's reward depends on the solve rate.
    rated: bool,
    shuffled: bool,
}

pub(super) const SSR: Ssr = Ssr { name: "ssr", alpha: 0.8, rated: true, shuffled: false };
pub(super) const CONSISTENCY: Ssr = Ssr { name: "consistency", rated: false, ..SSR };
pub(super) const SSR_RANDOM: Ssr = Ssr { name: "ssr_random", shuffled: true, ..SSR };

impl RewardScheme for Ssr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solver(&self, status: Status, _well_formed: bool) -> Reward {
        Reward::single("accuracy", if status == Status::Accepted { 1.0 } else { -1.0 })
    }

    fn proposer(&self, outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        Some(match outcome {
            ProposalOutcome::Malformed | ProposalOutcome::Invalid => Reward::single("consistency", -1.0),
            ProposalOutcome::Duplicate => Reward::single("novelty", if self.rated { -self.alpha } else { -1.0 }),
            ProposalOutcome::Unrated(_) | ProposalOutcome::Solved(_) if !self.rated => {
                Reward::single("consistency", 1.0)
            }
            ProposalOutcome::Unrated(_) => return None,
            ProposalOutcome::Solved(facts) => Reward::single(DIFFICULTY, self.difficulty(facts.rate())),
        })
    }

    fn shuffled(&self) -> bool {
        self.shuffled
    }

    fn with_alpha(&self, alpha: f64) -> Option<Box<dyn RewardScheme>> {
        Some(Box::new(Self { alpha, ..*self }))
    }
}

impl Ssr {
    fn difficulty(&self, rate: f64) -> f64 {
        if rate <= 0.0 || rate >= 1.0 { -self.alpha } else { 1.0 - (1.0 + self.alpha) * rate }
    }
}
