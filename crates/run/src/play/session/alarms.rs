//! What alarms of monitors do to a run. All of it is in the next checkpoint, so that a resumed run writes the bytes of one that was not killed.

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::progress;
use veriplay_selfplay::monitors::Alarm;
use veriplay_selfplay::rollout::Part;

use super::Session;
use crate::config::{AlarmAction, AlarmEffects};
use crate::game_setup::GameSetup;
use crate::play::open_learner::restore_learner;

impl<S: GameSetup> Session<S> {
    /// Says what monitors have found in the step before, and does what the configuration says. `pass1` is that of the validation set, where it was
    /// measured after the step.
    pub(super) fn act_on(&mut self, alarms: &[Alarm], pass1: Option<f64>) -> Result<(), Failure> {
        let mut stop = None;
        let mut is_restored = false;
        for alarm in alarms {
            let Alarm { monitor, what } = alarm;
            progress::say(format!("alarm of `{monitor}` after step {}: {what}", self.step));
            match self.config.run.on_alarm.action(monitor) {
                AlarmAction::Log => {}
                AlarmAction::Stop => stop = stop.or(Some(alarm)),
                AlarmAction::FreezeProposer => self.freeze(Part::Proposal),
                AlarmAction::FreezeSolver => self.freeze(Part::Solution),
                AlarmAction::RaiseKl => self.raise_kl(),
                // Once a step, whatever else is wrong with it.
                AlarmAction::RestoreBest if is_restored => {}
                AlarmAction::RestoreBest => is_restored = self.restore_best()?,
            }
        }
        self.note_best(pass1.filter(|_| !is_restored));
        let Some(Alarm { monitor, what }) = stop else { return Ok(()) };
        self.save()?;
        let what = format!("the monitor `{monitor}` has stopped the run after step {}: {what}", self.step);
        Err(Failure::message(ExitCode::Interrupted, what).hint(self.resume_hint()))
    }

    fn freeze(&mut self, part: Part) {
        if self.state.frozen.insert(part) {
            self.ahead = None;
            progress::say(format!("from here on the {} learns nothing", part.role().name()));
        }
    }

    fn raise_kl(&mut self) {
        self.alarms.raised += 1;
        self.config.run.learn.change_by(&AlarmEffects { raised: 1, ..AlarmEffects::default() });
        let options = self.config.run.learn.learner_options();
        self.actor.set_kl_coefficient(&options);
        let coefficient = options.kl.map_or(0.0, |kl| kl.coefficient);
        progress::say(format!("`learn.kl.coefficient` is {coefficient} from here on"));
    }

    /// Goes on with the best checkpoint, and returns whether there was one. The tasks and the steps stay as they are.
    fn restore_best(&mut self) -> Result<bool, Failure> {
        let Some(best) = self.alarms.best else {
            progress::say("no checkpoint was evaluated yet, so none is restored");
            return Ok(false);
        };
        let path = self.dir.checkpoint_path(best.step);
        self.ahead = None;
        self.alarms.restored += 1;
        self.config.run.learn.change_by(&AlarmEffects { restored: 1, ..AlarmEffects::default() });
        let config = &self.config;
        self.actor.restore(|| restore_learner(config, &path)).map_err(|failure| failure.or_hint(self.resume_hint()))?;
        let rate = self.config.run.learn.learning_rate;
        progress::say(format!(
            "restored the weights of step {}; `learn.learning_rate` is {rate} from here on",
            best.step
        ));
        Ok(true)
    }

    /// Notes a checkpoint that is about to be written, where it may have to be restored.
    fn note_best(&mut self, pass1: Option<f64>) {
        let run = &self.config.run;
        let is_saved = run.kept_checkpoints(self.step).contains(&self.step);
        if let Some(pass1) = pass1.filter(|_| is_saved && run.on_alarm.has(AlarmAction::RestoreBest)) {
            self.alarms.note(self.step, pass1);
        }
    }
}
