//! The executor: the sandbox on the images that a game needs. It runs repeated jobs once, and counts all.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use veriplay_core::{Execute, ExecuteError, Job, Outcome};
use veriplay_sandbox::{ImageError, ImageSpec, Sandbox, SandboxOptions};
use veriplay_verifier::OutcomeCache;

use crate::exit::{ExitCode, Failure, bad_value};
use crate::image;
use crate::isolation::{self, Isolation};
use crate::judged_images::ImageDigests;

/// Outcomes that are cached: about as many as a quickstart repeats, some tens of megabytes.
const REMEMBERED: usize = 1 << 16;

/// Runs jobs in the images it was opened with.
pub(crate) struct GameExecutor {
    cache: OutcomeCache<Sandboxes>,
    jobs: AtomicU64,
    images: ImageDigests,
}

impl GameExecutor {
    /// Loads these images, building them first where they are missing. A name that is there twice is loaded once.
    pub(crate) fn open(names: &[&str], workers: Isolation) -> Result<Self, Failure> {
        let names: BTreeSet<&str> = names.iter().copied().collect();
        let open = |name| isolation::open_sandbox(image::open(name)?, SandboxOptions::fastest(), workers);
        Ok(Self::over(names.into_iter().map(open).collect::<Result<_, Failure>>()?))
    }

    /// Refuses the value of configuration key `key` where it names no image.
    pub(crate) fn check_image(key: &str, name: &str) -> Result<(), Failure> {
        let Err(error) = ImageSpec::find(name) else { return Ok(()) };
        let failure = match &error {
            ImageError::UnknownName { known, .. } => bad_value(key, &name, &format!("one of {}", known.join(", "))),
            error => Failure::message(ExitCode::Input, format!("configuration key `{key}` is `{name}`: {error}")),
        };
        Err(match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        })
    }

    /// Over sandboxes on images of different names.
    pub(crate) fn over(sandboxes: Vec<Sandbox>) -> Self {
        let images = sandboxes.iter().map(Sandbox::image);
        let images = images.map(|image| (image.cached_name().to_owned(), image.cached_digest().clone())).collect();
        Self { cache: OutcomeCache::new(Sandboxes(sandboxes), REMEMBERED), jobs: AtomicU64::new(0), images }
    }

    /// The images that its guests start from.
    pub(crate) const fn images(&self) -> &ImageDigests {
        &self.images
    }

    /// Jobs so far, those answered from the cache included.
    pub(crate) fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }
}

impl Execute for GameExecutor {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.cache.execute(job)
    }
}

/// Sandboxes on images of different names. Each job runs in that of its image.
pub(crate) struct Sandboxes(pub(crate) Vec<Sandbox>);

impl Execute for Sandboxes {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        match self.0.iter().find(|sandbox| sandbox.image().name() == job.image) {
            Some(sandbox) => sandbox.execute(job),
            None => Err(ExecuteError::UnknownImage(job.image.clone())),
        }
    }
}
