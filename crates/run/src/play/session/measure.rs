//! What a run measures of its policy: the evaluations before, during and after it, and public sets.

use std::time::Instant;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{read_json, write_json};
use veriplay_console::progress;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::play::StepContext;

use super::Session;
use crate::game_setup::{EvalKeys, GameSetup};
use crate::play::evaluation::evaluate_with_bar;
use crate::play::trainer::Purpose;
use crate::suites::{MeasuredModel, SuiteScores};

impl<S: GameSetup> Session<S> {
    /// The evaluation of the start checkpoint: read back where an earlier process has made it.
    pub(super) fn evaluate_before(&self) -> Result<EvalTable, Failure> {
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

    /// Measures the suites, where that is due after `step` steps.
    #[tracing::instrument(level = "debug", skip_all, fields(step))]
    pub(super) fn measure_suites(&self, step: u64) -> Result<SuiteScores, Failure> {
        if !self.config.setup.eval().suite_schedule().is_due(step, self.config.run.steps) {
            return Ok(SuiteScores::new());
        }
        self.actor.set_purpose(step, Purpose::Evaluate);
        let name = format!("{} after step {step}", self.config.run.model);
        let has_chat_template = self.actor.has_chat_template();
        self.suites.measure(MeasuredModel { name: &name, policy: self.actor.policy(), has_chat_template }, step)
    }

    #[tracing::instrument(level = "debug", skip_all, fields(step = self.step))]
    pub(super) fn evaluate(&self, model: &str) -> Result<EvalTable, Failure> {
        progress::say(format!("evaluating {model} on the {} set", self.config.setup.eval().set().label()));
        let started = Instant::now();
        self.actor.set_purpose(self.step, Purpose::Evaluate);
        let table = evaluate_with_bar(&self.game, &self.eval_context())?;
        let (pass1, seconds) = (100.0 * table.mean.pass1, started.elapsed().as_secs_f64());
        progress::say(format!("{model}: pass@1 {pass1:.1} %, measured in {seconds:.0} s"));
        Ok(table)
    }

    /// Evaluates on the validation set, where that is due after `step` steps. It has no bar: that of the run is there.
    #[tracing::instrument(level = "debug", skip_all, fields(step))]
    pub(super) fn validate(&self, step: u64) -> Result<Option<EvalTable>, Failure> {
        let Some(validation) = self.validation.as_ref().filter(|validation| validation.is_due(step)) else {
            return Ok(None);
        };
        let started = Instant::now();
        self.actor.set_purpose(step, Purpose::Evaluate);
        let table = validation.game(&self.game).evaluate(&self.eval_context())?;
        let (pass1, seconds) = (100.0 * table.mean.pass1, started.elapsed().as_secs_f64());
        let set = "on the validation set";
        progress::say(format!("after step {step}: pass@1 {pass1:.1} % {set}, measured in {seconds:.0} s"));
        // Of each task there would be a curve.
        Ok(Some(EvalTable { counts: None, intervals: None, ..table }))
    }

    /// What an evaluation runs with: the same samples each time, so that only the weights differ.
    fn eval_context(&self) -> StepContext<'_> {
        StepContext { policy: self.actor.policy(), execute: &self.executor, seed: self.config.setup.eval_seed() }
    }
}
