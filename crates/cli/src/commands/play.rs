//! `veriplay play`: self-play, from a configuration or a run to resume.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{default_out, read_text};
use crate::device::{self, DeviceArguments};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::{GameAction, Setup, Teach, run_for_named_in};
use crate::isolation::Isolation;
use crate::play::{Session, report};
use crate::play_config::PlayConfig;
use crate::rundir::RunDir;
use crate::{memory, model, progress};

/// Run self-play and measure what it changed
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Configuration file [default: the built-in quickstart]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Run directory to create [default: `runs/NAME-seedN`]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Steps, instead of the configuration's
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    steps: Option<u64>,
    /// Seed, instead of the configuration's
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Continue this run directory from its last checkpoint
    #[arg(long, value_name = "DIR", conflicts_with_all = ["device", "precision"])]
    resume: Option<PathBuf>,
    /// Print what the configuration would do, without doing it: roles with real prompts, rewards, jobs a step, memory
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    #[command(flatten)]
    device: DeviceArguments,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object as the last line of stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: Arguments) -> Result<(), Failure> {
    let (text, origin) = configuration(&asked)?;
    run_for_named_in(&text, &origin, &asked)
}

impl GameAction for &Arguments {
    /// Plays one game.
    fn run<S: Teach>(self) -> Result<(), Failure> {
        let asked = self;
        let session = match &asked.resume {
            Some(dir) => Session::<S>::resume(dir, asked.workers)?,
            None => {
                let (text, origin) = configuration(asked)?;
                let config: PlayConfig<S> = resolved(asked, &text, &origin)?;
                if asked.dry_run {
                    return dry_run(&config, asked.workers);
                }
                device::check(&config.run.learn.learner_options())?;
                let out = asked.out.clone().unwrap_or_else(|| default_out(&origin, config.run.seed));
                Session::start(config, &out, asked.workers)?
            }
        };
        let summary = session.play()?;
        report(&summary, asked.json).or_fail(ExitCode::Bug)
    }
}

/// The text of the configuration, and where it is from.
fn configuration(asked: &Arguments) -> Result<(String, PathBuf), Failure> {
    match (&asked.resume, &asked.config) {
        (Some(dir), _) => {
            let path = RunDir::open(dir)?.path("config.toml");
            Ok((read_text(&path)?, path))
        }
        (None, Some(path)) => Ok((read_text(path)?, path.clone())),
        (None, None) => Ok((model::QUICKSTART.to_owned(), PathBuf::from("quickstart.toml"))),
    }
}

fn resolved<S: Setup>(asked: &Arguments, text: &str, origin: &Path) -> Result<PlayConfig<S>, Failure> {
    let mut config = PlayConfig::<S>::parse(text, origin)?;
    config.run.steps = asked.steps.unwrap_or(config.run.steps);
    config.run.seed = asked.seed.unwrap_or(config.run.seed);
    asked.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
    config.validate()?;
    Ok(config)
}

/// What a run of this configuration would do.
fn dry_run<S: Setup>(config: &PlayConfig<S>, workers: Isolation) -> Result<(), Failure> {
    let run = &config.run;
    progress::data(format!("game `{}`, {} steps from `{}`, seed {}", S::NAME, run.steps, run.model, run.seed));
    config.setup.describe_step().into_iter().for_each(progress::data);
    // A model that is not here yet is no reason to say nothing of the rest.
    match model::open_trainable(&run.model, &run.learn.learner_options()) {
        Ok(learner) => {
            let demand = config.setup.demand(learner.config());
            progress::data(memory::describe(&learner, &demand));
        }
        Err(failure) => progress::data(format!("memory: not known, the model cannot be opened here: {failure}")),
    }
    let (referee, game) = config.setup.open(workers)?;
    for (what, prompt) in game.preview(&referee)? {
        progress::data(format!("--- {what}\n{}", prompt.text));
    }
    Ok(())
}
