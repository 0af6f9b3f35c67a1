//! `self_challenge` (Self-Challenging Agents, arXiv 2506.01716): one policy explores an environment of tools and makes a
//! Code-as-Task there, and does such tasks with tool calls as code.
//!
//! # One step
//! [`SelfChallenge`] is played through [`crate::play::Play`]; the cli owns the loop.
//! 1. Challengers' episodes, many at once: each explores an environment for a number of turns and proposes a Code-as-Task.
//! 2. The artifact gate judges every proposal ([`veriplay_verifier::environments::examine_artifacts`]); valid ones that are new enter the
//!    buffer. [`FILTERS`] says what of it the paper's table tells.
//! 3. Tasks: this step's valid ones up to their share, then given ones and the buffer.
//! 4. Executors' episodes, `group` for each task. An executor's last turn is the one whose code has called `answer` and come to its end;
//!    [`veriplay_verifier::environments::judge_episodes`] judges its calls and its answer. An executor out of turns or fuel is judged
//!    too, by what it has done so far: the paper pays the final state alone.
//! 5. Rewards ([`Pay`]), advantages over episodes or imitation of what was paid ([`LearnFrom`]), and one sample for each turn.
//!
//! [`Episode`] is a state machine without IO: [`Move::Ask`] has a response generated and given to [`Episode::hear`], [`Move::Run`] has
//! code run ([`veriplay_verifier::environments::run_code`]) and its outcome given to [`Episode::see`].
//!
//! # Two dialects
//! `fenced` is the paper's game. `compact` ([`dialects`]) is for models of a million parameters: one turn each, and the verification
//! function is made from the solution. The gate and the judge are the same for both.
//!
//! # Rules
//! - A turn's code is a program of its own: the environment's state is carried over, as the calls made so far, and its
//!   variables are not.
//! - Calls of code that raised count; of code that was stopped (fuel, memory) there are none, and the state stays as it was.
//! - A response that holds no code costs a turn, and the next prompt says why.
//! - What code prints is shown up to a number of characters.
//! - A proposal with the instruction or the solution of a task that is measured is refused ([`crate::splits`]).
//!
//! # Invariants
//! An executor's prompt holds what the environment says of itself, the instruction, and what the policy itself did and saw:
//! never a state, a verification function, a solution, or an environment's source. A challenger, whose verification
//! function reads states, is shown the initial one. The same budget, responses and outcomes give the same moves.

mod again;
mod challenging;
mod config;
pub mod dialects;
mod drive;
mod episode;
mod executing;
mod held;
mod metrics;
mod pay;
mod records;
mod scoring;
mod state;
mod stepping;
mod tasks;

use veriplay_core::{CodeTask, Execute, Role};
use veriplay_verifier::environments::{ArtifactGate, ArtifactGateError};

use super::Game;
use crate::advantages::{self, AdvantageEstimator};
use crate::settings::ConfigError;
use crate::splits::{Guard, MeasuredSet, Overlap};
use dialects::Dialect;
use drive::Table;

pub use config::{ChallengerMode, GameConfig, LearnFrom, RewardName};
pub use dialects::Goal;
pub use drive::World;
pub use episode::{Budget, BudgetError, End, Episode, Move};
pub use held::HeldTask;
pub use metrics::{EpisodeMetrics, FILTERS, FilterYield, StepMetrics};
pub use pay::{ChallengeOutcome, Pay};
pub use records::{AttemptRecord, ChallengeRecord, EpisodeRecord, JudgedTask, Record, TaskRecord};
pub use state::{Entry, GameState};
pub use tasks::Source;

/// What is said of it in [`super::GAMES`].
pub const GAME: Game = Game {
    name: "self_challenge",
    about: "one policy makes tasks with verification functions in environments of tools, and does them by tool calls as code",
    roles: &[Role::Proposer, Role::Solver],
};

/// The game, set up. Holds no state: that is [`GameState`].
pub struct SelfChallenge {
    config: GameConfig,
    gate: ArtifactGate,
    worlds: Vec<World>,
    given: Vec<CodeTask>,
    held: Vec<HeldTask>,
    guard: Guard,
    dialect: &'static dyn Dialect,
    advantage: &'static dyn AdvantageEstimator,
    pay: Pay,
}

/// Why the game cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A key of the config.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A key of the gate.
    #[error(transparent)]
    Gate(#[from] ArtifactGateError),
    /// Nowhere to act.
    #[error("there is no environment; name one at least")]
    NoWorlds,
    /// Nothing to measure by.
    #[error("there is no held-out task to measure by: give at least one")]
    NothingHeld,
    /// A task in an environment there is not.
    #[error("task `{task_id}` is about environment `{environment}`, which is not among those given")]
    UnknownWorld {
        /// The task.
        task_id: String,
        /// Its environment.
        environment: String,
    },
    /// A task that is trained on and measured on.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// Neither tasks nor a way to make them.
    #[error("there are no given tasks, and the config makes none: set `challenges_per_step`")]
    Nothing,
}

impl SelfChallenge {
    /// Sets the game up. `given` tasks are asked beside those of challengers, and may be none; `held` is what it is measured on, and
    /// `guard` holds what it is measured on at other times.
    ///
    /// # Errors
    /// The first thing that has no meaning.
    ///
    /// # Panics
    /// Never: a validated config names a dialect and an advantage.
    pub fn new(
        config: GameConfig,
        gate: ArtifactGate,
        worlds: Vec<World>,
        given: Vec<CodeTask>,
        held: Vec<HeldTask>,
        mut guard: Guard,
    ) -> Result<Self, SetupError> {
        config.validate()?;
        gate.check()?;
        let dialect = dialects::by_name(&config.dialect).expect("a validated config names a dialect");
        let advantage = advantages::by_name(&config.advantage).expect("a validated config names an advantage");
        held.iter().for_each(|held| held.measured_by(&mut guard, MeasuredSet::HeldOut));
        let pay = Pay::new(config.reward);
        let game = Self { config, gate, worlds, given, held, guard, dialect, advantage, pay };
        game.check()?;
        Ok(game)
    }

    fn check(&self) -> Result<(), SetupError> {
        if self.worlds.is_empty() {
            return Err(SetupError::NoWorlds);
        }
        if self.held.is_empty() {
            return Err(SetupError::NothingHeld);
        }
        let known = |task: &CodeTask| self.worlds.iter().any(|world| world.environment.name == task.environment);
        let held = || self.held.iter().map(|held| &held.task);
        if let Some(task) = self.given.iter().chain(held()).find(|task| !known(task)) {
            let (task_id, environment) = (task.task_id.clone(), task.environment.clone());
            return Err(SetupError::UnknownWorld { task_id, environment });
        }
        for task in &self.given {
            let (data, item) = ("the given tasks", format!("task `{}`", task.task_id));
            self.guard.check_text(data, &item, &task.instruction)?;
            self.guard.check_program(data, &item, &task.solution)?;
        }
        let nothing = self.given.is_empty() && self.config.challenges_per_step == 0;
        if nothing { Err(SetupError::Nothing) } else { Ok(()) }
    }

    /// Its settings.
    #[must_use]
    pub const fn config(&self) -> &GameConfig {
        &self.config
    }

    fn table<'a>(&'a self, execute: &'a dyn Execute, seed: u64) -> Table<'a> {
        Table {
            execute,
            worlds: &self.worlds,
            dialect: self.dialect,
            budget: self.config.budget,
            image: &self.gate.image,
            limits: self.gate.limits,
            seed,
        }
    }
}
