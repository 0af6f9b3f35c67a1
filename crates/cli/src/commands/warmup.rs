//! `veriplay warmup`: makes a start model from a recipe.

use std::path::PathBuf;

use clap::{ArgMatches, Args};

use super::{Spec, arguments};
use crate::config::read_text;
use crate::device::DeviceArguments;
use crate::exit::Failure;
use crate::games::named_in;
use crate::warmup::{Recipe, Teach, warm_up};

pub(super) const COMMAND: Spec =
    Spec::new::<Asked>("warmup", "Train a tokenizer and a start model on executed programs", run);

#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// The recipe
    #[arg(long, value_name = "FILE", default_value = "configs/warmup.toml")]
    config: PathBuf,
    /// Directory of the checkpoint
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: Asked = arguments(matches);
    (named_in(&read_text(&asked.config)?, &asked.config)?.warm_up)(&asked)
}

/// Makes a start model for one game.
pub(crate) fn of<T: Teach>(asked: &Asked) -> Result<(), Failure> {
    warm_up(Recipe::<T>::parse(&read_text(&asked.config)?, &asked.config)?.on(asked.device)?, &asked.out)
}
