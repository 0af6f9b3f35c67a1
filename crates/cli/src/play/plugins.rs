//! Plug-ins: methods of a run that programs of the user's compute, `exec:COMMAND` in the configuration. `docs/plugins.md` describes the
//! lines they read and write; the Python package has the programs' side.
//!
//! A plug-in is one long-lived child ([`process`]), which is asked one question a step. Each question has a seed of its own, a function of the
//! run's seed, the step and the plug-in: a program that answers from the question alone gives the same run after it was resumed. Its answers
//! are in the run's records as what became of them, so nothing is asked again when a run is replayed.

mod curriculum;
mod messages;
mod process;
mod proposer_factor;
mod reward;

use std::time::Duration;

use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::external;

use self::curriculum::ExecCurriculum;
use self::process::Plugin;
use self::proposer_factor::ExecFactor;
use self::reward::ExecReward;
use crate::exit::Failure;

/// What every plug-in of a run is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PluginContext {
    /// The name of the game.
    pub(crate) game: &'static str,
    /// The run's seed.
    pub(crate) seed: u64,
    /// How long an answer may take.
    pub(crate) timeout: Duration,
}

/// Starts the programs that the game's settings name, and waits until they are ready.
pub(crate) fn connect<E: Environment>(game: &mut SelfPlay<E>, context: PluginContext) -> Result<(), Failure> {
    let settings = game.game.settings();
    let start = |key: &'static str, name: Option<&str>| {
        name.and_then(external::command).map(|command| Plugin::start(key, command, context)).transpose()
    };
    let reward = start("reward", settings.reward.as_deref())?;
    let curriculum = start("curriculum", Some(&settings.curriculum))?;
    let factor = start("proposer_factor", settings.proposer_factor.as_deref())?;
    if let Some(plugin) = reward {
        game.methods.reward = Box::new(ExecReward(plugin));
    }
    if let Some(plugin) = curriculum {
        game.methods.curriculum = Box::new(ExecCurriculum(plugin));
    }
    if let Some(plugin) = factor {
        game.methods.proposer_factor = Some(Box::new(ExecFactor(plugin)));
    }
    Ok(())
}
