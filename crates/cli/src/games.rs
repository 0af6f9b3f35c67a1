//! The games as the command line plays them: their configurations, and how each becomes a game in play.
//!
//! One file (with its submodules) a game; each is in the list of `games!`. Prompts, rewards and the task pool are in `veriplay_selfplay`; here
//! are a game's tables of the configuration file, its tasks, and its executor.

mod absolute_zero;
mod bug_repair;
pub(crate) mod examples;
mod self_challenge;
mod sol_ver;

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_corpus::Split;
use veriplay_learner::ModelConfig;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::splits::{MeasuredSet, Overlap};

pub(crate) use absolute_zero::AbsoluteZeroSetup;
pub(crate) use examples::Teach;

use bug_repair::BugRepairSetup;
use self_challenge::SelfChallengeSetup;
use sol_ver::SolVerSetup;

use crate::config::{LearnConfig, parse_game_name};
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure};
use crate::isolation::Isolation;

/// What a configuration says of one game, beside what every run has.
pub(crate) trait Setup: Serialize + DeserializeOwned + Sized {
    /// What it becomes.
    type Game: Environment;
    /// The configuration's `plays`.
    const NAME: &'static str;
    /// The tables that are the game's own.
    const TABLES: &'static [&'static str];

    /// Checks what types cannot.
    fn validate(&self, learn: &LearnConfig) -> Result<(), Failure>;

    /// What one step asks of the learner's memory, of a model of this shape.
    fn demand(&self, model: &ModelConfig) -> Demand;

    /// Which held-out set is measured.
    fn measure_on(&mut self, set: EvalSet);

    /// Seeds the samples of a measurement: the same for every run.
    fn eval_seed(&self) -> u64;

    /// Whether its pairs need the start model as a reference.
    fn needs_reference(&self) -> bool {
        false
    }

    /// What a step generates and runs, and what it pays, for people: a line each.
    fn describe_step(&self) -> Vec<String>;

    /// Opens the sandbox and makes the game in it.
    fn open(&self, workers: Isolation) -> Result<(Referee, SelfPlay<Self::Game>), Failure>;
}

/// What one step trains on, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Tokens of a step, prompts included; those of one prompt that several responses share count once.
    pub(crate) tokens: usize,
    /// Tokens of its longest response.
    pub(crate) longest: usize,
}

/// Which of the two held-out sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EvalSet {
    /// For claims. Nobody tunes on it.
    HeldOut,
    /// For tuning.
    Validation,
}

impl EvalSet {
    /// Both.
    pub(crate) const ALL: [EvalSet; 2] = [EvalSet::HeldOut, EvalSet::Validation];

    /// As the guard of splits names it.
    pub(crate) const fn measured(self) -> MeasuredSet {
        match self {
            EvalSet::HeldOut => MeasuredSet::HeldOut,
            EvalSet::Validation => MeasuredSet::Validation,
        }
    }
}

impl From<EvalSet> for Split {
    fn from(set: EvalSet) -> Self {
        match set {
            EvalSet::HeldOut => Self::HeldOut,
            EvalSet::Validation => Self::Validation,
        }
    }
}

/// Something that can be done with any game.
pub(crate) trait GameAction {
    /// Does it with this one.
    fn run<S: Teach>(self) -> Result<(), Failure>;
}

/// Defines [`GAMES`] and [`run_for`] from the list of games.
macro_rules! games {
    ($($setup:ident),* $(,)?) => {
        /// The names of all games that can be played: values of the configuration's `plays`.
        const GAMES: &[&str] = &[$($setup::NAME),*];

        /// Runs an action for the game of that name; `None` where there is no such game.
        fn run_for(name: &str, action: impl GameAction) -> Option<Result<(), Failure>> {
            match name {
                $($setup::NAME => Some(action.run::<$setup>()),)*
                _ => None,
            }
        }
    };
}

games!(AbsoluteZeroSetup, BugRepairSetup, SelfChallengeSetup, SolVerSetup);

/// Runs an action for the game that the configuration in `text` names; `origin` says where it is from.
pub(crate) fn run_for_named_in(text: &str, origin: &Path, action: impl GameAction) -> Result<(), Failure> {
    let name = parse_game_name(text, origin)?;
    run_for(&name, action).unwrap_or_else(|| {
        let what = format!("`{}`: configuration key `plays` is `{name}`, and there is no such game", origin.display());
        Err(Failure::message(ExitCode::Input, what).hint(format!("the games are `{}`", GAMES.join("`, `"))))
    })
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        let code = match &error {
            PlayError::Policy(_) => ExitCode::Model,
            PlayError::Host(_) => ExitCode::Host,
            PlayError::Setup(_) => ExitCode::Input,
            PlayError::Overlap(overlap) => return overlap.clone().into(),
        };
        Self::new(code, error)
    }
}

impl From<Overlap> for Failure {
    fn from(overlap: Overlap) -> Self {
        Self::new(ExitCode::Input, overlap).hint(Overlap::HINT)
    }
}
