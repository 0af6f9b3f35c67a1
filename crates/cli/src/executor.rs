//! The executor: the sandbox on the images that a game needs. It runs repeated jobs once, and counts all.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use veriplay_core::{Execute, ExecuteError, Job, Outcome};
use veriplay_sandbox::{ImageSpec, Sandbox, SandboxOptions};
use veriplay_verifier::OutcomeCache;

use crate::exit::{Failure, bad_value};
use crate::image;
use crate::isolation::{self, Isolation};

/// Outcomes that are cached: about as many as a quickstart repeats, some tens of megabytes.
const REMEMBERED: usize = 1 << 16;

/// Runs jobs in the images it was opened with.
pub(crate) struct GameExecutor {
    cache: OutcomeCache<Sandboxes>,
    jobs: AtomicU64,
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
        // A run records the name alone, which says nothing of what an image of the user's is made of.
        let names = ImageSpec::builtin_names();
        if names.contains(&name) {
            return Ok(());
        }
        Err(bad_value(key, &name, &format!("one of {}", names.join(", "))))
    }

    /// Over sandboxes on images of different names.
    pub(crate) fn over(sandboxes: Vec<Sandbox>) -> Self {
        Self { cache: OutcomeCache::new(Sandboxes(sandboxes), REMEMBERED), jobs: AtomicU64::new(0) }
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
