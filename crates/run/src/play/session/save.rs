//! Checkpoints: when one is written, what is kept of them, and how a run that stops or fails goes on from the newest.

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;
use veriplay_core::SCHEMA_VERSION;

use super::Session;
use crate::game_setup::GameSetup;
use crate::rundir::PlayState;

impl<S: GameSetup> Session<S> {
    #[tracing::instrument(level = "debug", skip_all, fields(step = self.step))]
    pub(super) fn checkpoint(&mut self) -> Result<(), Failure> {
        let state = PlayState {
            schema_version: SCHEMA_VERSION,
            step: self.step,
            events_bytes: self.events.sync().or_fail(ExitCode::Input)?,
            rollouts_bytes: self.rollouts.sync().or_fail(ExitCode::Input)?,
            totals: self.totals,
            start_weights: self.start_model.as_ref().map(|start| start.digest.clone()),
            alarms: self.alarms.clone(),
            game: &self.state,
        };
        let code = if self.is_external() { ExitCode::Model } else { ExitCode::Input };
        self.dir.save_checkpoint(|folder| self.actor.save(folder, self.step), &state).or_fail(code)?;
        tracing::info!(step = self.step, "checkpoint written");
        // What an interruption left beside the schedule goes too, so that a resumed run ends as an uninterrupted one.
        let kept = self.config.run.kept_checkpoints(self.step);
        let best = self.alarms.best.map(|best| best.step);
        let is_kept = |step: u64| step == self.step || kept.contains(&step) || best == Some(step);
        let removed = self.dir.prune_checkpoints(is_kept).or_fail(ExitCode::Input)?;
        self.tell_pruning(&removed);
        Ok(())
    }

    /// Writes a checkpoint where the newest is of an earlier step.
    pub(super) fn save(&mut self) -> Result<(), Failure> {
        let is_saved = self.step == 0 || self.dir.checkpoint_steps().last() == Some(&self.step);
        if is_saved { Ok(()) } else { self.checkpoint() }
    }

    /// Saves the steps before one that a policy or a plug-in has failed in, and adds to its failure how to go on.
    pub(super) fn save_before(&mut self, failure: Failure) -> Failure {
        // A trainer may be what has failed: it is asked for nothing more.
        if !self.is_external()
            && let Err(unsaved) = self.save()
        {
            tracing::warn!(step = self.step, %unsaved, "the steps since the last checkpoint cannot be saved");
        }
        failure.or_hint(self.resume_hint())
    }

    /// Saves the steps since the last checkpoint, and says how to go on.
    pub(super) fn stop(&mut self, is_saved: bool) -> Failure {
        if !is_saved && let Err(failure) = self.checkpoint() {
            return failure;
        }
        let what = format!("stopped after step {} of {}", self.step, self.config.run.steps);
        Failure::message(ExitCode::Interrupted, what).hint(self.resume_hint())
    }

    pub(super) fn resume_hint(&self) -> String {
        format!("continue with `veriplay play --resume {}`", progress::shell_word(&self.dir.path("")))
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
