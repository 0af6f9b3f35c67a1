//! Images in which pytest is imported, for the jobs that run tests, and sandboxes on them.

use std::sync::Arc;

use veriplay_core::{Layer, Limits};
use veriplay_sandbox::{Image, Layers, Sandbox, SandboxOptions};
use veriplay_verifier::repository::warming;

use super::Stored;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::image;
use crate::workers::{self, Workers};

/// What of a repository an image is warmed for.
pub(super) struct WarmSources<'a> {
    pub(super) package: &'a Layer,
    pub(super) dependencies: Option<&'a Layer>,
    pub(super) library: &'a [String],
    pub(super) limits: Limits,
}

/// The images that tests of repositories run in.
pub(crate) struct RepoImages {
    /// Beside the package: its sources are compiled there.
    pub(crate) beside: Arc<Image>,
    /// In two instances, and where a policy's tools run: pytest alone has been compiled there.
    pub(crate) split: Arc<Image>,
}

impl RepoImages {
    /// Warms the Python image for `repositories`, which may not be empty.
    pub(crate) fn warm(pytest: &Layer, repositories: &[Stored]) -> Result<Self, Failure> {
        let limits = repositories.iter().map(|stored| stored.baseline.limits).max_by_key(|limits| limits.fuel);
        let limits =
            limits.ok_or_else(|| Failure::message(ExitCode::Input, "there is no repository to warm an image for"))?;
        let beside = warmed(image::python()?, pytest, repositories)?;
        Ok(Self { beside, split: warmed_for_tools(image::python()?, pytest, limits)? })
    }

    /// A sandbox on each.
    pub(crate) fn sandboxes(
        &self,
        options: SandboxOptions,
        workers: Workers,
        layers: &[Layer],
    ) -> Result<Vec<Sandbox>, Failure> {
        let on = |image: &Arc<Image>| {
            let sandbox = workers::sandbox(Arc::clone(image), options, workers)?;
            Ok(sandbox.with_layers(layers.iter().cloned().collect()))
        };
        [&self.beside, &self.split].into_iter().map(on).collect()
    }
}

/// `image`, warmed for `repositories`, whose sources are compiled in it.
fn warmed<'a>(
    image: Arc<Image>,
    pytest: &Layer,
    repositories: impl IntoIterator<Item = &'a Stored>,
) -> Result<Arc<Image>, Failure> {
    let name = format!("{}+pytest", image.name());
    let sources = |stored: &'a Stored| WarmSources {
        package: &stored.package,
        dependencies: stored.dependencies.as_ref(),
        library: &stored.baseline.library,
        limits: stored.baseline.limits,
    };
    warmed_for(image, &name, pytest, repositories.into_iter().map(sources))
}

/// `image`, warmed for pytest alone: nothing of any repository has been compiled in it.
fn warmed_for_tools(image: Arc<Image>, pytest: &Layer, limits: Limits) -> Result<Arc<Image>, Failure> {
    let name = format!("{}+desk", image.name());
    let nothing = Layer::new([]).or_fail(ExitCode::Bug)?;
    warmed_for(image, &name, pytest, [WarmSources { package: &nothing, dependencies: None, library: &[], limits }])
}

pub(super) fn warmed_for<'a>(
    image: Arc<Image>,
    name: &str,
    pytest: &Layer,
    sources: impl IntoIterator<Item = WarmSources<'a>>,
) -> Result<Arc<Image>, Failure> {
    sources.into_iter().try_fold(image, |image, WarmSources { package, dependencies, library, limits }| {
        let layers: Layers = [Some(package), Some(pytest), dependencies].into_iter().flatten().cloned().collect();
        let dependencies = dependencies.map(Layer::digest);
        let job = warming(image.name(), pytest.digest(), package.digest(), dependencies, library, limits);
        image.warmed(name, &job, &layers).map_err(image::failure)
    })
}
