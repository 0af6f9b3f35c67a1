//! The sandbox: jobs in, outcomes out, from any thread.

use std::sync::Arc;

use veriplay_core::{CancellationToken, Execute, ExecuteError, Exit, GuestError, Job, Outcome};

use crate::image::{Image, ImageError};
use crate::job_lock::JobLock;
use crate::job_profile::Profiler;
use crate::layers::Layers;
use crate::memory::ResetMode;
use crate::pool::{InProcessRunner, Pool, RunError};
use crate::request;
use crate::worker::{ProcessRunner, WorkerProgram};

/// How a sandbox runs its jobs. None of it changes an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxOptions {
    /// The most jobs that run at once, each in its own instance (8.2 GiB of address space and 10 MB of memory). More callers wait. 0
    /// means one per processor.
    pub max_parallel: usize,
    /// How an instance is reset to the image's state after a job.
    pub reset: ResetMode,
}

impl SandboxOptions {
    /// One job per processor, the fastest reset.
    #[must_use]
    pub const fn fastest() -> Self {
        Self { max_parallel: 0, reset: ResetMode::Scan }
    }

    pub(crate) fn parallel(self) -> usize {
        match self.max_parallel {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            most => most,
        }
    }
}

/// Runs jobs in one image.
///
/// The same job has the same outcome, fuel included, in a new or a used instance, on any thread or in any process. The one
/// exception is a job that meets its wall-clock deadline: it is run once more, alone in this sandbox, and that outcome
/// counts. So is a job that a fault of ours ended.
pub struct Sandbox {
    image: Arc<Image>,
    /// The layers that a job's base may name. The workers have them too.
    layers: Layers,
    workers: Workers,
    /// Shared by all jobs but one that runs again alone.
    lock: JobLock,
}

enum Workers {
    InProcess(Pool<InProcessRunner>),
    Processes(Box<Pool<ProcessRunner>>),
}

impl Sandbox {
    /// The Python image, as [`Image::python`] finds or makes it, in a sandbox with [`SandboxOptions::fastest`].
    ///
    /// # Errors
    /// When there is no image; [`ImageError::hint`] says what to do.
    pub fn python() -> Result<Self, ImageError> {
        Ok(Self::new(Image::python()?, SandboxOptions::fastest()))
    }

    /// Runs `job` from the image's state. Everything a program can do is `Ok`.
    ///
    /// # Errors
    /// Only faults of the job's description or of the host, after one retry on a new instance.
    pub fn run(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.execute(job)
    }

    /// Runs `job` as [`Self::run`] does, unless it is cancelled. An outcome does not depend on who could have cancelled the job.
    ///
    /// # Errors
    /// Those of [`Self::run`], and [`ExecuteError::Cancelled`]: the job has no outcome, and the sandbox is as before it. A job that waits for
    /// others or for a worker to start is cancelled too.
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        self.check_job(job)?;
        run_twice(&self.lock, job, cancellation, &|may_reuse| self.run_once(job, may_reuse, cancellation))
    }

    fn check_job(&self, job: &Job) -> Result<(), ExecuteError> {
        if job.image != self.image.name() {
            return Err(ExecuteError::UnknownImage(job.image.clone()));
        }
        if let Some(other) = job.interactor.as_ref().map(|of| of.image_in(job)).filter(|other| *other != job.image) {
            return Err(ExecuteError::UnknownImage(other.to_owned()));
        }
        request::check_job(job, self.image.memory_bytes())?;
        let is_of_modules = job.interactor.as_ref().is_some_and(|of| of.module.is_some() || !of.arguments.is_empty());
        if is_of_modules || !job.arguments.is_empty() {
            let what =
                "has no `arguments`, and no interactor that is a module: only modules and what is compiled to them do";
            return Err(ExecuteError::BadJob(format!("a job of the image `{}` {what}", job.image)));
        }
        self.image.kind.check_job(job)?;
        let Some(base) = &job.base else { return Ok(()) };
        self.layers.check_files(base, None, &job.files).map_err(ExecuteError::BadJob)?;
        if let Some(callee) = &job.callee {
            self.layers.check_files(base, Some(callee), &callee.files_in(job)).map_err(ExecuteError::BadJob)?;
        }
        Ok(())
    }

    /// A sandbox for jobs of `image`. Instances are made when jobs need them; a job runs on the thread that asks.
    #[must_use]
    pub fn new(image: Arc<Image>, options: SandboxOptions) -> Self {
        let here = InProcessRunner::new(Arc::clone(&image), options.reset, Layers::default());
        let workers = Workers::InProcess(Pool::new(here, options.parallel(), Vec::new()));
        Self { image, layers: Layers::default(), workers, lock: JobLock::default() }
    }

    /// The same, and what its jobs take.
    #[must_use]
    pub fn profiled(image: Arc<Image>, options: SandboxOptions) -> (Self, Profiler) {
        let (mut sandbox, profiler) = (Self::new(image, options), Profiler::default());
        if let Workers::InProcess(pool) = &mut sandbox.workers {
            pool.clear_idle().set_profiler(profiler.clone());
        }
        (sandbox, profiler)
    }

    /// A sandbox whose jobs run in worker processes: a second wall between a guest and this process, for some
    /// microseconds a job. A worker has no environment, no files, no network and few system calls. When one dies, the job
    /// is run again, alone, in a new one.
    ///
    /// # Errors
    /// When a worker cannot be started, lacks the image, or cannot be locked down; the first one is started to find out. Of an
    /// image that was [warmed](Image::warm_up) it needs the one it was made of, and is handed the rest.
    pub fn in_processes(
        image: Arc<Image>,
        options: SandboxOptions,
        program: WorkerProgram,
    ) -> Result<Self, ExecuteError> {
        let processes = ProcessRunner::new(program, &image, options.reset);
        let first = processes.start().map_err(|error| ExecuteError::Host(error.to_string()))?;
        let pool = Pool::new(processes, options.parallel(), vec![Some(first)]);
        Ok(Self {
            image,
            layers: Layers::default(),
            workers: Workers::Processes(Box::new(pool)),
            lock: JobLock::default(),
        })
    }

    /// Starts the worker processes that no job has needed yet, so that none waits for one.
    pub fn start_workers(&self) {
        if let Workers::Processes(pool) = &self.workers {
            pool.fill(|runner| runner.start().ok().map(Some));
        }
    }

    /// The same sandbox, whose jobs may have a [`Job::base`] of these layers. Worker processes are sent them once, when they
    /// start; those that run are replaced.
    #[must_use]
    pub fn with_layers(mut self, layers: Layers) -> Self {
        match &mut self.workers {
            Workers::InProcess(pool) => pool.clear_idle().set_layers(layers.clone()),
            Workers::Processes(pool) => pool.clear_idle().set_layers(&layers),
        }
        self.layers = layers;
        self
    }

    fn run_once(&self, job: &Job, may_reuse: bool, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        if cancellation.is_cancelled() {
            // It would cost an instance.
            return Err(RunError::cancelled());
        }
        match &self.workers {
            Workers::InProcess(pool) => pool.run(job, may_reuse, cancellation),
            Workers::Processes(pool) => pool.run(job, may_reuse, cancellation),
        }
    }

    /// The image of its jobs.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}

impl Execute for Sandbox {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.run_cancellable(job, &CancellationToken::new())
    }
}

/// Runs a job by `run_once`, which is told whether what earlier jobs left may be reused. One that met a fault or its deadline is run again, with no
/// other job beside it.
pub(crate) fn run_twice(
    lock: &JobLock,
    job: &Job,
    cancellation: &CancellationToken,
    run_once: &dyn Fn(bool) -> Result<Outcome, RunError>,
) -> Result<Outcome, ExecuteError> {
    let with_others = lock.share(cancellation).ok_or(ExecuteError::Cancelled)?;
    let first = run_once(true);
    drop(with_others);
    let first = match first {
        Ok(outcome) if !outcome.met_deadline() => return Ok(outcome),
        // It was ended, or met a fault or its deadline before that.
        _ if cancellation.is_cancelled() => return Err(ExecuteError::Cancelled),
        first => first,
    };
    if let Err(fault) = &first {
        tracing::warn!(%fault, "a job failed through a fault of the sandbox, it is run again alone");
    }
    let _alone = lock.hold_alone(cancellation).ok_or(ExecuteError::Cancelled)?;
    match (first, run_once(false)) {
        (_, Ok(outcome)) => Ok(outcome),
        _ if cancellation.is_cancelled() => Err(ExecuteError::Cancelled),
        // The same crash twice, the second time alone, is the program's fault and must not be rewarded above a failure.
        (Err(RunError::Crash(a)), Err(RunError::Crash(b))) if a == b => Ok(crash_outcome(a, job)),
        (_, Err(error)) => Err(ExecuteError::Host(error.to_string())),
    }
}

/// The outcome of a job whose worker process died of signal `signal` twice.
fn crash_outcome(signal: i32, job: &Job) -> Outcome {
    let message = format!("it ended its worker process by signal {signal}, twice");
    Outcome {
        error: Some(GuestError { kind: "worker_crash".to_owned(), message }),
        // Unknown, so the most it can have used.
        fuel: job.limits.fuel,
        peak_memory_bytes: job.limits.memory_bytes,
        ..Outcome::new(Exit::Trapped)
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("image", &self.image).finish_non_exhaustive()
    }
}

/// Sandboxes on images of different names. Each job runs in the one on its image.
#[derive(Debug)]
pub struct SandboxSet {
    sandboxes: Vec<Sandbox>,
}

impl SandboxSet {
    /// The set of these. Of two on images of one name the first has all jobs.
    #[must_use]
    pub const fn new(sandboxes: Vec<Sandbox>) -> Self {
        Self { sandboxes }
    }

    /// The first of them, where there is one.
    #[must_use]
    pub fn first(&self) -> Option<&Sandbox> {
        self.sandboxes.first()
    }

    /// Runs `job`, unless it is cancelled.
    ///
    /// # Errors
    /// Those of [`Sandbox::run_cancellable`].
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        match self.sandboxes.iter().find(|sandbox| sandbox.image().name() == job.image) {
            Some(sandbox) => sandbox.run_cancellable(job, cancellation),
            None => Err(ExecuteError::UnknownImage(job.image.clone())),
        }
    }
}

impl Execute for SandboxSet {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.run_cancellable(job, &CancellationToken::new())
    }
}
