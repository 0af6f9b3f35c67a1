//! One step of a run: it is played, learned from, measured, and written to the logs.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{PolicyVersion, SCHEMA_VERSION, Update};
use veriplay_selfplay::driver::StepUpdate;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::monitors::Alarm;
use veriplay_selfplay::play::{Measurement, PlayError};

use super::Session;
use super::ahead::PlayedStep;
use crate::game_setup::GameSetup;
use crate::numbers::named_numbers;
use crate::play::learning::Learned;
use crate::play::plugins;
use crate::play::summary::NO_PROPOSALS;
use crate::play::timing::Timing;
use crate::play::trainer::Purpose;
use crate::suites::SuiteScores;

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
    /// Of each role alone, at steps with a checkpoint.
    #[serde(flatten)]
    gradient_norms: BTreeMap<String, f64>,
    #[serde(rename = "perf/total_num_tokens")]
    tokens: u64,
    /// Where steps are sampled ahead.
    #[serde(flatten)]
    sampled: Option<SampledBy>,
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
    /// Numbers that the script states, each under `play/` and its name.
    #[serde(flatten)]
    numbers: BTreeMap<String, f64>,
    play: M,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alarms: Vec<Alarm>,
}

/// Which policy sampled a step.
#[derive(Serialize)]
struct SampledBy {
    #[serde(rename = "rollout/policy_version")]
    version: PolicyVersion,
    /// Updates between that policy and the one that the step trained.
    #[serde(rename = "rollout/lag")]
    lag: u64,
}

impl<S: GameSetup> Session<S> {
    /// Plays one step; returns the text of the progress bar.
    #[tracing::instrument(level = "debug", skip_all, fields(step = self.step))]
    pub(super) fn play_step(&mut self) -> Result<String, Failure> {
        if !self.is_external() && self.config.evaluates_after(self.step + 1) {
            // When that fails, through a server or a fault of the host, the weights are not those of any step any more.
            self.save()?;
        }
        let (step, started) = (self.step, Instant::now());
        let PlayedStep { output, sampled_by, jobs, sampled_s } = match self.take_step() {
            Ok(played) => played,
            Err(error) => return Err(self.save_before(self.explain(error))),
        };
        let lag = self.actor.version().0 - sampled_by.0;
        let play_s = started.elapsed().as_secs_f64();
        if !output.batches.is_empty() {
            self.restart()?;
        }
        let rate = self.config.run.learn.rate(step, self.config.run.steps);
        let Learned { gradient_norms, updates } = self.learn(&output, rate)?;
        self.actor.set_purpose(step, Purpose::Evaluate);
        let played = self.executor.jobs();
        let behind = self.act_after_update(rate)?;
        let update_s = started.elapsed().as_secs_f64() - play_s;
        let jobs = jobs + self.executor.jobs() - played;
        let evaluated = self.measure_suites(step + 1).and_then(|suites| Ok((suites, self.validate(step + 1)?)));
        let evaluated = evaluated.map_err(|failure| failure.or_hint(self.resume_hint()))?;
        let pass1 = evaluated.1.as_ref().map(|table| table.mean.pass1);
        let numbers = output.numbers.into_iter().chain(behind).collect();
        let mut event = event(step, rate, &updates, evaluated, output.monitors, numbers, output.metrics);
        let seen = named_numbers(&serde_json::to_value(&event).or_fail(ExitCode::Bug)?).into_iter().collect();
        event.gradient_norms =
            gradient_norms.into_iter().map(|(role, norm)| (format!("actor/grad_norm/{role}"), norm)).collect();
        event.sampled = (self.config.run.steps_ahead > 0).then_some(SampledBy { version: sampled_by, lag });
        event.alarms = self.game.watch(&mut self.state, step, &seen);
        self.actor.trainer().map_or(Ok(()), |trainer| trainer.report_step(&event))?;
        self.events.append(&[&event]).or_fail(ExitCode::Input)?;
        self.rollouts.append(&output.records).or_fail(ExitCode::Input)?;
        let timing = Timing { step, play_s, update_s, sampled_s, jobs };
        self.timing.append(&[&timing]).or_fail(ExitCode::Input)?;
        self.append_scalars(&event, &timing)?;
        self.totals.add(output.counts);
        self.step += 1;
        self.act_on(&event.alarms, pass1)?;
        tracing::info!(step = self.step, "step done");
        let valid = self.totals.valid_rate().map_or_else(|| NO_PROPOSALS.to_owned(), |rate| format!("valid {rate:.2}"));
        Ok(format!("{valid} solved {:.2}", self.totals.solve_rate()))
    }

    /// What the script does behind the update. Returns the numbers that it states.
    fn act_after_update(&mut self, rate: f64) -> Result<BTreeMap<String, f64>, Failure> {
        if !self.config.setup.acts_after_update() {
            return Ok(BTreeMap::new());
        }
        let update = StepUpdate {
            policy: self.actor.updated(),
            execute: &self.executor,
            seed: self.config.run.seed,
            step: self.step,
            learning_rate: rate,
        };
        let behind = self.game.after_update(update, &mut self.state);
        behind.map_err(|error| self.explain(error).or_hint(self.resume_hint()))
    }

    /// Has what is learned next be learned by the start model, where steps begin with it.
    fn restart(&mut self) -> Result<(), Failure> {
        let Some(start) = &self.start_model else { return Ok(()) };
        let options = self.config.run.learn.learner_options();
        self.actor.restart(&options, || start.found.open(&options))
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
}

fn event<M>(
    step: u64,
    learning_rate: f64,
    updates: &[Update],
    (suites, validation): (SuiteScores, Option<EvalTable>),
    monitors: BTreeMap<&'static str, Measurement>,
    numbers: BTreeMap<String, f64>,
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
        gradient_norms: BTreeMap::new(),
        tokens: updates.iter().map(|update| update.tokens).sum(),
        sampled: None,
        loss_terms,
        suites: suites.into_iter().map(|(name, score)| (format!("eval/{name}"), score)).collect(),
        validation,
        monitors: monitors.into_iter().map(|(name, number)| (format!("play/{name}"), number)).collect(),
        numbers: numbers.into_iter().map(|(name, number)| (format!("play/{name}"), number)).collect(),
        play,
        alarms: Vec::new(),
    }
}
