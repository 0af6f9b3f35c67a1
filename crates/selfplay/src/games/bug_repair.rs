//! `bug_repair` (Self-play SWE-RL, arXiv 2512.18552): one policy puts bugs into real repositories, and repairs them.
//!
//! # One step
//! [`BugRepair`] is played through [`crate::play::Play`]; the cli owns the loop.
//! 1. Injectors' episodes, many at once: a policy works at a desk ([`veriplay_verifier::bugs::desk`]) on the original, in one of
//!    three [`Mode`]s, and leaves an edited tree. Its changes of code are the bug; the weakening that hides it is made from the tests
//!    that fail, or is what it did to test files ([`GameConfig::weakening`]). Mutants are made beside them.
//! 2. Every proposal goes through all checks of [`veriplay_verifier::bugs::CHECKS`]. Valid ones that change something new enter
//!    the buffer.
//! 3. Tasks: this step's bugs and earlier ones of the second order, each up to its share, then the training set and the buffer.
//! 4. Solvers' episodes, `group` for each task. What a solver is handed is base, bug and weakening, without history; what it is asked
//!    is the weakening reversed; what counts is the patch its edits of code come to, submitted or not. Grading restores the
//!    original's tests.
//! 5. Failed repairs of first-order bugs are tried as bugs of the second order, and enter the buffer. The order is never more.
//! 6. Rewards ([`Pay`]), advantages over episodes, and one sample for each turn.
//!
//! # Choices
//! What the paper leaves open is a key of [`GameConfig`]. Two things differ from it on purpose. A share of the failing tests may be
//! hidden from the solver: neither in what it is asked nor in its tree, and graded all the same, which the paper recommends and
//! does not do. And a bug that is known already pays the injector no more than one that nobody repairs.
//!
//! # Invariants
//! Bugs are made in training repositories alone, and none of them, however it was made, turns a function into one that is measured
//! ([`crate::splits`]). No IO and no clock. The same state, seed, step, policy and executor give the same result. A Dropped episode is no part of a
//! solve rate, a reward, a mean or a batch. No solver sees an oracle test whole, no injector that rewrites a function sees the
//! original's, and no job of theirs holds either. Held-out bugs are never asked in a step, and no bug that changes the same enters the
//! buffer. A failed repair's bug is as its injector's spec says: what is asked stays the same.

mod again;
mod config;
pub mod dialects;
mod drive;
mod episode;
mod guard;
mod held;
mod making;
mod metrics;
mod pay;
mod place;
mod records;
mod scoring;
mod solving;
mod state;
mod stepping;
mod tasks;

use std::collections::BTreeSet;
use std::sync::Arc;

use veriplay_core::{Digest, Execute, Prompt, Role, TextFiles};
use veriplay_verifier::bugs::{BugArtifact, Injector};

use super::Game;
use crate::advantages::{self, AdvantageEstimator};
use crate::settings::ConfigError;
use crate::splits::{Guard, Overlap};
use dialects::Dialect;
use drive::Table;

pub use config::{GameConfig, InjectorMode, Mode, RewardName};
pub use episode::{Assignment, Budget, End, Episode, Move, Turn};
pub use held::family;
pub use metrics::{EpisodeMetrics, StepMetrics, ToolUse, Yield};
pub use pay::{InjectionOutcome, Pay};
pub use place::{Place, Repositories};
pub use records::{CandidateRecord, EpisodeRecord, InjectionRecord, JudgedBug, Record, RepairRecord, Tried};
pub use state::{Entry, GameState, Kept, Source};

/// What is said of it in [`super::GAMES`].
pub const GAME: Game = Game {
    name: "bug_repair",
    about: "one policy puts bugs into real repositories, and repairs them by tools, tests and patches",
    roles: &[Role::Proposer, Role::Solver],
};

/// The game, set up. Holds no state: that is [`GameState`].
pub struct BugRepair {
    config: GameConfig,
    /// Training repositories, then those that are measured.
    places: Vec<Place>,
    /// How many of them are for training: bugs are made in these alone.
    training_places: usize,
    guard: Guard,
    /// The places' text files, as trees are made of them.
    originals: Vec<Arc<TextFiles>>,
    training: Vec<Kept>,
    heldout: Vec<Kept>,
    dialect: &'static dyn Dialect,
    advantage: &'static dyn AdvantageEstimator,
    injectors: Vec<Injector>,
    pay: Pay,
}

/// Why the game cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A key of the config.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nothing to make bugs in.
    #[error("there is no training repository; name one at least")]
    NoPlaces,
    /// A bug in a repository there is not.
    #[error(
        "{set} bug `{task_id}` is in a repository of digest `{package}`, which is not among the {set} repositories"
    )]
    UnknownPackage {
        /// `training` or `measured`.
        set: &'static str,
        /// The bug.
        task_id: String,
        /// Its repository.
        package: Digest,
    },
    /// A repository, a function or a bug that is trained on and measured on.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// Neither bugs nor a way to make them.
    #[error("there are no training bugs, and the config makes none: set `injections_per_step` or `mutants_per_step`")]
    Nothing,
}

/// What a model may be taught before it plays: a prompt of the game and a response that is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demonstration {
    /// The prompt.
    pub prompt: Prompt,
    /// The response, without an end token.
    pub response: String,
}

impl BugRepair {
    /// Sets the game up. `training` may be empty, when bugs are made in play; `heldout` is what it is measured on, bugs of the
    /// validation or held-out repositories.
    ///
    /// # Errors
    /// The first thing that has no meaning.
    pub fn new(
        config: GameConfig,
        repositories: Repositories,
        training: &[BugArtifact],
        heldout: &[BugArtifact],
    ) -> Result<Self, SetupError> {
        config.validate()?;
        let dialect = dialects::by_name(&config.dialect).expect("a validated config names a dialect");
        let advantage = advantages::by_name(&config.advantage).expect("a validated config names an advantage");
        let (guard, training_places) = (repositories.guard(), repositories.training.len());
        let places = repositories.into_places();
        let originals: Vec<Arc<TextFiles>> = places.iter().map(|place| Arc::new(place.texts.clone())).collect();
        let keep = |bugs: &[BugArtifact]| bugs.iter().map(Kept::from).collect();
        let (injectors, pay) = (config.injectors(), Pay::new(&config));
        let (training, heldout) = (keep(training), keep(heldout));
        let game = Self {
            config,
            places,
            training_places,
            guard,
            originals,
            training,
            heldout,
            dialect,
            advantage,
            injectors,
            pay,
        };
        game.check()?;
        Ok(game)
    }

    fn check(&self) -> Result<(), SetupError> {
        if self.training_places == 0 {
            return Err(SetupError::NoPlaces);
        }
        self.check_repositories()?;
        let (training, measured) = self.places.split_at(self.training_places);
        for (set, bugs, places) in [("training", &self.training, training), ("measured", &self.heldout, measured)] {
            let known = |bug: &&Kept| places.iter().any(|place| *place.package() == bug.package);
            if let Some(bug) = bugs.iter().find(|bug| !known(bug)) {
                let (task_id, package) = (bug.task_id.clone(), bug.package.clone());
                return Err(SetupError::UnknownPackage { set, task_id, package });
            }
        }
        self.check_training_bugs()?;
        let makes = self.config.injections_per_step + self.config.mutants_per_step;
        if self.training.is_empty() && makes == 0 { Err(SetupError::Nothing) } else { Ok(()) }
    }

    /// Its settings.
    #[must_use]
    pub const fn config(&self) -> &GameConfig {
        &self.config
    }

    /// Digests of everything that counts as known: the training set and `state`'s buffer.
    fn known(&self, state: &GameState) -> BTreeSet<Digest> {
        let kept = self.training.iter().chain(state.entries().iter().map(|entry| &entry.bug));
        kept.map(Kept::code_digest).collect()
    }

    fn place_of(&self, package: &Digest) -> Option<usize> {
        self.places.iter().position(|place| place.package() == package)
    }

    /// The repositories that bugs are made in.
    fn training_places(&self) -> &[Place] {
        &self.places[..self.training_places]
    }

    fn table<'a>(&'a self, execute: &'a dyn Execute, seed: u64) -> Table<'a> {
        Table { execute, places: &self.places, dialect: self.dialect, budget: self.config.solver_budget, seed }
    }
}
