//! The model of a run: from its start, or from one of its checkpoints.

use std::path::Path;

use veriplay_learner::Learner;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::Setup;
use crate::play_config::PlayConfig;
use crate::{device, embedded, memory, model};

/// The start model, ready to learn.
pub(super) fn at_start<S: Setup>(config: &PlayConfig<S>) -> Result<Learner, Failure> {
    let learn = &config.run.learn;
    let mut learner = model::open_trainable(&config.run.model, &learn.learner_options())?;
    memory::check(&learner, &config.setup.demand(learner.config()))?;
    if learn.needs_reference() || config.setup.needs_reference() {
        learner.hold_reference().or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

/// The model of a checkpoint, ready to learn on as if nothing had happened.
pub(super) fn resumed<S: Setup>(config: &PlayConfig<S>, checkpoint: &Path) -> Result<Learner, Failure> {
    let learn = &config.run.learn;
    let options = learn.learner_options();
    if learn.trains_adapters() {
        // The checkpoint's own weights are merged: the base is the start model, and adapters that start are the reference.
        let mut learner = at_start(config)?;
        learner.load_adapters(checkpoint).or_fail(ExitCode::Model)?;
        learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
        return Ok(learner);
    }
    device::check(&options)?;
    let mut learner = Learner::load(checkpoint, options.clone()).or_fail(ExitCode::Model)?;
    memory::check(&learner, &config.setup.demand(learner.config()))?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    if learn.needs_reference() || config.setup.needs_reference() {
        let start = embedded::load_model(&config.run.model, &options)?;
        learner.hold_reference_of(&start).or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}
