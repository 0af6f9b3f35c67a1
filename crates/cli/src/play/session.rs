//! One run: what it holds, its step, its checkpoints.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use veriplay_core::{Learn, SCHEMA_VERSION, Task};
use veriplay_learner::Learner;
use veriplay_selfplay::games::absolute_zero::{AbsoluteZero, GameState, StepMetrics};
use veriplay_selfplay::heldout::EvalTable;

use super::records::Played;
use super::summary::{BeforeAfter, Summary};
use super::{propose, records, solve, start, stop};
use crate::config::{PlayConfig, read_toml};
use crate::evaluate::evaluate;
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::logfile::LogFile;
use crate::progress;
use crate::rundir::{PlayState, RunDir, Totals, read_json, write_json};
use crate::tasks;
use crate::workers::Workers;

/// One run, at the start of step `step`.
pub(crate) struct Session {
    pub(super) config: PlayConfig,
    pub(super) game: AbsoluteZero,
    pub(super) referee: Referee,
    pub(super) learner: Learner,
    pub(super) state: GameState,
    dir: RunDir,
    step: u64,
    totals: Totals,
    events: LogFile,
    rollouts: LogFile,
    timing: LogFile,
    eval_tasks: Vec<Task>,
}

/// One line of `events.jsonl`.
#[derive(Serialize)]
struct Event<'a> {
    schema_version: u32,
    step: u64,
    #[serde(rename = "actor/lr")]
    learning_rate: f64,
    #[serde(rename = "actor/loss")]
    loss: f64,
    #[serde(rename = "actor/entropy")]
    entropy: f64,
    #[serde(rename = "actor/grad_norm")]
    gradient_norm: f64,
    #[serde(rename = "perf/total_num_tokens")]
    tokens: u64,
    /// What the loss says of itself; the default one says nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    loss_terms: BTreeMap<&'static str, f64>,
    play: &'a StepMetrics,
}

/// One line of `timing.jsonl`.
#[derive(Serialize)]
struct Timing {
    step: u64,
    propose_s: f64,
    solve_s: f64,
    update_s: f64,
    jobs: u64,
}

impl Session {
    /// Starts a run in a new directory.
    pub(crate) fn start(config: PlayConfig, out: &Path, workers: Workers) -> Result<Self, Failure> {
        let dir = RunDir::create(out)?;
        let session = Self::at_start(config, dir, workers)?;
        session.dir.write_config(&session.config)?;
        Ok(session)
    }

    /// Continues the run in `out` from its last whole checkpoint, or from its start when there is none.
    pub(crate) fn resume(out: &Path, workers: Workers) -> Result<Self, Failure> {
        let dir = RunDir::open(out)?;
        let config: PlayConfig = read_toml(&dir.path("config.toml"))?;
        config.validate()?;
        let Some(step) = dir.checkpoint_steps().last().copied() else {
            return Self::at_start(config, dir, workers);
        };
        let state: PlayState = dir.load_state(step)?;
        let learner = start::resumed(&config, &dir.checkpoint_path(step))?;
        let referee = Referee::open(workers)?;
        Self::assemble(config, dir, referee, learner, state)
    }

    fn at_start(config: PlayConfig, dir: RunDir, workers: Workers) -> Result<Self, Failure> {
        let learner = start::learner(&config)?;
        let referee = Referee::open(workers)?;
        let game = AbsoluteZero::new(config.game.clone()).or_fail(ExitCode::Input)?;
        let game = start::state(&config, &game, &learner, &referee)?;
        let state = PlayState {
            schema_version: SCHEMA_VERSION,
            step: 0,
            events_bytes: 0,
            rollouts_bytes: 0,
            totals: Totals::default(),
            game,
        };
        Self::assemble(config, dir, referee, learner, state)
    }

    fn assemble(
        config: PlayConfig,
        dir: RunDir,
        referee: Referee,
        learner: Learner,
        state: PlayState,
    ) -> Result<Self, Failure> {
        let game = AbsoluteZero::new(config.game.clone()).or_fail(ExitCode::Input)?;
        let eval_tasks = tasks::eval_set(&config.tasks, &config.eval, &config.game, &config.gate, &referee)?;
        let open = |name: &str, bytes| LogFile::open_at(&dir.path(name), bytes).or_fail(ExitCode::Input);
        let timing_bytes = std::fs::metadata(dir.path("timing.jsonl")).map_or(0, |metadata| metadata.len());
        Ok(Self {
            events: open("events.jsonl", state.events_bytes)?,
            rollouts: open("rollouts.jsonl.zst", state.rollouts_bytes)?,
            timing: open("timing.jsonl", timing_bytes)?,
            step: state.step,
            totals: state.totals,
            state: state.game,
            config,
            game,
            referee,
            learner,
            dir,
            eval_tasks,
        })
    }

    /// Plays to the end, measuring before and after.
    pub(crate) fn play(mut self) -> Result<Summary, Failure> {
        stop::listen();
        let started = Instant::now();
        let before = self.measured_before()?;
        let bar = progress::bar(self.config.steps, "self-play");
        bar.set_position(self.step);
        while self.step < self.config.steps {
            let told = self.one_step()?;
            bar.set_position(self.step);
            bar.set_message(told);
            let last = self.step == self.config.steps;
            if last || self.step.is_multiple_of(self.config.checkpoint_every) {
                self.checkpoint()?;
            }
            if !last && stop::requested() {
                self.checkpoint()?;
                let what = format!("stopped after step {} of {}", self.step, self.config.steps);
                let hint = format!("continue with `veriplay play --resume {}`", self.dir.path("").display());
                return Err(Failure::message(ExitCode::Interrupted, what).hint(hint));
            }
        }
        bar.finish_and_clear();
        self.finish(before, started)
    }

    fn finish(self, before: EvalTable, started: Instant) -> Result<Summary, Failure> {
        let (every, steps) = (self.config.checkpoint_every, self.config.steps);
        // What an interruption left beside the schedule goes, so that a resumed run ends as an uninterrupted one.
        self.dir.prune_checkpoints(|step| step == steps || step.is_multiple_of(every)).or_fail(ExitCode::Input)?;
        let after = self.evaluate()?;
        write_json(&self.dir.path("after.json"), &after).or_fail(ExitCode::Input)?;
        let seconds = started.elapsed().as_secs_f64();
        let jobs = self.referee.jobs();
        Ok(Summary {
            schema_version: Summary::SCHEMA_VERSION,
            steps,
            seconds,
            eval: BeforeAfter { before, after },
            valid_proposal_rate: self.totals.valid_rate(),
            solve_rate: self.totals.solve_rate(),
            jobs,
            jobs_per_s: jobs as f64 / seconds,
            dropped: self.totals.dropped,
            run: self.dir.path("").display().to_string(),
        })
    }

    /// The measurement of the start checkpoint: read back where an earlier process has made it.
    fn measured_before(&self) -> Result<EvalTable, Failure> {
        let path = self.dir.path("before.json");
        if path.exists() {
            return read_json(&path);
        }
        if self.step > 0 {
            let what = format!("`{}` is missing, and the run is at step {}", path.display(), self.step);
            return Err(Failure::message(ExitCode::Input, what).hint("start the run again in a new directory"));
        }
        let table = self.evaluate()?;
        write_json(&path, &table).or_fail(ExitCode::Input)?;
        Ok(table)
    }

    fn evaluate(&self) -> Result<EvalTable, Failure> {
        // The samples are fixed by the evaluation's own seed: before and after differ in the weights alone.
        let seed = self.config.tasks.eval_seed;
        evaluate(&self.learner, &self.game, &self.referee, &self.eval_tasks, &self.config.eval, seed)
    }

    /// One step; returns what the bar says of it.
    fn one_step(&mut self) -> Result<String, Failure> {
        let (step, jobs) = (self.step, self.referee.jobs());
        let t0 = Instant::now();
        let (proposer_turns, proposals) = propose::propose(self, step)?;
        let t1 = Instant::now();
        let (turns, answers) = solve::solve(self, step, &proposals)?;
        let t2 = Instant::now();
        let scored = self.game.score(&mut self.state, self.config.seed, step, &proposals, &turns, &answers);
        let batch = self.game.train_batch(&self.state, self.config.seed, step, &scored, &proposals, &answers);
        let rate = self.config.learn.rate(step, self.config.steps);
        let update = self.learner.update(&batch, rate).or_fail(ExitCode::Model)?;
        let event = Event {
            schema_version: SCHEMA_VERSION,
            step,
            learning_rate: rate,
            loss: update.loss,
            entropy: update.entropy,
            gradient_norm: update.gradient_norm,
            tokens: update.tokens,
            loss_terms: update.metrics,
            play: &scored.metrics,
        };
        self.events.append(&[event]).or_fail(ExitCode::Input)?;
        let played =
            Played { proposer_turns: &proposer_turns, proposals: &proposals, turns: &turns, answers: &answers };
        let lines = records::lines(step, &played, &scored);
        self.rollouts.append(&lines).or_fail(ExitCode::Input)?;
        let timing = Timing {
            step,
            propose_s: (t1 - t0).as_secs_f64(),
            solve_s: (t2 - t1).as_secs_f64(),
            update_s: t2.elapsed().as_secs_f64(),
            jobs: self.referee.jobs() - jobs,
        };
        self.timing.append(&[&timing]).or_fail(ExitCode::Input)?;
        self.totals.add(&proposals, &answers);
        self.step += 1;
        tracing::info!(step = self.step, "step done");
        Ok(self.totals.told())
    }

    fn checkpoint(&mut self) -> Result<(), Failure> {
        let state = PlayState {
            schema_version: SCHEMA_VERSION,
            step: self.step,
            events_bytes: self.events.sync().or_fail(ExitCode::Input)?,
            rollouts_bytes: self.rollouts.sync().or_fail(ExitCode::Input)?,
            totals: self.totals.clone(),
            game: self.state.clone(),
        };
        self.dir.save_checkpoint(&self.learner, &state).or_fail(ExitCode::Input)?;
        tracing::info!(step = self.step, "checkpoint written");
        Ok(())
    }
}
