//! An image in which pytest is imported and packages are compiled, for the jobs that run their tests.

use std::sync::Arc;

use veriplay_core::Layer;
use veriplay_sandbox::{Image, Layers};
use veriplay_verifier::repository::warming;

use super::Stored;
use crate::exit::Failure;
use crate::image;
use crate::workers::Workers;

/// `image`, warmed for `repositories`; as it is for worker processes, which cannot load one that is in no cache.
pub(crate) fn warmed<'a>(
    image: Arc<Image>,
    pytest: &Layer,
    repositories: impl IntoIterator<Item = &'a Stored>,
    workers: Workers,
) -> Result<Arc<Image>, Failure> {
    if workers == Workers::Process {
        return Ok(image);
    }
    let name = format!("{}+pytest", image.name());
    repositories.into_iter().try_fold(image, |image, stored| {
        let layers: Layers = [&stored.package, pytest].into_iter().cloned().collect();
        let job = warming(image.name(), pytest.digest(), stored.package.digest(), stored.baseline.limits);
        image.warmed(&name, &job, &layers).map_err(image::failure)
    })
}
