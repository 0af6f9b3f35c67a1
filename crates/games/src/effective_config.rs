//! The effective configuration of a run: every key with its value, as the run would have it or has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_run::config::read_text;
use veriplay_run::play_config::PlayConfig;
use veriplay_run::rundir::RunDir;
use veriplay_run::warmup_examples::WarmupExamples;

use crate::{GameAction, run_for_named_in};

/// A configuration with all defaults filled in.
pub struct EffectiveConfig {
    /// As `play --config` reads it.
    toml: String,
    /// The same as an object, in which keys that are not set are null.
    pub json: Map<String, Value>,
}

/// A key whose values differ. Keys that are not set, or that only the other game has, are `None`.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    key: String,
    a: Option<Value>,
    b: Option<Value>,
}

impl EffectiveConfig {
    /// Parses a configuration. `origin` says where it is from.
    pub fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        run_for_named_in(text, origin, Resolve { text, origin, is_validated: true })
    }

    /// Parses the configuration of a run. It was valid where the run began: what it names may be missing on this machine.
    pub fn parse_of_run(text: &str, origin: &Path) -> Result<Self, Failure> {
        run_for_named_in(text, origin, Resolve { text, origin, is_validated: false })
    }

    /// Reads a configuration file, a run directory's, or a built-in one.
    pub fn read(source: &Path) -> Result<Self, Failure> {
        let path = configuration_path(source)?;
        Self::parse(&read_text(&path)?, &path)
    }

    /// The text of a configuration file, with a comment that says which keys are not set.
    pub fn to_toml(&self) -> String {
        let mut unset = Vec::new();
        visit(&self.json, "", &mut |key, value| {
            if value.is_null() {
                unset.push(format!("# not set: {key}\n"));
            }
        });
        format!("# Every key with its value, defaults included.\n{}\n{}", unset.concat(), self.toml)
    }

    /// The keys whose values differ, by name.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (a, b) = (self.values(), other.values());
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        let differing = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
        differing.map(|key| Difference { key: key.clone(), a: a.get(key).cloned(), b: b.get(key).cloned() }).collect()
    }

    /// The values of all keys that are set, by the keys' paths.
    fn values(&self) -> BTreeMap<String, Value> {
        let mut values = BTreeMap::new();
        visit(&self.json, "", &mut |key, value| {
            if !value.is_null() {
                values.insert(key, value.clone());
            }
        });
        values
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "not set".to_owned(), Value::to_string);
        write!(f, "{}: {} -> {}", self.key, text(&self.a), text(&self.b))
    }
}

/// The file of a configuration that is named by itself or by its run directory.
pub fn configuration_path(source: &Path) -> Result<PathBuf, Failure> {
    if source.is_dir() { Ok(RunDir::open(source)?.path("config.toml")) } else { Ok(source.to_owned()) }
}

/// Visits every key that is no table, with its path.
fn visit(table: &Map<String, Value>, prefix: &str, visitor: &mut impl FnMut(String, &Value)) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(inner) => visit(inner, &key, visitor),
            value => visitor(key, value),
        }
    }
}

/// Parses the configuration of one game.
struct Resolve<'a> {
    text: &'a str,
    origin: &'a Path,
    is_validated: bool,
}

impl GameAction for Resolve<'_> {
    type Output = EffectiveConfig;

    fn run<S: WarmupExamples>(self) -> Result<EffectiveConfig, Failure> {
        let config = PlayConfig::<S>::parse(self.text, self.origin)?;
        if self.is_validated {
            config.validate()?;
        }
        Ok(EffectiveConfig {
            toml: config.to_toml().or_fail(ExitCode::Bug)?,
            json: config.to_json().or_fail(ExitCode::Bug)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::EffectiveConfig;
    use veriplay_run::builtin_configs::{BUILTIN_CONFIGS, QUICKSTART};
    use veriplay_run::play_config::is_recipe;

    fn parse(text: &str) -> EffectiveConfig {
        EffectiveConfig::parse(text, Path::new("x.toml")).unwrap_or_else(|failure| panic!("{failure}\n{text}"))
    }

    #[test]
    fn what_is_shown_of_a_configuration_is_the_same_configuration_with_every_key() {
        let is_play = |text: &str| !is_recipe(text, Path::new("x.toml")).expect("it is TOML");
        for config in BUILTIN_CONFIGS.iter().filter(|config| is_play(config.text)) {
            let written = parse(config.text);
            let shown = written.to_toml();
            assert!(written.differences(&parse(&shown)).is_empty(), "{}", config.name);
            assert_eq!(shown, parse(&shown).to_toml(), "{}", config.name);
            // Keys that most files leave out.
            let keys = written.values();
            for key in ["plays", "tensorboard", "learn.epochs", "learn.loss.kind", "game.top_k", "game.curriculum"] {
                assert!(keys.contains_key(key), "`{key}` is missing for {}", config.name);
                let (_, name) = key.rsplit_once('.').unwrap_or(("", key));
                assert!(shown.contains(&format!("{name} = ")), "`{key}` is not shown for {}", config.name);
            }
            let trains_adapters = keys.keys().any(|key| key.starts_with("learn.lora."));
            assert_eq!(shown.contains("# not set: learn.lora\n"), !trains_adapters, "{shown}");
        }
    }

    #[test]
    fn differences_are_of_effective_values() {
        let quickstart = parse(QUICKSTART);
        // A default that is written out, and a number in another notation.
        let same = QUICKSTART.replacen("# tensorboard = false", "tensorboard = false", 1);
        assert_ne!(same, QUICKSTART);
        assert!(quickstart.differences(&parse(&same)).is_empty());
        let other = QUICKSTART.replacen("steps = 600", "steps = 7\ntensorboard = true", 1)
            + "\n[learn.kl]\ncoefficient = 0.5\nestimator = \"k3\"\nplace = \"loss\"\n";
        let lines: Vec<String> = quickstart.differences(&parse(&other)).iter().map(ToString::to_string).collect();
        let want = [
            "learn.kl.coefficient: not set -> 0.5",
            "learn.kl.estimator: not set -> \"k3\"",
            "learn.kl.place: not set -> \"loss\"",
            "steps: 600 -> 7",
            "tensorboard: false -> true",
        ];
        assert_eq!(lines, want);
    }
}
