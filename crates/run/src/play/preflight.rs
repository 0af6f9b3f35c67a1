//! What would keep a run from its first step, found out without starting one.

use std::path::PathBuf;

use veriplay_console::exit::Failure;
use veriplay_console::isolation::Isolation;
use veriplay_selfplay::environment::Environment;

use super::evaluation::Validation;
use super::open_learner::start_learner;
use super::session::refuse_sft;
use crate::game_setup::{EvalKeys, GameSetup, open_game};
use crate::model;
use crate::play_config::PlayConfig;
use crate::proposer::OtherProposer;
use crate::suites::SuiteMeasurements;

/// Opens what a run opens: the files of public sets, the start model on its device, and the game with its tasks and prompts. It samples
/// nothing, and starts neither a trainer nor a plug-in.
pub fn start_checks<S: GameSetup>(config: &PlayConfig<S>, workers: Isolation) -> [Result<(), Failure>; 3] {
    let suites = SuiteMeasurements::find(config.setup.eval().suite_schedule(), PathBuf::new(), workers).map(drop);
    let models = check_models(config);
    // The game guards what the sets ask: it would look for missing files again, and fetch in vain again.
    let game = if suites.is_ok() { check_game(config, workers) } else { Ok(()) };
    [suites, models, game]
}

/// The model that proposes first, as in a run, so that what is free for training is known.
fn check_models<S: GameSetup>(config: &PlayConfig<S>) -> Result<(), Failure> {
    let _other_proposer = OtherProposer::open(&config.run, config.setup.shared_settings())?;
    if model::is_external(&config.run.model) { Ok(()) } else { start_learner(config).map(drop) }
}

fn check_game<S: GameSetup>(config: &PlayConfig<S>, workers: Isolation) -> Result<(), Failure> {
    let (executor, game) = open_game(&config.setup, workers)?;
    Validation::open(&config.setup, workers, &game)?;
    if model::is_external(&config.run.model) {
        refuse_sft(game.game.settings())?;
    }
    game.preview(&executor)?;
    Ok(())
}
