//! The configuration of a run: the settings of every run and the tables of its game. It is parsed strictly, resolved once, and written into
//! the run directory.

use std::path::Path;

use crate::config::{RunConfig, from_toml, read_text, refuse_renamed_keys, refuse_unknown_keys};
use crate::exit::{ExitCode, Failure};
use crate::games::GameSetup;

/// The configuration of a run, such as `configs/quickstart.toml`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayConfig<S> {
    /// The settings of every run.
    pub(crate) run: RunConfig,
    /// The tables of the game.
    pub(crate) setup: S,
}

impl<S: GameSetup> PlayConfig<S> {
    /// Reads a configuration strictly: an unknown or missing key is an error that names file, line and key. It is not validated.
    pub(crate) fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        refuse_renamed_keys(text, origin)?;
        refuse_recipe(text, origin)?;
        // Before missing keys, because a misspelt key is both.
        refuse_unknown_keys(text, origin, &[RunConfig::KEYS, S::TABLES].concat())?;
        Ok(Self { run: from_toml(text, origin)?, setup: from_toml(text, origin)? })
    }

    /// As [`PlayConfig::parse`], of a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&read_text(path)?, path)
    }

    /// The text that [`PlayConfig::parse`] reads.
    pub(crate) fn to_toml(&self) -> Result<String, toml::ser::Error> {
        // A game has only tables, so they can follow the run's own keys.
        Ok(format!("{}\n{}", toml::to_string(&self.run)?, toml::to_string(&self.setup)?))
    }

    /// Validates the values.
    pub(crate) fn validate(&self) -> Result<(), Failure> {
        self.run.validate()?;
        self.setup.suite_schedule().validate()?;
        self.setup.validate(&self.run.learn)
    }
}

/// Refuses a recipe of `veriplay warmup`, whose `[model]` is a table.
fn refuse_recipe(text: &str, origin: &Path) -> Result<(), Failure> {
    let tables: toml::Table = from_toml(text, origin)?;
    if !tables.get("model").is_some_and(toml::Value::is_table) {
        return Ok(());
    }
    let what = format!("`{}` is a recipe for warming up a model, not a configuration of a game", origin.display());
    Err(Failure::message(ExitCode::Input, what).hint("run it with `veriplay warmup --config FILE`"))
}

#[cfg(test)]
mod tests {
    use super::PlayConfig;
    use crate::games::AbsoluteZeroSetup;
    use crate::model::QUICKSTART;

    #[test]
    fn errors_name_a_misspelt_key_and_a_recipe() {
        let parse = |text: &str| PlayConfig::<AbsoluteZeroSetup>::parse(text, "x.toml".as_ref());
        assert!(parse(QUICKSTART).is_ok());
        let cases = [
            (QUICKSTART.replacen("seed = 1", "sead = 1", 1), "unknown key `sead`"),
            (QUICKSTART.replacen("[game]", "[gmae]", 1), "unknown key `gmae`"),
            (include_str!("../../../configs/warmup.toml").to_owned(), "veriplay warmup"),
        ];
        for (text, want) in cases {
            let failure = parse(&text).expect_err(want).to_string();
            assert!(failure.contains(want), "{failure}");
        }
    }
}
