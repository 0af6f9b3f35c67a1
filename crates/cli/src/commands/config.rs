//! `veriplay config`: writes, shows, checks and compares configurations.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::write_new_file;
use veriplay_console::progress::{self, shell_word};
use veriplay_core::SCHEMA_VERSION;
use veriplay_games::effective_config::{Difference, EffectiveConfig, configuration_path};
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_run::builtin_configs::{self, BUILTIN_CONFIGS, BuiltinConfig};
use veriplay_run::config::{from_toml, parse_game_name, read_with_settings};
use veriplay_run::device::DeviceArguments;
use veriplay_run::named_files::NamedFile;
use veriplay_run::play::start_checks;
use veriplay_run::play_config::{PlayConfig, is_recipe};
use veriplay_run::warmup::Recipe;
use veriplay_run::warmup_examples::WarmupExamples;

use super::print;

/// Write, show, check or compare configurations
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Write a built-in configuration or recipe, with its comments, to a new file
    Init {
        /// A game, for its quickstart, or a name that `veriplay config list` prints
        #[arg(value_name = "GAME|NAME", default_value = "quickstart")]
        name: String,
        /// File to make; `-` is standard output. A file that is there is never overwritten [default: NAME.toml]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List the built-in configurations and recipes
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print every key with its value, defaults included, as a configuration file that gives the same run
    Show {
        #[command(flatten)]
        source: Source,
        /// Print one JSON object, in which keys that are not set are null
        #[arg(long)]
        json: bool,
    },
    /// Report the errors that `play` would give before its first step, or `warmup` for a recipe, without starting a run
    Validate {
        #[command(flatten)]
        source: Source,
        /// Check only keys and values; open no model, task or sandbox
        #[arg(long)]
        keys_only: bool,
    },
    /// List the keys whose effective values differ. Exits with 0 if there are none, else with 1
    Diff {
        /// A configuration file, a run directory, or the name of a built-in configuration
        a: PathBuf,
        /// The other one
        b: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Source {
    /// Configuration file, run directory, or the name of a built-in configuration [default: quickstart]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Another value of a key, such as `learn.learning_rate=1e-4`; `~KEY` takes a key or a table out, such as `~learn.kl`.
    /// May be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl Source {
    /// The text of the configuration, and what errors call it.
    fn read(&self) -> Result<(String, PathBuf), Failure> {
        let path = self.config.as_deref().map(configuration_path).transpose()?;
        read_with_settings(path.as_deref(), &self.settings)
    }
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    match args.action {
        ConfigCommand::Init { name, out } => init(&name, out),
        ConfigCommand::List { json } => list(json),
        ConfigCommand::Show { source, json } => show(&source, json),
        ConfigCommand::Validate { source, keys_only } => validate(&source, keys_only),
        ConfigCommand::Diff { a, b, json } => diff(&a, &b, json),
    }
}

fn init(name: &str, out: Option<PathBuf>) -> Result<(), Failure> {
    let config = builtin_configs::find(name).ok_or_else(|| {
        let what = format!("there is no built-in configuration `{name}`");
        Failure::message(ExitCode::Input, what).hint("`veriplay config list` prints their names")
    })?;
    let path = out.unwrap_or_else(|| format!("{}.toml", config.name).into());
    if path == Path::new("-") {
        progress::data(config.text.trim_end());
        return Ok(());
    }
    write_new_file(&path, config.text).map_err(|failure| failure.hint("name a new file with --out"))?;
    progress::data(path.display());
    let word = shell_word(&path);
    if is_recipe(config.text, &path)? {
        progress::say(format!("use it with `veriplay warmup --config {word}`"));
        return Ok(());
    }
    let missing = run_for_named_in(config.text, &path, FindMissing { text: config.text, origin: &path })?;
    missing.iter().for_each(|file| progress::say(format!("missing: {file}")));
    let before = if missing.is_empty() { "" } else { ", once nothing of that is missing" };
    progress::say(format!("use it with `veriplay play --config {word}`{before}"));
    Ok(())
}

struct FindMissing<'a> {
    text: &'a str,
    origin: &'a Path,
}

impl GameAction for FindMissing<'_> {
    type Output = Vec<NamedFile>;

    fn run<S: WarmupExamples>(self) -> Result<Vec<NamedFile>, Failure> {
        let files = PlayConfig::<S>::parse(self.text, self.origin)?.setup.named_files()?;
        Ok(files.into_iter().filter(NamedFile::is_missing).collect())
    }
}

#[derive(Serialize)]
struct ListedConfig {
    name: &'static str,
    /// `configuration`, of `play`, or `recipe`, of `warmup`.
    kind: &'static str,
    game: String,
    /// The start model; none for a recipe that begins with random weights.
    model: Option<String>,
}

impl ListedConfig {
    fn new(config: &BuiltinConfig) -> Result<Self, Failure> {
        let (name, text, origin) = (config.name, config.text, Path::new(config.name));
        let keys: toml::Table = from_toml(text, origin)?;
        Ok(Self {
            name,
            kind: if is_recipe(text, origin)? { "recipe" } else { "configuration" },
            game: parse_game_name(text, origin)?,
            model: keys.get("model").and_then(toml::Value::as_str).map(str::to_owned),
        })
    }

    fn text(&self) -> String {
        let Self { name, kind, game, model } = self;
        format!("{name:<25} {kind:<14} {game:<15} {}", model.as_deref().unwrap_or("random weights"))
    }
}

fn list(json: bool) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Listing {
        schema_version: u32,
        configurations: Vec<ListedConfig>,
    }
    let configurations = BUILTIN_CONFIGS.iter().map(ListedConfig::new).collect::<Result<Vec<_>, _>>()?;
    let listing = Listing { schema_version: SCHEMA_VERSION, configurations };
    print(&listing, json, || listing.configurations.iter().map(ListedConfig::text).collect::<Vec<_>>().join("\n"))
}

fn show(source: &Source, json: bool) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Shown<'a> {
        schema_version: u32,
        config: &'a Map<String, Value>,
    }
    let (text, origin) = source.read()?;
    let config = EffectiveConfig::parse(&text, &origin)?;
    let shown = Shown { schema_version: SCHEMA_VERSION, config: &config.json };
    print(&shown, json, || config.to_toml().trim_end().to_owned())
}

fn validate(source: &Source, keys_only: bool) -> Result<(), Failure> {
    let (text, origin) = source.read()?;
    let failures = run_for_named_in(&text, &origin, Check { text: &text, origin: &origin, keys_only })?;
    progress::report_failures(&failures)?;
    progress::data(format!("{}: valid", origin.display()));
    Ok(())
}

struct Check<'a> {
    text: &'a str,
    origin: &'a Path,
    keys_only: bool,
}

impl GameAction for Check<'_> {
    type Output = Vec<Failure>;

    fn run<S: WarmupExamples>(self) -> Result<Vec<Failure>, Failure> {
        let Self { text, origin, keys_only } = self;
        if is_recipe(text, origin)? {
            let recipe = Recipe::<S>::parse(text, origin, DeviceArguments::default())?;
            return Ok(if keys_only { Vec::new() } else { failures(recipe.start_checks()) });
        }
        let config = PlayConfig::<S>::parse(text, origin)?;
        let wrong = failures(config.checks());
        Ok(if keys_only || !wrong.is_empty() { wrong } else { failures(start_checks(&config, Isolation::Thread)) })
    }
}

fn failures(checks: impl IntoIterator<Item = Result<(), Failure>>) -> Vec<Failure> {
    checks.into_iter().filter_map(Result::err).collect()
}

fn diff(a: &Path, b: &Path, json: bool) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Diff<'a> {
        schema_version: u32,
        equal: bool,
        differences: &'a [Difference],
    }
    let differences = EffectiveConfig::read(a)?.differences(&EffectiveConfig::read(b)?);
    let equal = differences.is_empty();
    if json {
        let diff = Diff { schema_version: SCHEMA_VERSION, equal, differences: &differences };
        print(&diff, json, String::new)?;
    } else {
        differences.iter().for_each(progress::data);
    }
    if equal { Ok(()) } else { Err(Failure::silent(ExitCode::DIFFERENT)) }
}
