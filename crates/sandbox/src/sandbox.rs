//! The sandbox: jobs in, outcomes out, from any thread.

use std::sync::{Arc, PoisonError, RwLock};

use veriplay_core::{Execute, ExecuteError, Exit, Job, LimitKind, Outcome};

use crate::image::{Image, ImageError};
use crate::memory::ResetMode;
use crate::pool::Pool;
use crate::request;
#[cfg(feature = "weaken")]
use crate::weakness::Weakness;
use crate::weakness::{self, Weakened};

/// How a sandbox runs its jobs. None of it changes an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxOptions {
    /// Jobs that run at once, each in its own instance (some 100 MB of address space, about 10 MB of memory);
    /// more callers wait. 0 means one for each processor.
    pub max_parallel: usize,
    /// How an instance is brought back to the image's state after a job.
    pub reset: ResetMode,
}

impl SandboxOptions {
    /// One job per processor, the fastest reset.
    #[must_use]
    pub const fn fastest() -> Self {
        Self { max_parallel: 0, reset: ResetMode::Scan }
    }
}

/// Runs jobs in one image.
///
/// The same job has the same outcome, fuel included, in a new or a used instance, on any thread. The one exception is a
/// job that meets its wall-clock deadline: it is run once more, alone in this sandbox, and that outcome counts.
pub struct Sandbox {
    image: Arc<Image>,
    pool: Pool,
    /// Held by every job, together with others, and by one that is run again for its deadline, alone.
    alone: RwLock<()>,
    /// What is weakened: nothing but in tests of the isolation suite.
    weakened: Weakened,
}

impl Sandbox {
    /// A sandbox for jobs of `image`. Instances are made when jobs need them; a job runs on the thread that asks.
    ///
    /// # Errors
    /// When the host cannot provide what jobs run in.
    pub fn new(image: Arc<Image>, options: SandboxOptions) -> Result<Self, ImageError> {
        Self::with(image, options, Weakened::default())
    }

    /// The same with one defence off, for tests that show that somebody notices.
    ///
    /// # Errors
    /// When the host cannot provide what jobs run in.
    #[cfg(feature = "weaken")]
    pub fn weakened(image: Arc<Image>, options: SandboxOptions, weakness: Weakness) -> Result<Self, ImageError> {
        Self::with(image, options, Weakened::by(weakness))
    }

    fn with(image: Arc<Image>, options: SandboxOptions, weakened: Weakened) -> Result<Self, ImageError> {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let workers = if options.max_parallel == 0 { processors() } else { options.max_parallel };
        let pool = Pool::new(Arc::clone(&image), options.reset, workers);
        Ok(Self { image, pool, alone: RwLock::new(()), weakened })
    }

    /// One run, or two where the first failed through a fault of ours.
    fn attempt(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.pool.run(job, true).or_else(|fault| {
            tracing::warn!(%fault, "a job failed through a fault of the sandbox, it is run again on a new instance");
            self.pool.run(job, false).map_err(ExecuteError::Host)
        })
    }

    /// The image it runs.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}

impl Execute for Sandbox {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        if job.image != self.image.name() {
            return Err(ExecuteError::UnknownImage(job.image.clone()));
        }
        request::check(job, self.image.memory_bytes())?;
        let _weakened = self.weakened.enter();
        // The lock guards no data, so another thread's panic says nothing against it.
        let with_others = self.alone.read().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.attempt(job)?;
        weakness::lose_worker(&outcome)?;
        drop(with_others);
        if !met_deadline(&outcome) {
            return Ok(outcome);
        }
        let _alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
        self.attempt(job)
    }
}

/// Whether the wall clock ended the job, or its peer.
fn met_deadline(outcome: &Outcome) -> bool {
    let ended = matches!(outcome.exit, Exit::Exceeded { limit: LimitKind::DeadlineNs, .. });
    ended || outcome.peer.as_deref().is_some_and(met_deadline)
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("image", &self.image).finish_non_exhaustive()
    }
}
