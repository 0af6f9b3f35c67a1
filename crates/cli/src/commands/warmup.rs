//! `veriplay warmup`: makes a start model from a recipe.

use std::path::PathBuf;

use clap::{ArgMatches, Args};

use super::{Spec, arguments};
use crate::config::read_toml;
use crate::executor::Referee;
use crate::exit::Failure;
use crate::warmup::warm_up;
use crate::workers::Workers;

pub(super) const COMMAND: Spec =
    Spec::new::<Arguments>("warmup", "Train a tokenizer and a start model on executed programs", run);

#[derive(Debug, Args)]
struct Arguments {
    /// The recipe
    #[arg(long, value_name = "FILE", default_value = "configs/warmup.toml")]
    config: PathBuf,
    /// Directory of the checkpoint
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: Arguments = arguments(matches);
    let config = read_toml(&asked.config)?;
    let referee = Referee::open(Workers::Thread)?;
    warm_up(&config, &referee, &asked.out)
}
