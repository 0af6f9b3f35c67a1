//! When a step is played: at its turn, or ahead of it, while the step before trains (`steps_ahead`).
//!
//! Invariants: a step is sampled by the policy that it trains, or by that policy as it was one step before. No checkpoint holds a step that was played
//! ahead, and where one is written by the schedule none was: a killed run plays the same steps by the same policies. Timing changes nothing.

use std::time::Instant;

use veriplay_console::exit::Failure;
use veriplay_core::PolicyVersion;
use veriplay_selfplay::driver::Output;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::play::{PlayError, StepContext};

use super::Session;
use crate::game_setup::GameSetup;
use crate::play::learning::{Learned, Learning};
use crate::play::trainer::Purpose;

/// A step that was played, and is learned from next.
pub(super) struct PlayedStep<G: Game> {
    pub(super) output: Output<G>,
    /// The version of the policy that sampled it.
    pub(super) sampled_by: PolicyVersion,
    /// Jobs that it took.
    pub(super) jobs: u64,
    /// Seconds that it took beside the update of the step before, where it was played ahead.
    pub(super) sampled_s: Option<f64>,
}

/// A step that was played ahead.
pub(super) struct StepAhead<G: Game> {
    played: PlayedStep<G>,
    /// What the game carries on behind it.
    state: GameState<G::Task>,
}

impl<S: GameSetup> Session<S> {
    /// The step whose turn it is. From here on the state is that behind it; after an error it is that before it.
    pub(super) fn take_step(&mut self) -> Result<PlayedStep<S::Game>, PlayError> {
        let Some(ahead) = self.ahead.take() else { return self.play_now() };
        let StepAhead { played, mut state } = ahead?;
        // Since it was played they have watched the step before it.
        state.monitors = std::mem::take(&mut self.state.monitors);
        self.state = state;
        Ok(played)
    }

    fn play_now(&mut self) -> Result<PlayedStep<S::Game>, PlayError> {
        let step = self.step;
        self.actor.set_purpose(step, Purpose::Play);
        self.kept.advance(&self.config.run, step, |step| self.dir.checkpoint_path(step));
        let policy = self.other_proposer.beside(self.actor.policy(), Some(&self.kept));
        let context = StepContext { policy: &policy, execute: &self.executor, seed: self.config.run.seed };
        let jobs = self.executor.jobs();
        let output = self.game.step_or_undo(&context, &mut self.state, step)?;
        let jobs = self.executor.jobs() - jobs;
        Ok(PlayedStep { output, sampled_by: self.actor.version(), jobs, sampled_s: None })
    }

    /// Learns from the step whose turn it is. Beside that the next one is played, where it may be.
    pub(super) fn learn(&mut self, output: &Output<S::Game>, rate: f64) -> Result<Learned, Failure> {
        let (run, step) = (&self.config.run, self.step);
        let learning = Learning {
            batches: &output.batches,
            rewarded: &output.rewarded,
            rate,
            passes: run.learn.passes(),
            seed: run.seed,
            step,
            refreshes_reference: self.config.setup.refreshes_reference(),
            measures_roles: (step + 1).is_multiple_of(run.checkpoint_every),
        };
        if !self.config.is_sampled_ahead(step + 1) {
            return self.actor.learn(&learning);
        }
        self.kept.advance(run, step + 1, |step| self.dir.checkpoint_path(step));
        let (sampled_by, mut state) = (self.actor.version(), self.state.clone());
        let (learned, played) = self.actor.learn_beside(&learning, |frozen| -> Result<_, PlayError> {
            let policy = self.other_proposer.beside(frozen, Some(&self.kept));
            let context = StepContext { policy: &policy, execute: &self.executor, seed: run.seed };
            let (jobs, started) = (self.executor.jobs(), Instant::now());
            let output = self.game.step(&context, &mut state, step + 1)?;
            let (jobs, sampled_s) = (self.executor.jobs() - jobs, Some(started.elapsed().as_secs_f64()));
            Ok(PlayedStep { output, sampled_by, jobs, sampled_s })
        })?;
        self.ahead = played.map(|played| Ok(StepAhead { played: played?, state }));
        Ok(learned)
    }
}
