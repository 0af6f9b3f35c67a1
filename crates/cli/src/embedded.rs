//! What the binary carries: the quickstart's configuration and the tiny model.

use std::path::Path;

use veriplay_learner::{Learner, LearnerOptions};

use crate::exit::{ExitCode, Failure, OrFail};

/// The configuration of `veriplay play` without `--config`.
pub(crate) const QUICKSTART: &str = include_str!("../../../configs/quickstart.toml");

/// Names the embedded model where a directory may stand.
pub(crate) const TINY: &str = "embedded:tiny";

/// Loads a checkpoint directory, or the embedded model.
pub(crate) fn load_model(name: &str, options: &LearnerOptions) -> Result<Learner, Failure> {
    if name == TINY {
        let config = include_str!("../../../models/tiny/config.json");
        let tokenizer = include_str!("../../../models/tiny/tokenizer.json");
        let weights = include_bytes!("../../../models/tiny/model.safetensors");
        return Learner::from_bytes(config, tokenizer, weights, options.clone()).or_fail(ExitCode::Bug);
    }
    let loaded = Learner::load(Path::new(name), options.clone()).or_fail(ExitCode::Model);
    loaded.map_err(|failure| failure.hint(format!("give a checkpoint directory, or `{TINY}`")))
}
