//! One run: what it holds, its step, its checkpoints.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use veriplay_core::{SCHEMA_VERSION, Update};
use veriplay_learner::Learner;
use veriplay_selfplay::driver::GameState;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::play::{Measurement, OutcomeCounts, PlayError, StepContext};
use veriplay_selfplay::settings::SharedSettings;

use super::actor::Actor;
use super::evaluation::{Validation, evaluate_with_bar};
use super::learner::{resume_learner, start_learner};
use super::plugins::{self, PluginContext};
use super::start_model::StartModel;
use super::summary::{BeforeAfter, BeforeAfterSuites, ProcessShare, Summary};
use super::tensorboard::EventFile;
use super::timing::{StepTotals, Timing, whole_lines};
use super::trackio::TrackioInbox;
use super::trainer::{ExternalTrainer, Purpose, Standing};
use crate::executor::GameExecutor;
use crate::exit::{ExitCode, Failure, ResultExt, bad_value};
use crate::games::{self, GameSetup};
use crate::isolation::Isolation;
use crate::json_file::{read_json, write_json};
use crate::logfile::LogFile;
use crate::play_config::PlayConfig;
use crate::proposer::OtherProposer;
use crate::report::named_numbers;
use crate::rundir::{PlayState, RunDir};
use crate::suites::{MeasuredModel, SuiteMeasurements, SuiteScores};
use crate::{interrupt, model, progress};

/// What a game carries from step to step.
type State<S> = GameState<<<S as GameSetup>::Game as Environment>::Task>;

/// A game, and what evaluates the policy in the run.
type EvaluatedGame<E> = (SelfPlay<E>, Option<Validation<E>>);

/// One run, at the start of step `step`.
pub(crate) struct Session<S: GameSetup> {
    config: PlayConfig<S>,
    game: SelfPlay<S::Game>,
    validation: Option<Validation<S::Game>>,
    executor: GameExecutor,
    actor: Actor,
    other_proposer: OtherProposer,
    /// Where steps begin with it.
    start_model: Option<StartModel>,
    state: State<S>,
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

/// Where this process begins.
struct ProcessStart {
    at: Instant,
    step: u64,
    jobs: u64,
}

/// One line of `events.jsonl`. Where a step had several updates, losses, entropies and norms are their means.
#[derive(Serialize)]
struct Event<M> {
    schema_version: u32,
    step: u64,
    #[serde(rename = "actor/lr")]
    learning_rate: f64,
    /// `null` where there was nothing to learn.
    #[serde(rename = "actor/loss")]
    loss: Option<f64>,
    #[serde(rename = "actor/entropy")]
    entropy: Option<f64>,
    #[serde(rename = "actor/grad_norm")]
    gradient_norm: Option<f64>,
    #[serde(rename = "perf/total_num_tokens")]
    tokens: u64,
    /// What the loss says of itself; the default one says nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    loss_terms: BTreeMap<&'static str, f64>,
    /// pass@1 of the public sets measured after the step, each under `eval/` and its name.
    #[serde(flatten)]
    suites: BTreeMap<String, Option<f64>>,
    /// The evaluation on the validation set after the step, where it was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<EvalTable>,
    /// Numbers of monitors, each under `play/` and its name.
    #[serde(flatten)]
    monitors: BTreeMap<String, Measurement>,
    play: M,
}

impl<S: GameSetup> Session<S> {
    /// Starts a run in a new directory.
    pub(crate) fn start(config: PlayConfig<S>, out: &Path, workers: Isolation) -> Result<Self, Failure> {
        let dir = RunDir::create(out)?;
        let suites = find_suites(&config, &dir, workers)?;
        let session = Self::at_start(config, dir, suites, workers)?;
        session.dir.write_config(&session.config)?;
        Ok(session)
    }

    /// Continues the run in `out` from its last whole checkpoint, or from its start when there is none; with `steps`, to that step instead
    /// of the one it was started with.
    pub(crate) fn resume(out: &Path, steps: Option<u64>, workers: Isolation) -> Result<Self, Failure> {
        let dir = RunDir::open_to_write(out)?;
        let mut config = PlayConfig::<S>::read(&dir.path("config.toml"))?;
        dir.tell_missing_checkpoints()?;
        if let Some(steps) = steps.filter(|steps| *steps != config.run.steps) {
            extend(&mut config, &dir, steps)?;
        }
        config.validate()?;
        let suites = find_suites(&config, &dir, workers)?;
        let Some(step) = dir.checkpoint_steps().last().copied() else {
            return Self::at_start(config, dir, suites, workers);
        };
        let state: PlayState<State<S>> = dir.load_state(step)?;
        let other_proposer = OtherProposer::open(&config.run, config.setup.shared_settings())?;
        let actor = resume_actor(&config, &dir, step)?;
        let (executor, game) = open_game(&config, workers)?;
        Self::assemble(config, (dir, suites), executor, game, (actor, other_proposer), state)
    }

    fn at_start(
        config: PlayConfig<S>,
        dir: RunDir,
        suites: SuiteMeasurements,
        workers: Isolation,
    ) -> Result<Self, Failure> {
        // First, so that what is free for training is known.
        let other_proposer = OtherProposer::open(&config.run, config.setup.shared_settings())?;
        let actor = start_actor(&config, &dir)?;
        // Before the tasks of step 0 are made, which may take long: a plug-in that does not start is known at once.
        let (executor, (game, validation)) = open_game(&config, workers)?;
        if actor.is_external() {
            refuse_sft(game.game.settings())?;
        }
        let seeds = game.game.settings().seed_proposals;
        if seeds > 0 {
            progress::say(format!("proposing tasks until there are {seeds} of each kind"));
        } else {
            progress::say("making the tasks that the run starts with");
        }
        let policy = other_proposer.beside(actor.policy());
        let context = StepContext { policy: &policy, execute: &executor, seed: config.run.seed };
        let initial = game.init(&context)?;
        let state = PlayState {
            schema_version: SCHEMA_VERSION,
            step: 0,
            events_bytes: 0,
            rollouts_bytes: 0,
            totals: OutcomeCounts::default(),
            start_weights: None,
            game: initial,
        };
        Self::assemble(config, (dir, suites), executor, (game, validation), (actor, other_proposer), state)
    }

    fn assemble(
        config: PlayConfig<S>,
        (dir, suites): (RunDir, SuiteMeasurements),
        executor: GameExecutor,
        (game, validation): EvaluatedGame<S::Game>,
        (actor, other_proposer): (Actor, OtherProposer),
        state: PlayState<State<S>>,
    ) -> Result<Self, Failure> {
        let open = |name: &str, bytes| LogFile::open_at(&dir.path(name), bytes).or_fail(ExitCode::Input);
        let timing_bytes = whole_lines(&dir.path("timing.jsonl"));
        let tensorboard = config.run.tensorboard.then(|| EventFile::create(&dir.path(""), state.step));
        Ok(Self {
            start_model: StartModel::find(&config, state.start_weights.as_deref())?,
            trackio: open_trackio(&config, &dir)?,
            tensorboard: tensorboard.transpose().or_fail(ExitCode::Input)?,
            events: open("events.jsonl", state.events_bytes)?,
            rollouts: open("rollouts.jsonl.zst", state.rollouts_bytes)?,
            timing: open("timing.jsonl", timing_bytes)?,
            step: state.step,
            totals: state.totals,
            state: state.game,
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
    pub(crate) const fn is_external(&self) -> bool {
        self.actor.is_external()
    }

    /// Plays to the end, with an evaluation before and after.
    pub(crate) fn play(self) -> Result<Summary, Failure> {
        let resume = self.resume_hint();
        let is_external = self.is_external();
        self.play_to_end().map_err(|failure| if is_external { failure.or_hint(resume) } else { failure })
    }

    fn play_to_end(mut self) -> Result<Summary, Failure> {
        interrupt::listen("stopping after this evaluation; press Ctrl-C again to stop at once");
        let start = ProcessStart { at: Instant::now(), step: self.step, jobs: self.executor.jobs() };
        progress::say(format!("run directory: {}", self.dir.path("").display()));
        let before = self.evaluate_before()?;
        if interrupt::requested() {
            return Err(self.stop(true));
        }
        self.measure_suites_before()?;
        interrupt::set_notice("stopping after this step, with everything saved; press Ctrl-C again to stop at once");
        let bar = progress::bar(self.config.run.steps, "self-play");
        bar.set_position(self.step);
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
        interrupt::set_notice("ending with this evaluation, the last; press Ctrl-C again to stop at once");
        self.finish(before, &start)
    }

    /// Saves the steps since the last checkpoint, and says how to go on.
    fn stop(&mut self, is_saved: bool) -> Failure {
        if !is_saved && let Err(failure) = self.checkpoint() {
            return failure;
        }
        let what = format!("stopped after step {} of {}", self.step, self.config.run.steps);
        Failure::message(ExitCode::Interrupted, what).hint(self.resume_hint())
    }

    /// Saves the steps before one that a policy or a plug-in has failed in, and adds to its failure how to go on.
    fn save_before(&mut self, failure: Failure) -> Failure {
        // A trainer may be what has failed: it is asked for nothing more.
        if !self.is_external()
            && let Err(unsaved) = self.save()
        {
            tracing::warn!(step = self.step, %unsaved, "the steps since the last checkpoint cannot be saved");
        }
        failure.or_hint(self.resume_hint())
    }

    fn resume_hint(&self) -> String {
        format!("continue with `veriplay play --resume {}`", progress::shell_word(&self.dir.path("")))
    }

    /// Writes a checkpoint where the newest is of an earlier step.
    fn save(&mut self) -> Result<(), Failure> {
        let is_saved = self.step == 0 || self.dir.checkpoint_steps().last() == Some(&self.step);
        if is_saved { Ok(()) } else { self.checkpoint() }
    }

    /// Whether something is sampled between the update of a step and its end.
    fn evaluates_after(&self, step: u64) -> bool {
        let validates = self.validation.as_ref().is_some_and(|validation| validation.is_due(step));
        validates || self.suites.are_due(step, self.config.run.steps)
    }

    fn finish(self, before: EvalTable, start: &ProcessStart) -> Result<Summary, Failure> {
        let steps = self.config.run.steps;
        let after = self.evaluate("the trained model")?;
        let suites = BeforeAfterSuites { before: self.suites.read(0)?, after: self.suites.read(steps)? };
        write_json(&self.dir.path("after.json"), &after).or_fail(ExitCode::Input)?;
        let of_steps = StepTotals::read(&self.dir.path("timing.jsonl"), steps)?;
        let process =
            ProcessShare { seconds: start.at.elapsed().as_secs_f64(), jobs: self.executor.jobs() - start.jobs };
        let summary = Summary {
            schema_version: SCHEMA_VERSION,
            steps,
            resumed_at: start.step,
            seconds: of_steps.seconds,
            eval_set: self.config.setup.eval_set(),
            eval: BeforeAfter { before, after },
            suites,
            valid_proposal_rate: self.totals.valid_rate(),
            proposals_in_held_out: self.totals.proposals_in_held_out,
            solve_rate: self.totals.solve_rate(),
            jobs: of_steps.jobs,
            jobs_per_s: of_steps.jobs_per_s(),
            process,
            dropped: self.totals.dropped,
            run: self.dir.path("").display().to_string(),
        };
        self.actor.finish(&summary)?;
        Ok(summary)
    }

    /// The evaluation of the start checkpoint: read back where an earlier process has made it.
    fn evaluate_before(&self) -> Result<EvalTable, Failure> {
        let path = self.dir.path("before.json");
        if path.exists() {
            return read_json(&path);
        }
        if self.step > 0 {
            let what = format!("`{}` is missing, and the run is at step {}", path.display(), self.step);
            return Err(Failure::message(ExitCode::Input, what).hint("start the run again in a new directory"));
        }
        let table = self.evaluate("the start model")?;
        write_json(&path, &table).or_fail(ExitCode::Input)?;
        Ok(table)
    }

    /// Measures the suites of the start checkpoint, or what an earlier process has left of that.
    fn measure_suites_before(&self) -> Result<(), Failure> {
        if self.step == 0 { self.measure_suites(0).map(drop) } else { Ok(()) }
    }

    /// Measures the suites, where that is due after `step` steps.
    fn measure_suites(&self, step: u64) -> Result<SuiteScores, Failure> {
        if !self.suites.are_due(step, self.config.run.steps) {
            return Ok(SuiteScores::new());
        }
        self.actor.set_purpose(step, Purpose::Evaluate);
        let name = format!("{} after step {step}", self.config.run.model);
        let has_chat_template = self.actor.has_chat_template();
        self.suites.measure(MeasuredModel { name: &name, policy: self.actor.policy(), has_chat_template }, step)
    }

    fn evaluate(&self, model: &str) -> Result<EvalTable, Failure> {
        progress::say(format!("evaluating {model} on the {} set", self.config.setup.eval_set().label()));
        let started = Instant::now();
        self.actor.set_purpose(self.step, Purpose::Evaluate);
        let table = evaluate_with_bar(&self.game, &self.eval_context())?;
        let (pass1, seconds) = (100.0 * table.mean.pass1, started.elapsed().as_secs_f64());
        progress::say(format!("{model}: pass@1 {pass1:.1} %, measured in {seconds:.0} s"));
        Ok(table)
    }

    /// Evaluates on the validation set, where that is due after `step` steps. It has no bar: that of the run is there.
    fn validate(&self, step: u64) -> Result<Option<EvalTable>, Failure> {
        let Some(validation) = self.validation.as_ref().filter(|validation| validation.is_due(step)) else {
            return Ok(None);
        };
        let started = Instant::now();
        self.actor.set_purpose(step, Purpose::Evaluate);
        let table = validation.game(&self.game).evaluate(&self.eval_context())?;
        let (pass1, seconds) = (100.0 * table.mean.pass1, started.elapsed().as_secs_f64());
        progress::say(format!(
            "after step {step}: pass@1 {pass1:.1} % on the validation set, measured in {seconds:.0} s"
        ));
        // Of each task there would be a curve.
        Ok(Some(EvalTable { counts: None, intervals: None, ..table }))
    }

    /// What an evaluation runs with: the same samples each time, so that only the weights differ.
    fn eval_context(&self) -> StepContext<'_> {
        StepContext { policy: self.actor.policy(), execute: &self.executor, seed: self.config.setup.eval_seed() }
    }

    /// Plays one step; returns the text of the progress bar.
    fn play_step(&mut self) -> Result<String, Failure> {
        if !self.is_external() && self.evaluates_after(self.step + 1) {
            // When that fails, through a server or a fault of the host, the weights are not those of any step any more.
            self.save()?;
        }
        let (step, jobs, started) = (self.step, self.executor.jobs(), Instant::now());
        self.actor.set_purpose(step, Purpose::Play);
        let policy = self.other_proposer.beside(self.actor.policy());
        let context = StepContext { policy: &policy, execute: &self.executor, seed: self.config.run.seed };
        let output = match self.game.step_or_undo(&context, &mut self.state, step) {
            Ok(output) => output,
            Err(error) => return Err(self.save_before(self.explain(error))),
        };
        let play_s = started.elapsed().as_secs_f64();
        if !output.batches.is_empty() {
            self.restart()?;
        }
        let rate = self.config.run.learn.rate(step, self.config.run.steps);
        let passes = (self.config.run.learn.passes(), self.config.run.seed, step);
        let refreshes_reference = self.config.setup.refreshes_reference();
        let updates = self.actor.learn((&output.batches, &output.rewarded), rate, passes, refreshes_reference)?;
        let update_s = started.elapsed().as_secs_f64() - play_s;
        let jobs = self.executor.jobs() - jobs;
        let evaluated = self.measure_suites(step + 1).and_then(|suites| Ok((suites, self.validate(step + 1)?)));
        let evaluated = evaluated.map_err(|failure| failure.or_hint(self.resume_hint()))?;
        let event = event(step, rate, &updates, evaluated, output.monitors, output.metrics);
        self.actor.report_step(&event)?;
        self.events.append(&[&event]).or_fail(ExitCode::Input)?;
        self.rollouts.append(&output.records).or_fail(ExitCode::Input)?;
        let timing = Timing { step, play_s, update_s, jobs };
        self.timing.append(&[&timing]).or_fail(ExitCode::Input)?;
        self.append_scalars(&event, &timing)?;
        self.totals.add(output.counts);
        self.step += 1;
        tracing::info!(step = self.step, "step done");
        Ok(format!("valid {:.2} solved {:.2}", self.totals.valid_rate(), self.totals.solve_rate()))
    }

    /// Has what is learned next be learned by the start model, where steps begin with it.
    fn restart(&mut self) -> Result<(), Failure> {
        let Some(start) = &self.start_model else { return Ok(()) };
        let options = self.config.run.learn.learner_options();
        self.actor.restart(&options, || start.open(&options))
    }

    /// A failed step, with what to do about a plug-in that failed.
    fn explain(&self, error: PlayError) -> Failure {
        let is_of_plugin = matches!(error, PlayError::External(_));
        let failure = Failure::from(error);
        if is_of_plugin { failure.hint(plugins::hint(&self.dir.path(""))) } else { failure }
    }

    /// Writes the numbers of the step for TensorBoard and trackio, where the configuration asks for that.
    fn append_scalars(&mut self, event: &impl Serialize, timing: &Timing) -> Result<(), Failure> {
        if self.tensorboard.is_none() && self.trackio.is_none() {
            return Ok(());
        }
        let mut numbers = named_numbers(&serde_json::to_value(event).or_fail(ExitCode::Bug)?);
        let (step, timing) = (timing.step, serde_json::to_value(timing).or_fail(ExitCode::Bug)?);
        numbers.extend(named_numbers(&timing).into_iter().map(|(name, number)| (format!("timing/{name}"), number)));
        if let Some(file) = &mut self.tensorboard {
            file.append(step, &numbers).or_fail(ExitCode::Input)?;
        }
        if let Some(inbox) = &mut self.trackio {
            inbox.append(step, &numbers);
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), Failure> {
        let state = PlayState {
            schema_version: SCHEMA_VERSION,
            step: self.step,
            events_bytes: self.events.sync().or_fail(ExitCode::Input)?,
            rollouts_bytes: self.rollouts.sync().or_fail(ExitCode::Input)?,
            totals: self.totals,
            start_weights: self.start_model.as_ref().map(|start| start.digest().to_owned()),
            game: &self.state,
        };
        let code = if self.actor.is_external() { ExitCode::Model } else { ExitCode::Input };
        self.dir.save_checkpoint(|folder| self.actor.save(folder, self.step), &state).or_fail(code)?;
        tracing::info!(step = self.step, "checkpoint written");
        // What an interruption left beside the schedule goes too, so that a resumed run ends as an uninterrupted one.
        let kept = self.config.run.kept_checkpoints(self.step);
        let is_kept = |step: u64| step == self.step || kept.contains(&step);
        let removed = self.dir.prune_checkpoints(is_kept).or_fail(ExitCode::Input)?;
        self.tell_pruning(&removed);
        Ok(())
    }

    /// Says once that older checkpoints go.
    fn tell_pruning(&mut self, removed: &[u64]) {
        let (Some(kept), Some(step)) = (self.config.run.checkpoints_kept, removed.first()) else { return };
        if !std::mem::replace(&mut self.has_told_pruning, true) {
            progress::say(format!(
                "removed the checkpoint of step {step}: `checkpoints_kept` keeps the newest {kept}, and the others go from here on"
            ));
        }
    }
}

fn event<M>(
    step: u64,
    learning_rate: f64,
    updates: &[Update],
    (suites, validation): (SuiteScores, Option<EvalTable>),
    measured: BTreeMap<&'static str, Measurement>,
    play: M,
) -> Event<M> {
    let mean = |of: fn(&Update) -> f64| {
        (!updates.is_empty()).then(|| updates.iter().map(of).sum::<f64>() / updates.len() as f64)
    };
    let mut loss_terms: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (name, value) in updates.iter().flat_map(|update| &update.metrics) {
        let count = updates.iter().filter(|update| update.metrics.contains_key(name)).count();
        *loss_terms.entry(name).or_default() += value / count as f64;
    }
    Event {
        schema_version: SCHEMA_VERSION,
        step,
        learning_rate,
        loss: mean(|update| update.loss),
        entropy: mean(|update| update.entropy),
        gradient_norm: mean(|update| update.gradient_norm),
        tokens: updates.iter().map(|update| update.tokens).sum(),
        loss_terms,
        suites: suites.into_iter().map(|(name, score)| (format!("eval/{name}"), score)).collect(),
        validation,
        monitors: measured.into_iter().map(|(name, number)| (format!("play/{name}"), number)).collect(),
        play,
    }
}

/// Changes how many steps a run has, on disk too.
fn extend<S: GameSetup>(config: &mut PlayConfig<S>, dir: &RunDir, steps: u64) -> Result<(), Failure> {
    let saved = dir.checkpoint_steps().last().copied().unwrap_or_default();
    if steps < saved {
        let what = format!("--steps is {steps}, and `{}` has a checkpoint of step {saved}", dir.path("").display());
        return Err(Failure::message(ExitCode::Input, what).hint("a run can be made longer, not shorter"));
    }
    config.run.steps = steps;
    config.validate()?;
    // The table of another end: the run writes it anew.
    match std::fs::remove_file(dir.path("after.json")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).or_fail(ExitCode::Input),
        _ => dir.write_config(config),
    }
}

/// Who plays from the start.
fn start_actor<S: GameSetup>(config: &PlayConfig<S>, dir: &RunDir) -> Result<Actor, Failure> {
    match model::is_external(&config.run.model) {
        true => start_trainer(config, dir, 0),
        false => {
            progress::say(format!("loading the model `{}`", config.run.model));
            learner_actor(config, start_learner(config)?)
        }
    }
}

/// Who plays on from a checkpoint.
fn resume_actor<S: GameSetup>(config: &PlayConfig<S>, dir: &RunDir, step: u64) -> Result<Actor, Failure> {
    match model::is_external(&config.run.model) {
        true => start_trainer(config, dir, step),
        false => {
            progress::say(format!("loading the checkpoint of step {step}"));
            learner_actor(config, resume_learner(config, &dir.checkpoint_path(step))?)
        }
    }
}

/// A learner that plays: it samples itself, or has a server do it.
fn learner_actor<S: GameSetup>(config: &PlayConfig<S>, mut learner: Learner) -> Result<Actor, Failure> {
    if let Some(server) = &config.run.rollout_server {
        server.attach(&mut learner)?;
    }
    Ok(Actor::Learner(Box::new(learner)))
}

fn start_trainer<S: GameSetup>(config: &PlayConfig<S>, dir: &RunDir, step: u64) -> Result<Actor, Failure> {
    let (run, checkpoint) = (dir.path(""), (step > 0).then(|| dir.checkpoint_path(step)));
    let standing = Standing {
        game: S::NAME,
        run: &run,
        step,
        steps: config.run.steps,
        seed: config.run.seed,
        checkpoint: checkpoint.as_deref(),
        learn: &config.run.learn,
    };
    Ok(Actor::Trainer(Box::new(ExternalTrainer::start(&standing)?)))
}

/// Refuses supervised examples of the start model: checkpoints keep their tokens, which are the trainer's.
pub(super) fn refuse_sft(settings: &SharedSettings) -> Result<(), Failure> {
    match settings.sft_samples {
        0 => Ok(()),
        samples => Err(bad_value("game.sft_samples", &samples, "0, because `model` is `stdio`")
            .hint("regularise in your trainer, or imitate what got a reward by `game.learn_from = \"successes\"`")),
    }
}

/// The game and what executes its jobs, with the plug-ins of the configuration.
fn open_game<S: GameSetup>(
    config: &PlayConfig<S>,
    workers: Isolation,
) -> Result<(GameExecutor, EvaluatedGame<S::Game>), Failure> {
    let (executor, mut game) = games::open_game(&config.setup, workers)?;
    let timeout = Duration::from_secs(config.run.exec_timeout_s);
    plugins::connect(&mut game, PluginContext { game: S::NAME, seed: config.run.seed, timeout })?;
    let validation = Validation::open(&config.setup, workers, &game)?;
    Ok((executor, (game, validation)))
}

/// trackio's inbox, where the configuration names a project of it.
fn open_trackio<S: GameSetup>(config: &PlayConfig<S>, dir: &RunDir) -> Result<Option<TrackioInbox>, Failure> {
    let Some(project) = &config.run.trackio else { return Ok(None) };
    TrackioInbox::open(project, &dir.path(""), config.to_json().or_fail(ExitCode::Bug)?).map(Some)
}

/// The public sets that are measured in the run: their files, which are those that the run began with, before a model is loaded.
fn find_suites<S: GameSetup>(
    config: &PlayConfig<S>,
    dir: &RunDir,
    workers: Isolation,
) -> Result<SuiteMeasurements, Failure> {
    let suites = SuiteMeasurements::find(config.setup.suite_schedule(), dir.path("suites"), workers)?;
    suites.check_same_files()?;
    Ok(suites)
}
