//! The Python image: loaded from the cache, or built once under a progress bar.

use std::sync::Arc;

use veriplay_sandbox::{BuildPhase, Image, ImageError, ImageSpec, ImageStore, default_cache_dir};

use crate::exit::{ExitCode, Failure};
use crate::progress;

/// Units of the progress bar of a build.
const BAR_UNITS: u64 = 1000;

/// The cache of this user.
pub(crate) fn store() -> Result<ImageStore, Failure> {
    let dir = default_cache_dir().map_err(failure)?;
    ImageStore::open(&dir).map_err(failure)
}

/// Loads the Python image; builds it first where it is missing.
pub(crate) fn python() -> Result<Arc<Image>, Failure> {
    let (store, spec) = (store()?, ImageSpec::python());
    if let Some(image) = store.load(&spec) {
        return Ok(image);
    }
    with_bar(|progress| store.load_or_build(&spec, progress))
}

/// Runs a build under a progress bar.
pub(crate) fn with_bar(
    build: impl FnOnce(&dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError>,
) -> Result<Arc<Image>, Failure> {
    progress::say("building the Python image: once, about a minute on two cores");
    let bar = progress::bar(BAR_UNITS, "image");
    let report = |phase: BuildPhase| {
        bar.set_position((phase.fraction_done() * BAR_UNITS as f64) as u64);
        bar.set_message(phase.describe());
        tracing::info!(phase = phase.describe(), "image");
    };
    let built = build(&report).map_err(failure);
    bar.finish_and_clear();
    built
}

/// Gives an image error its exit code and hint.
pub(crate) fn failure(error: ImageError) -> Failure {
    let hint = error.hint();
    let failure = Failure::new(ExitCode::Image, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
