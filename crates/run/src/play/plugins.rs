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

use std::path::Path;
use std::time::Duration;

use veriplay_console::exit::Failure;
use veriplay_console::progress;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::external;
use veriplay_selfplay::methods::Method;
use veriplay_selfplay::settings::SharedSettings;

use self::process::Plugin;

const REWARD: &str = "reward";
const CURRICULUM: &str = "curriculum";
const PROPOSER_FACTOR: &str = "proposer_factor";

/// What every plug-in of a run is started with.
#[derive(Debug, Clone, Copy)]
pub struct PluginContext {
    /// The name of the game.
    pub game: &'static str,
    /// The run's seed.
    pub seed: u64,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// The keys of `[game]` that name a program, with its command.
fn commands(settings: &SharedSettings) -> impl Iterator<Item = (&'static str, &str)> {
    let named = [(REWARD, settings.reward.as_deref()), (CURRICULUM, Some(settings.curriculum.as_str()))];
    let factors = settings.proposer_factor().iter().map(|name| (PROPOSER_FACTOR, Some(name.as_str())));
    named.into_iter().chain(factors).filter_map(|(key, name)| Some((key, external::command(name?)?)))
}

/// The plug-ins of a run, as `--dry-run` prints them.
pub fn describe(settings: &SharedSettings) -> impl Iterator<Item = String> {
    commands(settings).map(|(key, command)| format!("plug-in `game.{key}`: `{command}`, which a run starts"))
}

/// What to do about a plug-in that has failed at a step of the run in `run`.
pub fn hint(run: &Path) -> String {
    format!(
        "mend the program, or its keys in `{}`, and continue with `veriplay play --resume {}`; the page \"Plug-ins in Python, and your own trainer\" of the documentation says what it may answer",
        run.join("config.toml").display(),
        progress::shell_word(run)
    )
}

/// Starts the programs that the game's settings name, and waits until they are ready.
pub fn connect<E: Environment>(game: &mut SelfPlay<E>, context: PluginContext) -> Result<(), Failure> {
    for (key, command) in commands(game.game.settings()) {
        let plugin = Plugin::start(key, command, context)?;
        match key {
            REWARD => game.methods.reward = Method::Own(Box::new(plugin)),
            CURRICULUM => game.methods.curriculum = Method::Own(Box::new(plugin)),
            _ => {
                let mut names = game.game.settings().proposer_factor().iter();
                let place = names.position(|name| external::command(name) == Some(command));
                if let Some(factor) = place.and_then(|place| game.methods.proposer_factors.get_mut(place)) {
                    *factor = Method::Own(Box::new(plugin));
                }
            }
        }
    }
    Ok(())
}
