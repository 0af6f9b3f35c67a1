//! `veriplay warmup`: makes a start model from a recipe.

use std::path::PathBuf;

use clap::{ArgMatches, Args};

use super::{Spec, arguments};
use crate::config::{PlayConfig, read_text};
use crate::device::DeviceArguments;
use crate::exit::{ExitCode, Failure};
use crate::games::named_in;
use crate::warmup::{Recipe, Teach, audit, warm_up};

pub(super) const COMMAND: Spec =
    Spec::new::<WarmupArgs>("warmup", "Train a tokenizer and a start model on executed programs", run);

#[derive(Debug, Args)]
pub(crate) struct WarmupArgs {
    /// The recipe
    #[arg(long, value_name = "FILE", default_value = "configs/warmup.toml")]
    config: PathBuf,
    /// Directory of the checkpoint
    #[arg(long, value_name = "DIR", required_unless_present = "audit")]
    out: Option<PathBuf>,
    /// Train nothing: say which examples hold what a run of this configuration measures
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: WarmupArgs = arguments(matches);
    (named_in(&read_text(&asked.config)?, &asked.config)?.warm_up)(&asked)
}

/// Makes a start model for one game.
pub(crate) fn of<T: Teach>(asked: &WarmupArgs) -> Result<(), Failure> {
    let recipe = Recipe::<T>::parse(&read_text(&asked.config)?, &asked.config)?;
    match (&asked.audit, &asked.out) {
        (Some(measuring), _) => audit(&recipe, &PlayConfig::<T>::read(measuring)?.setup),
        (None, Some(out)) => warm_up(recipe.on(asked.device)?, out),
        (None, None) => Err(Failure::message(ExitCode::Bug, "neither `--out` nor `--audit`")),
    }
}
