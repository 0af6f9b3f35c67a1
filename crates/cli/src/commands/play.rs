//! `veriplay play`: self-play, from a configuration or a run to resume.

use std::path::PathBuf;

use clap::{ArgMatches, Args};

use super::{Spec, arguments};
use crate::config::{PlayConfig, default_out, read_toml};
use crate::embedded;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::play::{Session, report};
use crate::workers::Workers;

pub(super) const COMMAND: Spec = Spec::new::<Arguments>("play", "Run self-play and measure what it changed", run);

/// Without options: the quickstart, on the embedded model.
#[derive(Debug, Args)]
struct Arguments {
    /// Configuration file; the embedded quickstart when left out
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Run directory to make; `runs/NAME-seedN` when left out
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Steps, instead of the configuration's
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    steps: Option<u64>,
    /// Seed, instead of the configuration's
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Continue this run directory from its last checkpoint
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Workers,
    /// Print one JSON object as the last line of stdout
    #[arg(long)]
    json: bool,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: Arguments = arguments(matches);
    let session = match &asked.resume {
        Some(dir) => Session::resume(dir, asked.workers)?,
        None => {
            let path = asked.config.clone().unwrap_or_else(|| PathBuf::from("quickstart.toml"));
            let config = resolved(&asked)?;
            let out = asked.out.clone().unwrap_or_else(|| default_out(&path, config.seed));
            Session::start(config, &out, asked.workers)?
        }
    };
    let summary = session.play()?;
    report(&summary, asked.json).or_fail(ExitCode::Bug)
}

fn resolved(asked: &Arguments) -> Result<PlayConfig, Failure> {
    let mut config: PlayConfig = match &asked.config {
        Some(path) => read_toml(path)?,
        None => toml::from_str(embedded::QUICKSTART).or_fail(ExitCode::Bug)?,
    };
    config.steps = asked.steps.unwrap_or(config.steps);
    config.seed = asked.seed.unwrap_or(config.seed);
    config.validate()?;
    Ok(config)
}
