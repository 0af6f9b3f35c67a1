//! The whole configuration of a run: what every run has, and the tables of its game. It is read strictly, resolved once, and written into
//! the run directory.

use std::path::Path;

use crate::config::{RunConfig, from_toml, read_text, refuse_renamed_keys, refuse_unknown_keys};
use crate::exit::Failure;
use crate::games::Setup;

/// The configuration of a run, as `configs/quickstart.toml` shows it: what every run has, and what its game has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayConfig<S> {
    /// What every run has.
    pub(crate) run: RunConfig,
    /// The tables of the game.
    pub(crate) setup: S,
}

impl<S: Setup> PlayConfig<S> {
    /// Reads a configuration strictly: an unknown or missing key is an error that names file, line and key. It is not validated.
    pub(crate) fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        refuse_renamed_keys(text, origin)?;
        let config = Self { run: from_toml(text, origin)?, setup: from_toml(text, origin)? };
        refuse_unknown_keys(text, origin, &[RunConfig::KEYS, S::TABLES].concat())?;
        Ok(config)
    }

    /// As [`PlayConfig::parse`], of a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&read_text(path)?, path)
    }

    /// The text that [`PlayConfig::parse`] reads.
    pub(crate) fn to_toml(&self) -> Result<String, toml::ser::Error> {
        // A game has tables alone, so they may follow the run's own.
        Ok(format!("{}\n{}", toml::to_string(&self.run)?, toml::to_string(&self.setup)?))
    }

    /// Checks what types cannot.
    pub(crate) fn validate(&self) -> Result<(), Failure> {
        self.run.validate()?;
        self.setup.validate(&self.run.learn)
    }
}
