//! `veriplay eval`: measures a model on the held-out or the validation set.

use std::path::PathBuf;

use clap::{ArgMatches, Args};

use veriplay_selfplay::games::absolute_zero::AbsoluteZero;

use super::{Spec, arguments};
use crate::config::{EvalSet, PlayConfig, read_toml};
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::model::Model;
use crate::workers::Workers;
use crate::{embedded, evaluate, progress, tasks};

pub(super) const COMMAND: Spec =
    Spec::new::<Arguments>("eval", "Measure a model: pass@1, greedy accuracy and pass@8 per task type", run);

#[derive(Debug, Args)]
struct Arguments {
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
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: Arguments = arguments(matches);
    let mut config: PlayConfig = match &asked.config {
        Some(path) => read_toml(path)?,
        None => toml::from_str(embedded::QUICKSTART).or_fail(ExitCode::Bug)?,
    };
    config.eval.set = asked.set.unwrap_or(config.eval.set);
    config.validate()?;
    let model = Model::open(&asked.model, &config.learn.learner_options())?;
    let referee = Referee::open(Workers::Thread)?;
    let tasks = tasks::eval_set(&config.tasks, &config.eval, &config.game, &config.gate, &referee)?;
    let seed = asked.seed.unwrap_or(config.tasks.eval_seed);
    let game = AbsoluteZero::new(config.game.clone()).or_fail(ExitCode::Input)?;
    let table = evaluate::evaluate(model.policy(), &game, &referee, &tasks, &config.eval, seed)?;
    if asked.json {
        progress::data(serde_json::to_string(&table).or_fail(ExitCode::Bug)?);
    } else {
        progress::data(evaluate::table_text(None, &table));
    }
    Ok(())
}
