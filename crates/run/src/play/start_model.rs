//! The start model of a run whose steps each train it anew (`game.train_from = "start"`).
//!
//! Called by the session. Invariant: every step begins with the weights that the first began with, in a resumed run too, whatever the model's name
//! means by then.

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_learner::{Learner, LearnerOptions};

use crate::game_setup::GameSetup;
use crate::model::FoundModel;
use crate::play_config::PlayConfig;

/// The start model, found once.
pub(super) struct StartModel {
    found: FoundModel,
    /// Digest of its weights.
    digest: String,
}

impl StartModel {
    /// Finds it; `None` where steps do not begin with it. `recorded` is the digest of the weights that earlier steps began with.
    pub(super) fn find<S: GameSetup>(config: &PlayConfig<S>, recorded: Option<&str>) -> Result<Option<Self>, Failure> {
        if !config.setup.trains_from_start() {
            return Ok(None);
        }
        let name = &config.run.model;
        let found = FoundModel::find_trainable(name)?;
        let digest = found.hash_weights()?;
        match recorded.filter(|recorded| *recorded != digest) {
            None => Ok(Some(Self { found, digest })),
            Some(recorded) => {
                let what = format!(
                    "the start model `{name}` has weights of digest {digest}, and the run's steps began with those of {recorded}"
                );
                Err(Failure::message(ExitCode::Input, what)
                    .hint("let `model` in the run's `config.toml` name the directory with the earlier weights"))
            }
        }
    }

    /// Opens it.
    pub(super) fn open(&self, options: &LearnerOptions) -> Result<Learner, Failure> {
        self.found.open(options)
    }

    /// The digest of its weights, which a checkpoint keeps.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }
}
