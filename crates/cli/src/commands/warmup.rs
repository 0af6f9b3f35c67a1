//! `veriplay warmup`: makes a start model from a recipe.

use std::path::PathBuf;

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_run::config::read_text;
use veriplay_run::device::DeviceArguments;
use veriplay_run::play_config::PlayConfig;
use veriplay_run::warmup::{Recipe, audit, warm_up};
use veriplay_run::warmup_examples::WarmupExamples;

/// Train a tokenizer and a start model on executed programs
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Recipe file, or the name of a built-in one (`veriplay config list`)
    #[arg(long, value_name = "FILE", default_value = "warmup")]
    config: PathBuf,
    /// Directory of the checkpoint
    #[arg(long, value_name = "DIR", required_unless_present = "audit")]
    out: Option<PathBuf>,
    /// Train nothing, and list the examples that are trained on and contain what a run of this configuration evaluates on
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    run_for_named_in(&read_text(&args.config)?, &args.config, &args)
}

impl GameAction for &Arguments {
    type Output = ();

    fn run<T: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self;
        let recipe = Recipe::<T>::parse(&read_text(&args.config)?, &args.config, args.device)?;
        match (&args.audit, &args.out) {
            (Some(measuring), _) => audit(recipe, &PlayConfig::<T>::read(measuring)?.setup),
            (None, Some(out)) => warm_up(recipe, out),
            (None, None) => Err(Failure::message(ExitCode::Bug, "neither `--out` nor `--audit`")),
        }
    }
}
