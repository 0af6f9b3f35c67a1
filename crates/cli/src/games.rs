//! The games as the command line plays them: their configurations, and how each becomes a game in play.
//!
//! One file (with its submodules) a game; each is in [`GAMES`]. What a game asks, pays and keeps is in `veriplay_selfplay`; here are
//! its tables of the configuration file, its tasks, and its executor.

mod absolute_zero;
mod bug_repair;
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

use bug_repair::BugRepairSetup;
use self_challenge::SelfChallengeSetup;
use sol_ver::SolVerSetup;

use crate::commands::{eval, play, replay, warmup};
use crate::config::{LearnConfig, PlayConfig};
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure};
use crate::warmup::Teach;
use crate::workers::Workers;

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
    fn open(&self, workers: Workers) -> Result<(Referee, SelfPlay<Self::Game>), Failure>;
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

/// A game, and the commands on it.
pub(crate) struct GameEntry {
    /// The configuration's `plays`.
    pub(crate) name: &'static str,
    /// `veriplay play`.
    pub(crate) play: fn(&play::PlayArgs) -> Result<(), Failure>,
    /// `veriplay eval`.
    pub(crate) eval: fn(&eval::EvalArgs) -> Result<(), Failure>,
    /// `veriplay replay`.
    pub(crate) replay: fn(&replay::ReplayArgs) -> Result<(), Failure>,
    /// `veriplay warmup`.
    pub(crate) warm_up: fn(&warmup::WarmupArgs) -> Result<(), Failure>,
}

impl GameEntry {
    const fn new<S: Teach>() -> Self {
        Self {
            name: S::NAME,
            play: play::of::<S>,
            eval: eval::of::<S>,
            replay: replay::of::<S>,
            warm_up: warmup::of::<S>,
        }
    }
}

/// Every game that can be played.
pub(crate) const GAMES: &[GameEntry] = &[
    GameEntry::new::<AbsoluteZeroSetup>(),
    GameEntry::new::<BugRepairSetup>(),
    GameEntry::new::<SelfChallengeSetup>(),
    GameEntry::new::<SolVerSetup>(),
];

/// The game that the configuration in `text` names; `origin` says where it is from.
pub(crate) fn named_in(text: &str, origin: &Path) -> Result<&'static GameEntry, Failure> {
    let name = PlayConfig::<AbsoluteZeroSetup>::game_named_in(text, origin)?;
    GAMES.iter().find(|game| game.name == name).ok_or_else(|| {
        let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
        let what = format!("`{}`: configuration key `plays` is `{name}`, and there is no such game", origin.display());
        Failure::message(ExitCode::Input, what).hint(format!("the games are `{}`", names.join("`, `")))
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
