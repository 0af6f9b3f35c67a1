//! `absolute_zero` (arXiv 2505.03335): one policy proposes programs with inputs, and solves what execution made of them.
//!
//! # One step
//! The cli owns the loop; `step` and `seed` go into every call, and only [`GameState`] is carried from step to step.
//! 1. [`AbsoluteZero::proposer_turns`]: prompts, and how many rollouts to draw for each.
//! 2. The cli generates, extracts attempts, asks [`AbsoluteZero::known`] which are duplicates, and judges them.
//! 3. [`AbsoluteZero::solver_turns`]: valid proposals enter the buffers; fresh ones and buffer tasks become prompts, with
//!    `group` rollouts each. The rollouts that estimate a proposal's difficulty train the solver too.
//! 4. The cli generates and judges again.
//! 5. [`AbsoluteZero::score`]: solve rates, rewards, advantages and metrics; [`AbsoluteZero::train_batch`]: what to learn.
//!
//! # Invariants
//! No proposal with a program that is measured is valid ([`crate::splits`]). No IO and no clock. The same state, seed, step and records give the same result. A Dropped attempt is no part of a
//! solve rate, a reward, a mean or a batch. What a duplicate is paid is never more than what its original is paid when the
//! original is refused.

mod batch;
mod buffer;
mod config;
mod metrics;
mod records;
mod score;
mod state;
mod turns;

use veriplay_core::{Attempt, Judged, Role, Sampling};
use veriplay_verifier::{Format, format_by_name};

use super::Game;
use crate::advantages::{self, AdvantageEstimator};
use crate::prompts::{self, PromptFormat};
use crate::randomness::derive_seed;
use crate::rewards::{self, RewardScheme};
use crate::settings::ConfigError;
use crate::splits::Guard;

pub use buffer::{Buffer, Entry};
pub use config::{Aggregation, GameConfig, ProposerMode, ZeroAdvantage};
pub use metrics::{RoleMetrics, StepMetrics};
pub use records::{Origin, ProposalRecord, ProposerTurn, SolverRecord, SolverTurn};
pub use score::{SampleRef, Scored, ScoredSample};
pub use state::{GameState, proposal_digest};

/// What is said of it in [`super::GAMES`].
pub const GAME: Game = Game {
    name: "absolute_zero",
    about: "one policy proposes programs with inputs and solves deduction, abduction and induction tasks made of them",
    roles: &[Role::Proposer, Role::Solver],
};

/// The game, set up. Holds no state: that is [`GameState`].
pub struct AbsoluteZero {
    config: GameConfig,
    format: &'static dyn PromptFormat,
    responses: &'static dyn Format,
    reward: &'static dyn RewardScheme,
    advantage: &'static dyn AdvantageEstimator,
    guard: Guard,
}

impl AbsoluteZero {
    /// Sets the game up; `guard` holds the programs that are measured.
    ///
    /// # Errors
    /// The first key of `config` that has no meaning, with its value and what is allowed.
    pub fn new(config: GameConfig, guard: Guard) -> Result<Self, ConfigError> {
        config.validate()?;
        let format = prompts::by_name(&config.format).expect("a validated config names a format");
        let responses = format_by_name(&config.format).expect("every prompt format has a verifier format of its name");
        let reward = rewards::by_name(&config.reward).expect("a validated config names a reward");
        let advantage = advantages::by_name(&config.advantage).expect("a validated config names an advantage");
        Ok(Self { config, format, responses, reward, advantage, guard })
    }

    /// Its settings.
    #[must_use]
    pub const fn config(&self) -> &GameConfig {
        &self.config
    }

    /// What is measured.
    #[must_use]
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The verdict on a proposal whose program is measured; `None` for any other attempt. It is asked before anything runs.
    #[must_use]
    pub fn refuse_measured(&self, attempt: &Attempt) -> Option<Judged> {
        let Attempt::Proposal(proposal) = attempt else { return None };
        let verdict = self.guard.refuse_programs([proposal.program()])?;
        Some(Judged { verdict, task: None })
    }

    /// The format of its prompts and responses.
    #[must_use]
    pub fn format(&self) -> &'static dyn PromptFormat {
        self.format
    }

    /// How to sample `rollouts` rollouts a prompt for `role` at `step`. Calls that must differ within a step, such as one
    /// for each number of rollouts, are told apart by `rollouts`.
    #[must_use]
    pub fn sampling(&self, role: Role, rollouts: usize, seed: u64, step: u64) -> Sampling {
        let (name, temperature, max_tokens) = match role {
            Role::Proposer => ("proposer", self.config.proposer_temperature, self.config.proposer_max_tokens),
            // The game has no third role.
            Role::Solver | Role::Verifier => ("solver", self.config.solver_temperature, self.config.solver_max_tokens),
        };
        let purpose = format!("sampling/{name}/{rollouts}");
        Sampling { temperature, max_tokens, group: rollouts, seed: derive_seed(seed, step, &purpose) }
    }
}
