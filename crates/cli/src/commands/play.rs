//! `veriplay play`: self-play, from a configuration or a run to resume.

use std::path::{Path, PathBuf};

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::limits::at_least_one;
use veriplay_console::progress::{self, counted};
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_learner::ModelConfig;
use veriplay_run::config::{default_out, read_text, read_with_settings};
use veriplay_run::device::{self, DeviceArguments};
use veriplay_run::game_setup::{EvalKeys, GameSetup, open_game};
use veriplay_run::play::{Session, Validation, plugins, report};
use veriplay_run::play_config::PlayConfig;
use veriplay_run::rollout_server::RolloutServerConfig;
use veriplay_run::rundir::RunDir;
use veriplay_run::step_time::{self, Card};
use veriplay_run::suites::SuiteMeasurements;
use veriplay_run::warmup_examples::WarmupExamples;
use veriplay_run::{memory, model, proposer};

/// Run self-play and measure what it changed
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Configuration file, or the name of a built-in one (`veriplay config list`) [default: quickstart]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Run directory to create [default: `runs/NAME-seedN`]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Steps, instead of the configuration's. With --resume: play on to this step
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>())]
    steps: Option<u64>,
    /// Seed, instead of the configuration's
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Start model, instead of the configuration's
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    model: Option<String>,
    /// Any other key of the configuration, such as `learn.learning_rate=1e-4`; `~KEY` takes a key or a table out, such as `~learn.kl`.
    /// May be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "resume")]
    settings: Vec<String>,
    /// Continue this run directory from its last checkpoint
    #[arg(long, value_name = "DIR", conflicts_with_all = ["device", "precision"])]
    resume: Option<PathBuf>,
    /// Print what the configuration would do, without doing it: roles with real prompts, rewards, jobs a step, memory
    #[arg(long, conflicts_with_all = ["resume", "json"])]
    dry_run: bool,
    /// With --dry-run: estimate the time of a run on this card, from measurements: `h100`
    #[arg(long, value_name = "CARD", requires = "dry_run", value_parser = step_time::parse_card)]
    card: Option<Card>,
    #[command(flatten)]
    device: DeviceArguments,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object as the last line of stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let (text, origin) = configuration(&args)?;
    run_for_named_in(&text, &origin, &args)
}

impl GameAction for &Arguments {
    type Output = ();

    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self;
        let session = match &args.resume {
            Some(dir) => Session::<S>::resume(dir, args.steps, args.workers)?,
            None => {
                let (text, origin) = configuration(args)?;
                let config: PlayConfig<S> = resolved(args, &text, &origin)?;
                if args.dry_run {
                    return dry_run(&config, args.workers, args.card);
                }
                if !model::is_external(&config.run.model) {
                    device::check(&config.run.learn.learner_options())?;
                }
                let out = args.out.clone().unwrap_or_else(|| default_out(args.config.as_deref(), config.run.seed));
                Session::start(config, &out, args.workers)?
            }
        };
        let is_external = session.is_external();
        let summary = session.play()?;
        // An external trainer has had it as the last message.
        if is_external { Ok(()) } else { report(&summary, args.json).or_fail(ExitCode::Bug) }
    }
}

/// The text of the configuration, and where it is from.
fn configuration(args: &Arguments) -> Result<(String, PathBuf), Failure> {
    match (&args.resume, &args.config) {
        (Some(dir), _) => {
            let path = RunDir::open(dir)?.path("config.toml");
            Ok((read_text(&path)?, path))
        }
        (None, path) => read_with_settings(path.as_deref(), &args.settings),
    }
}

fn resolved<S: GameSetup>(args: &Arguments, text: &str, origin: &Path) -> Result<PlayConfig<S>, Failure> {
    let mut config = PlayConfig::<S>::parse(text, origin)?;
    config.run.steps = args.steps.unwrap_or(config.run.steps);
    config.run.seed = args.seed.unwrap_or(config.run.seed);
    config.run.model = args.model.clone().unwrap_or(config.run.model);
    args.device.apply(&mut config.run.learn.device, &mut config.run.learn.precision);
    config.validate()?;
    Ok(config)
}

fn dry_run<S: GameSetup>(config: &PlayConfig<S>, workers: Isolation, card: Option<Card>) -> Result<(), Failure> {
    card.map_or(Ok(()), |_| step_time::check(config))?;
    let run = &config.run;
    let steps = counted(run.steps, "step");
    progress::data(format!("game `{}`, {steps} from `{}`, seed {}", S::NAME, run.model, run.seed));
    config.setup.describe_step().into_iter().for_each(progress::data);
    proposer::describe(run, config.setup.shared_settings()).into_iter().for_each(progress::data);
    config.describe_roles().into_iter().for_each(progress::data);
    let describe = |server: &RolloutServerConfig| server.describe(run.learn.trains_adapters());
    run.rollout_server.iter().map(describe).for_each(progress::data);
    if run.steps_ahead > 0 {
        progress::data(
            "each step is sampled while the one before it trains, but for the first, those behind a checkpoint and those with an evaluation behind them",
        );
    }
    plugins::describe(config.setup.shared_settings()).for_each(progress::data);
    let suites = config.setup.eval().suite_schedule();
    SuiteMeasurements::find(suites, PathBuf::new(), workers)?;
    suites.describe().into_iter().for_each(progress::data);
    if let Some(every) = config.setup.eval().tasks_every() {
        progress::data(format!("the validation set: every {}", counted(every, "step")));
    }
    // A model that cannot be opened is no reason to keep the prompts back.
    let memory = describe_memory(config, card);
    match &memory {
        Ok(lines) => lines.iter().for_each(progress::data),
        Err(_) => progress::data("memory: not known, the model cannot be opened"),
    }
    // In the order in which a run needs them.
    let failures = [memory.map(drop), print_prompts(config, workers)].into_iter().filter_map(Result::err);
    progress::report_failures(&failures.collect::<Vec<_>>())
}

fn print_prompts<S: GameSetup>(config: &PlayConfig<S>, workers: Isolation) -> Result<(), Failure> {
    let (executor, game) = open_game(&config.setup, workers)?;
    Validation::open(&config.setup, workers, &game)?;
    progress::say("making a prompt of each role");
    for (what, prompt) in game.preview(&executor)? {
        progress::data(format!("--- {what}\n{}", prompt.text()));
    }
    Ok(())
}

/// The memory that training takes, as far as it can be known here, and the time on a card.
fn describe_memory<S: GameSetup>(config: &PlayConfig<S>, card: Option<Card>) -> Result<Vec<String>, Failure> {
    let run = &config.run;
    let options = config.learner_options();
    if let Some(shape) = model::shape_without_weights(&run.model) {
        let known = memory::describe_shape(&shape, &options, &config.step_tokens(options.context(&shape)));
        let memory = format!("{known}; `{}` has no weights to play with", run.model);
        return with_time(memory, card, config, &shape);
    }
    if !model::is_external(&run.model) {
        progress::say(format!("loading the model `{}`", run.model));
    }
    match model::open_trainable(&run.model, &options) {
        Ok(learner) => {
            let step_tokens = config.step_tokens(options.context(learner.config()));
            with_time(memory::describe(&learner, &step_tokens), card, config, learner.config())
        }
        Err(_) if model::is_external(&run.model) => Ok(vec!["memory: the model is your trainer's".to_owned()]),
        // Another machine may have the device.
        Err(failure) if device::check(&options).is_err() => {
            let reason = failure.reason();
            Ok(vec![format!("memory: not known, the model cannot be opened here: {reason}")])
        }
        Err(failure) => Err(failure),
    }
}

/// The line on memory, and those on the time that a run of this shape takes on a card.
fn with_time<S: GameSetup>(
    memory: String,
    card: Option<Card>,
    config: &PlayConfig<S>,
    shape: &ModelConfig,
) -> Result<Vec<String>, Failure> {
    let time = card.map_or_else(|| Ok(Vec::new()), |card| step_time::describe(card, config, shape))?;
    Ok(std::iter::once(memory).chain(time).collect())
}
