//! What the binary carries: the quickstart's configuration and the tiny model; and how a model's name becomes a model.

use std::path::Path;

use veriplay_learner::{CheckpointError, HubOptions, Learner, LearnerOptions, resolve};

use crate::exit::{ExitCode, Failure, OrFail};

/// The configuration of `veriplay play` without `--config`.
pub(crate) const QUICKSTART: &str = include_str!("../../../configs/quickstart.toml");

/// Names the embedded model where a directory may stand.
pub(crate) const TINY: &str = "embedded:tiny";

/// Loads a checkpoint directory, a model of the hub, or the embedded model.
pub(crate) fn load_model(name: &str, options: &LearnerOptions) -> Result<Learner, Failure> {
    load(name, options, Learner::load)
}

/// As [`load_model`], but the checkpoint may lack a tokenizer.
pub(crate) fn load_model_by_ids(name: &str, options: &LearnerOptions) -> Result<Learner, Failure> {
    load(name, options, Learner::load_by_ids)
}

fn load(
    name: &str,
    options: &LearnerOptions,
    from: impl FnOnce(&Path, LearnerOptions) -> Result<Learner, CheckpointError>,
) -> Result<Learner, Failure> {
    if name == TINY {
        let config = include_str!("../../../models/tiny/config.json");
        let tokenizer = include_str!("../../../models/tiny/tokenizer.json");
        let weights = include_bytes!("../../../models/tiny/model.safetensors");
        return Learner::from_bytes(config, tokenizer, weights, options.clone()).or_fail(ExitCode::Bug);
    }
    let hint = |failure: Failure| failure.hint(format!("give a checkpoint directory, a hub id, or `{TINY}`"));
    let dir = resolve(name, &HubOptions::default()).or_fail(ExitCode::Model).map_err(hint)?;
    from(&dir, options.clone()).or_fail(ExitCode::Model).map_err(hint)
}
