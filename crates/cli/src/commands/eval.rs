//! `veriplay eval`: measures a model on the held-out or the validation set.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args};

use veriplay_selfplay::play::StepContext;

use super::{Spec, arguments};
use crate::config::{PlayConfig, read_text};
use crate::device::DeviceArguments;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::{EvalSet, Setup, named_in};
use crate::model::Model;
use crate::play::table_text;
use crate::workers::Workers;
use crate::{embedded, progress};

pub(super) const COMMAND: Spec =
    Spec::new::<EvalArgs>("eval", "Measure a model: pass@1, greedy accuracy and pass@8 per task type", run);

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Checkpoint directory in Hugging Face layout, `ORG/NAME` on the hub, `gguf:PATH`, `openai:URL#MODEL`, or `embedded:tiny`
    #[arg(long, value_name = "MODEL", default_value = embedded::TINY)]
    model: String,
    /// Configuration that says how to measure; the embedded quickstart when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which set, instead of the configuration's
    #[arg(long, value_enum)]
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

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: EvalArgs = arguments(matches);
    let (text, origin) = configuration(&asked)?;
    (named_in(&text, origin)?.eval)(&asked)
}

fn configuration(asked: &EvalArgs) -> Result<(String, &Path), Failure> {
    match &asked.config {
        Some(path) => Ok((read_text(path)?, path)),
        None => Ok((embedded::QUICKSTART.to_owned(), Path::new("quickstart.toml"))),
    }
}

/// Measures on the tasks of one game.
pub(crate) fn of<S: Setup>(asked: &EvalArgs) -> Result<(), Failure> {
    let (text, origin) = configuration(asked)?;
    let mut config = PlayConfig::<S>::parse(&text, origin)?;
    if let Some(set) = asked.set {
        config.setup.measure_on(set);
    }
    asked.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
    config.validate()?;
    let model = Model::open(&asked.model, &config.run.learn.learner_options())?;
    let (referee, game) = config.setup.open(Workers::Thread)?;
    let seed = asked.seed.unwrap_or(config.setup.eval_seed());
    let table = game.evaluate(&StepContext { policy: model.policy(), execute: &referee, seed })?;
    if asked.json {
        progress::data(serde_json::to_string(&table).or_fail(ExitCode::Bug)?);
    } else {
        progress::data(table_text(None, &table));
    }
    Ok(())
}
