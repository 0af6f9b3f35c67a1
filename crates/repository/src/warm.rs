//! Images in which pytest is imported, for the jobs that run tests, and sandboxes on them.

use std::sync::Arc;

use veriplay_core::{Layer, Limits};
use veriplay_sandbox::{Image, Layers, Sandbox, SandboxOptions};
use veriplay_verifier::repository::warming;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};

/// The parts of a repository that an image is warmed for.
pub(super) struct WarmSources<'a> {
    pub(super) package: &'a Layer,
    pub(super) dependencies: Option<&'a Layer>,
    pub(super) library: &'a [String],
    pub(super) limits: Limits,
}

/// The images that tests of repositories run in.
pub struct RepoImages {
    /// For tests in the instance of the package: its sources are compiled there.
    pub shared: Arc<Image>,
    /// In two instances, and where a policy's tools run: only pytest has been compiled there.
    pub split: Arc<Image>,
}

impl RepoImages {
    /// Warms the Python image for `sources`, which may not be empty.
    pub(super) fn warm(pytest: &Layer, sources: &[WarmSources<'_>]) -> Result<Self, Failure> {
        let limits = sources.iter().map(|one| one.limits).max_by_key(|limits| limits.fuel);
        let limits =
            limits.ok_or_else(|| Failure::message(ExitCode::Input, "there is no repository to warm an image for"))?;
        let image = image::python()?;
        let shared = warmed_for(Arc::clone(&image), &format!("{}+pytest", image.name()), pytest, sources)?;
        // Nothing of any repository is compiled in this one.
        let nothing = Layer::new([]).or_fail(ExitCode::Bug)?;
        let sources = [WarmSources { package: &nothing, dependencies: None, library: &[], limits }];
        let name = format!("{}+desk", image.name());
        Ok(Self { shared, split: warmed_for(image, &name, pytest, &sources)? })
    }

    /// A sandbox on each.
    pub fn sandboxes(
        &self,
        options: SandboxOptions,
        workers: Isolation,
        layers: &[Layer],
    ) -> Result<Vec<Sandbox>, Failure> {
        let on = |image: &Arc<Image>| {
            let sandbox = isolation::open_sandbox(Arc::clone(image), options, workers)?;
            Ok(sandbox.with_layers(layers.iter().cloned().collect()))
        };
        [&self.shared, &self.split].into_iter().map(on).collect()
    }
}

/// `image`, warmed for these sources, which are compiled in it.
pub(super) fn warmed_for(
    image: Arc<Image>,
    name: &str,
    pytest: &Layer,
    sources: &[WarmSources<'_>],
) -> Result<Arc<Image>, Failure> {
    sources.iter().try_fold(image, |image, &WarmSources { package, dependencies, library, limits }| {
        let layers: Layers = [Some(package), Some(pytest), dependencies].into_iter().flatten().cloned().collect();
        let dependencies = dependencies.map(Layer::digest);
        let job = warming(image.name(), pytest.digest(), package.digest(), dependencies, library, limits);
        image.warm_up(name, &job, &layers).map_err(image::failure)
    })
}
