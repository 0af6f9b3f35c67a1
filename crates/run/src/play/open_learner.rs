//! The model that learns in this process: opened at the start of a run, or from a checkpoint, with its memory predicted before.
//!
//! Called by the session, and by the checks before a run.

use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;
use veriplay_learner::{Learner, ModelConfig};

use crate::device;
use crate::game_setup::GameSetup;
use crate::memory;
use crate::model;
use crate::play_config::PlayConfig;

/// What becomes of a run whose steps are predicted not to fit in memory.
#[derive(Clone, Copy)]
enum MemoryRule {
    /// A run that starts is refused.
    Refuse,
    /// A run that is resumed gets a warning: it has played before, on sequences that may be shorter than the longest that are planned for.
    Warn,
}

impl MemoryRule {
    fn apply(self, check: Result<(), Failure>) -> Result<(), Failure> {
        if let Some(warning) = self.warning(check)? {
            progress::say(warning);
        }
        Ok(())
    }

    /// What to say of a check, where it is not an error.
    fn warning(self, check: Result<(), Failure>) -> Result<Option<String>, Failure> {
        match (self, check) {
            (_, Ok(())) => Ok(None),
            (Self::Refuse, Err(failure)) => Err(failure),
            (Self::Warn, Err(failure)) => {
                Ok(Some(format!("warning: the run goes on, and may run out of memory: {}", failure.reason())))
            }
        }
    }
}

/// The start model, ready to learn. Refused where its steps are predicted not to fit.
pub(super) fn start_learner<S: GameSetup>(config: &PlayConfig<S>) -> Result<Learner, Failure> {
    open_start_model(config, MemoryRule::Refuse)
}

/// The model of a checkpoint, ready to learn on as if nothing had happened.
pub(super) fn resume_learner<S: GameSetup>(config: &PlayConfig<S>, checkpoint: &Path) -> Result<Learner, Failure> {
    if !config.run.learn.trains_adapters() {
        return resume_weights(config, checkpoint);
    }
    // The checkpoint's own weights are merged: the base is the start model, and adapters that start are the reference.
    let mut learner = open_start_model(config, MemoryRule::Warn)?;
    learner.load_adapters(checkpoint).or_fail(ExitCode::Model)?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    Ok(learner)
}

fn open_start_model<S: GameSetup>(config: &PlayConfig<S>, rule: MemoryRule) -> Result<Learner, Failure> {
    let learn = &config.run.learn;
    let options = learn.learner_options();
    let step_tokens = |shape: &ModelConfig| config.setup.step_tokens(options.context(shape));
    rule.apply(memory::check_before_load(&config.run.model, &options, step_tokens))?;
    let mut learner = model::open_trainable(&config.run.model, &options)?;
    rule.apply(memory::check(&learner, &step_tokens(learner.config())))?;
    if learn.needs_reference() || config.setup.needs_reference() {
        learner.hold_reference().or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

fn resume_weights<S: GameSetup>(config: &PlayConfig<S>, checkpoint: &Path) -> Result<Learner, Failure> {
    let learn = &config.run.learn;
    let options = learn.learner_options();
    device::check(&options)?;
    let step_tokens = |shape: &ModelConfig| config.setup.step_tokens(options.context(shape));
    let name = checkpoint.display().to_string();
    MemoryRule::Warn.apply(memory::check_before_load(&name, &options, step_tokens))?;
    let mut learner = Learner::load(checkpoint, options.clone()).or_fail(ExitCode::Model)?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    if learn.needs_reference() || config.setup.needs_reference() {
        let start = model::open_trainable(&config.run.model, &options)?;
        learner.hold_reference_of(&start).or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

#[cfg(test)]
mod tests {
    use super::MemoryRule;
    use veriplay_console::exit::{ExitCode, Failure};

    #[test]
    fn a_run_that_does_not_fit_is_refused_at_its_start_and_warned_when_it_is_resumed() {
        let what = "training it is predicted to take 3.0 GiB of memory, and 1.0 GiB is free";
        let check = || Err(Failure::message(ExitCode::Input, what).hint("train adapters"));
        let refused = MemoryRule::Refuse.warning(check()).expect_err("it is refused");
        assert_eq!(refused.to_string(), format!("error: {what}\nhint: train adapters"));
        let warned = MemoryRule::Warn.warning(check()).expect("it goes on").expect("it is warned");
        assert_eq!(warned, format!("warning: the run goes on, and may run out of memory: {what}"));
        for rule in [MemoryRule::Refuse, MemoryRule::Warn] {
            assert!(rule.warning(Ok(())).expect("it fits").is_none());
        }
    }
}
