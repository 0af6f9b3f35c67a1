//! One run, from its start or a checkpoint to its end: what it holds and how it is opened. [`step`] plays a step, [`ahead`] perhaps while the one
//! before it trains, [`alarms`] acts on wrong ones, [`measure`] evaluates, and [`save`] writes checkpoints.

mod ahead;
mod alarms;
mod measure;
mod save;
mod step;

use std::path::Path;
use std::time::{Duration, Instant};

use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::interrupt;
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::write_json;
use veriplay_console::logfile::LogFile;
use veriplay_console::progress::{self, Progress};
use veriplay_core::SCHEMA_VERSION;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::play::{OutcomeCounts, PlayError, StepContext};
use veriplay_selfplay::preparation::Preparation;
use veriplay_selfplay::settings::SharedSettings;

use self::ahead::StepAhead;
use super::actor::Actor;
use super::evaluation::Validation;
use super::open_learner::{StartModel, removable_base, resume_learner, start_learner};
use super::plugins::{self, PluginContext};
use super::signal::Signal;
use super::summary::{BeforeAfter, BeforeAfterSuites, ProcessShare, Summary};
use super::tensorboard::EventFile;
use super::timing::{StepTotals, whole_lines};
use super::trackio::TrackioInbox;
use super::trainer::{ExternalTrainer, PROTOCOL, Start};
use crate::config::AlarmEffects;
use crate::executor::{CountedJobs, GameExecutor};
use crate::game_setup::{self, EvalKeys, GameSetup};
use crate::kept_policies::KeptPolicies;
use crate::play_config::PlayConfig;
use crate::proposer::OtherProposer;
use crate::rundir::{PlayState, RunDir, StepsChange};
use crate::suites::SuiteMeasurements;
use crate::{judged_images, model};

/// What a game carries from step to step.
type State<S> = GameState<<<S as GameSetup>::Game as Environment>::Task>;

/// One run, at the start of step `step`.
pub struct Session<S: GameSetup> {
    config: PlayConfig<S>,
    game: SelfPlay<S::Game>,
    validation: Option<Validation<S::Game>>,
    executor: GameExecutor,
    actor: Actor,
    other_proposer: OtherProposer,
    kept: KeptPolicies,
    /// Where steps begin with it.
    start_model: Option<StartModel>,
    /// Behind the steps that are done, and at the turn of a step behind that one.
    state: State<S>,
    /// The step behind those that are done, where it was played while the last of them trained.
    ahead: Option<Result<StepAhead<S::Game>, PlayError>>,
    /// What alarms have done so far; `config` is as they have changed it.
    alarms: AlarmEffects,
    dir: RunDir,
    suites: SuiteMeasurements,
    step: u64,
    totals: OutcomeCounts,
    events: LogFile,
    rollouts: LogFile,
    timing: LogFile,
    tensorboard: Option<EventFile>,
    trackio: Option<TrackioInbox>,
    /// Whether it was said that older checkpoints go.
    has_told_pruning: bool,
}

struct ProcessStart {
    at: Instant,
    step: u64,
    jobs: u64,
}

impl<S: GameSetup> Session<S> {
    /// Starts a run in a new directory.
    pub fn start(config: PlayConfig<S>, out: &Path, workers: Isolation) -> Result<Self, Failure> {
        let dir = RunDir::create(out)?;
        dir.remove_at_signal();
        let session = Self::open(config, dir, None, workers)?;
        session.dir.write_config(&session.config)?;
        Ok(session)
    }

    /// Continues the run in `out` from its last whole checkpoint, or from its start when there is none; with `steps`, to that step instead
    /// of the one it was started with.
    pub fn resume(out: &Path, steps: Option<u64>, workers: Isolation) -> Result<Self, Failure> {
        let dir = RunDir::open_to_write(out)?;
        let mut config = PlayConfig::<S>::read(&dir.path("config.toml"))?;
        dir.tell_missing_checkpoints()?;
        if let Some(steps) = steps.filter(|steps| *steps != config.run.steps) {
            extend(&mut config, &dir, steps)?;
        }
        config.validate()?;
        let saved = dir.checkpoint_steps().last().copied();
        Self::open(config, dir, saved, workers)
    }

    /// Opens the run at the checkpoint of step `saved`, or at its start.
    fn open(mut config: PlayConfig<S>, dir: RunDir, saved: Option<u64>, workers: Isolation) -> Result<Self, Failure> {
        // Their files are those that the run began with, which is known before a model is loaded.
        let suites = SuiteMeasurements::find(config.setup.eval().suite_schedule(), dir.path("suites"), workers)?;
        suites.check_same_files()?;
        let saved: Option<PlayState<State<S>>> = saved.map(|step| dir.load_state(step)).transpose()?;
        saved.iter().for_each(|state| config.run.learn.change_by(&state.alarms));
        // First, so that what is free for training is known.
        let other_proposer = OtherProposer::open(&config.run, config.setup.shared_settings())?;
        let actor = open_actor(&config, &dir, saved.as_ref().map_or(0, |state| state.step))?;
        let (executor, mut game) = game_setup::open_game(&config.setup, workers)?;
        // Before the tasks of step 0 are made, which may take long: a plug-in that does not start is known at once.
        let timeout = Duration::from_secs(config.run.exec_timeout_s);
        plugins::connect(&mut game, PluginContext { game: S::NAME, seed: config.run.seed, timeout })?;
        let validation = Validation::open(&config.setup, workers, &game)?;
        let state = match saved {
            Some(state) => state,
            None => {
                let policy = other_proposer.beside(actor.policy(), None);
                let context = StepContext { policy: &policy, execute: &executor, seed: config.run.seed };
                first_state(&game, &context, &actor, config.run.learn.has_adapters_per_role())?
            }
        };
        let open = |name: &str, bytes| LogFile::open_at(&dir.path(name), bytes).or_fail(ExitCode::Input);
        let all_keys = config.to_json().or_fail(ExitCode::Bug)?;
        let trackio = config.run.trackio.as_ref().map(|project| TrackioInbox::open(project, &dir.path(""), all_keys));
        let tensorboard = config.run.tensorboard.then(|| EventFile::create(&dir.path(""), state.step));
        Ok(Self {
            kept: KeptPolicies::at(&config.run, config.learner_options(), state.step, |step| dir.checkpoint_path(step)),
            start_model: StartModel::find(&config, state.start_weights.as_deref())?,
            trackio: trackio.transpose()?,
            tensorboard: tensorboard.transpose().or_fail(ExitCode::Input)?,
            events: open("events.jsonl", state.events_bytes)?,
            rollouts: open("rollouts.jsonl.zst", state.rollouts_bytes)?,
            timing: open("timing.jsonl", whole_lines(&dir.path("timing.jsonl")))?,
            step: state.step,
            totals: state.totals,
            state: state.game,
            ahead: None,
            alarms: state.alarms,
            config,
            game,
            validation,
            executor,
            actor,
            other_proposer,
            dir,
            suites,
            has_told_pruning: false,
        })
    }

    /// Whether a trainer outside this process plays and learns.
    pub fn is_external(&self) -> bool {
        self.actor.trainer().is_some()
    }

    /// Plays to the end, with an evaluation before and after.
    pub fn play(self) -> Result<Summary, Failure> {
        let resume = self.resume_hint();
        let is_external = self.is_external();
        self.play_to_end().map_err(|failure| if is_external { failure.or_hint(resume) } else { failure })
    }

    fn play_to_end(mut self) -> Result<Summary, Failure> {
        interrupt::listen("stopping after this evaluation; press Ctrl-C again to stop at once");
        let start = ProcessStart { at: Instant::now(), step: self.step, jobs: self.executor.jobs() };
        progress::say(format!("run directory: {}", self.dir.path("").display()));
        judged_images::record(&self.dir.path(""), self.step, self.executor.images())?;
        let before = self.evaluate_before()?;
        if interrupt::requested() {
            return Err(self.stop(true));
        }
        if self.step == 0 {
            // Or what an earlier process has left of that.
            self.measure_suites(0)?;
        }
        self.play_steps()?;
        interrupt::set_notice("ending with this evaluation, the last; press Ctrl-C again to stop at once");
        self.finish(before, &start)
    }

    /// Plays the steps that are left. Its progress ends here: the last evaluation has its own.
    fn play_steps(&mut self) -> Result<(), Failure> {
        interrupt::set_notice("stopping after this step, with everything saved; press Ctrl-C again to stop at once");
        let bar = progress::resumed_bar(self.config.run.steps, "self-play", self.step);
        let mut is_saved = true;
        while self.step < self.config.run.steps {
            if interrupt::requested() {
                return Err(self.stop(is_saved));
            }
            let text = self.play_step()?;
            bar.set_position(self.step);
            bar.set_message(text);
            let last = self.step == self.config.run.steps;
            is_saved = last || self.step.is_multiple_of(self.config.run.checkpoint_every);
            if is_saved {
                self.checkpoint()?;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn finish(self, before: EvalTable, start: &ProcessStart) -> Result<Summary, Failure> {
        let steps = self.config.run.steps;
        let after = self.evaluate("the trained model")?;
        let suites = BeforeAfterSuites::new(&self.suites.read(0)?, &self.suites.read(steps)?);
        write_json(&self.dir.path("after.json"), &after).or_fail(ExitCode::Input)?;
        let of_steps = StepTotals::read(&self.dir.path("timing.jsonl"), steps)?;
        let (seconds, jobs) = (start.at.elapsed().as_secs_f64(), self.executor.jobs() - start.jobs);
        let summary = Summary {
            schema_version: SCHEMA_VERSION,
            steps,
            resumed_at: start.step,
            seconds: of_steps.seconds,
            eval_set: self.config.setup.eval().set(),
            eval: BeforeAfter::new(before, after),
            suites,
            signal: Signal::read(&self.dir.path("events.jsonl"))?,
            valid_proposal_rate: self.totals.valid_rate(),
            proposals_in_held_out: self.totals.proposals_in_held_out,
            solve_rate: self.totals.solve_rate(),
            jobs: of_steps.jobs,
            jobs_per_s: of_steps.jobs_per_s(),
            process: ProcessShare { seconds, jobs },
            dropped: self.totals.dropped,
            run: self.dir.path("").display().to_string(),
        };
        self.actor.trainer().map_or(Ok(()), |trainer| trainer.finish(&summary))?;
        Ok(summary)
    }
}

/// The state of a run that begins: the game has made its first tasks.
fn first_state<G: Game>(
    game: &SelfPlay<G>,
    context: &StepContext<'_>,
    actor: &Actor,
    keeps_roles: bool,
) -> Result<PlayState<GameState<G::Task>>, Failure> {
    if actor.trainer().is_some() {
        refuse_sft(game.game.settings())?;
        if let Some((key, weight)) = game.game.text_weight() {
            return Err(bad_value(&format!("game.{key}"), &weight, "0, because `model` is `stdio`")
                .hint("what nobody sampled has tokens that only your trainer can tell"));
        }
    }
    progress::say("making the tasks that the run starts with");
    let bar = progress::bar(0, "tasks");
    let context = StepContext { execute: &CountedJobs { execute: context.execute, bar: &bar }, ..*context };
    let made = game.init_watched(&context, &mut |known| show_preparation(&bar, known));
    bar.finish_and_clear();
    let mut made = made?;
    if !keeps_roles {
        made.sft_examples.iter_mut().for_each(|example| example.proposed = false);
    }
    Ok(PlayState {
        schema_version: SCHEMA_VERSION,
        step: 0,
        events_bytes: 0,
        rollouts_bytes: 0,
        totals: OutcomeCounts::default(),
        start_weights: None,
        alarms: AlarmEffects::default(),
        game: made,
    })
}

/// Says what the start model is sampled for when that begins, and shows how far it is.
fn show_preparation(bar: &Progress, Preparation { purpose, done, total }: Preparation) {
    if total == 0 {
        return;
    }
    if bar.prefix() != purpose {
        bar.suspend(|| progress::say(format!("sampling the start model for {purpose}")));
        bar.set_prefix(purpose);
        bar.reset();
    }
    bar.set_length(total as u64);
    bar.set_position(done as u64);
}

/// Changes how many steps a run has, on disk too.
fn extend<S: GameSetup>(config: &mut PlayConfig<S>, dir: &RunDir, steps: u64) -> Result<(), Failure> {
    let saved = dir.checkpoint_steps().last().copied().unwrap_or_default();
    if steps < saved {
        let what = format!("--steps is {steps}, and `{}` has a checkpoint of step {saved}", dir.path("").display());
        return Err(Failure::message(ExitCode::Input, what).hint("a run can be made longer, not shorter"));
    }
    let change = StepsChange { at_step: saved, from: config.run.steps, to: steps };
    config.run.steps = steps;
    config.validate()?;
    dir.add_steps_change(change)?;
    // The table of another end: the run writes it anew.
    match std::fs::remove_file(dir.path("after.json")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).or_fail(ExitCode::Input),
        _ => dir.write_config(config),
    }
}

/// Who plays on after `step` steps: from their checkpoint, or from the start.
fn open_actor<S: GameSetup>(config: &PlayConfig<S>, dir: &RunDir, step: u64) -> Result<Actor, Failure> {
    let checkpoint = (step > 0).then(|| dir.checkpoint_path(step));
    if model::is_external(&config.run.model) {
        let start = Start {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION"),
            game: S::NAME,
            run: &dir.path(""),
            step,
            steps: config.run.steps,
            seed: config.run.seed,
            checkpoint: checkpoint.as_deref(),
            learn: &config.run.learn,
        };
        return Ok(Actor::Trainer(Box::new(ExternalTrainer::start(start)?)));
    }
    // Before memory is looked at: what a killed process has left may be memory.
    let server = config.run.rollout_server.as_ref().map(|server| server.open(&dir.path(""))).transpose()?;
    let mut learner = match checkpoint {
        Some(checkpoint) => {
            progress::say(format!("loading the checkpoint of step {step}"));
            resume_learner(config, &checkpoint)?
        }
        None => {
            progress::say(format!("loading the model `{}`", config.run.model));
            removable_base(&config.run, &dir.path("checkpoints")).into_iter().for_each(progress::say);
            start_learner(config)?
        }
    };
    if let Some(server) = server {
        learner.sample_from(server);
    }
    Ok(Actor::Learner(Box::new(learner)))
}

/// Refuses supervised examples of the start model: checkpoints keep their tokens, which are the trainer's.
pub(super) fn refuse_sft(settings: &SharedSettings) -> Result<(), Failure> {
    match settings.sft_samples {
        0 => Ok(()),
        samples => Err(bad_value("game.sft_samples", &samples, "0, because `model` is `stdio`")
            .hint("regularise in your trainer, or imitate what got a reward by `game.learn_from = \"successes\"`")),
    }
}
