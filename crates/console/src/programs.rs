//! What programs of all languages run in: an image of their language, or the toolchain, whose jobs have the images `cpp` and `c`.

use std::sync::{Arc, OnceLock};

use veriplay_core::{CancellationToken, Digest, Execute, ExecuteError, Job, Limits, Outcome};
use veriplay_sandbox::{CompiledSandbox, Image, ModuleSandbox, Sandbox, SandboxOptions, SandboxSet, Toolchain};

use crate::exit::Failure;
use crate::image;
use crate::isolation::{self, Isolation};

/// An image that programs are run in.
#[derive(Debug)]
pub enum ProgramImage {
    /// Its programs start from its state.
    Interpreted(Arc<Image>),
    /// Its programs are compiled before they run.
    Compiled(Arc<Toolchain>),
}

impl ProgramImage {
    /// Opens the images of these names, and builds first what the cache lacks.
    pub fn open_all(names: &[String]) -> Result<Vec<Self>, Failure> {
        let compiles = names.iter().any(|name| image::is_compiled(name));
        let toolchain = compiles.then(image::open_toolchain).transpose()?;
        names.iter().map(|name| Self::open(name, toolchain.as_ref())).collect()
    }

    fn open(name: &str, toolchain: Option<&Arc<Toolchain>>) -> Result<Self, Failure> {
        match toolchain.filter(|_| image::is_compiled(name)) {
            Some(toolchain) => Ok(Self::Compiled(Arc::clone(toolchain))),
            None => image::open(name).map(Self::Interpreted),
        }
    }

    /// Names its content. Verdicts depend on it.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        match self {
            Self::Interpreted(image) => image.digest(),
            Self::Compiled(toolchain) => toolchain.digest(),
        }
    }

    /// Its manifest, where it is one of the user's.
    #[must_use]
    pub fn manifest(&self) -> Option<&str> {
        match self {
            Self::Interpreted(image) => image.cached_manifest(),
            Self::Compiled(_) => None,
        }
    }

    /// Limits of jobs that have none of their own.
    #[must_use]
    pub fn default_limits(&self) -> Limits {
        match self {
            Self::Interpreted(image) => image.default_limits(),
            Self::Compiled(_) => Toolchain::default_limits(),
        }
    }

    /// Bytes of memory that every job needs.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Self::Interpreted(image) => image.memory_bytes(),
            Self::Compiled(_) => Toolchain::PROGRAM_BYTES,
        }
    }
}

/// Runs each job in the sandbox of its image, and one whose interactor is in another image in that of the two.
#[derive(Debug)]
pub struct ProgramSandbox {
    interpreted: SandboxSet,
    /// Of jobs whose program or interactor is compiled.
    compiled: Option<CompiledSandbox>,
    /// Of those whose program and interactor are in two of several images.
    mixed: Option<MixedSandbox>,
}

/// A sandbox for programs and interactors in two of these images. The first job that needs it opens it.
#[derive(Debug)]
struct MixedSandbox {
    images: Vec<Arc<Image>>,
    options: SandboxOptions,
    isolation: Isolation,
    opened: OnceLock<ModuleSandbox>,
}

impl MixedSandbox {
    fn open(&self) -> Result<&ModuleSandbox, ExecuteError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let modules = isolation::open_modules(self.options, self.isolation)
            .map_err(|failure| ExecuteError::Host(failure.to_string()))?;
        Ok(self.opened.get_or_init(|| modules.with_images(self.images.clone())))
    }
}

impl ProgramSandbox {
    /// Opens a sandbox on each of the images; those whose programs are compiled share one.
    pub fn open(images: Vec<ProgramImage>, options: SandboxOptions, isolation: Isolation) -> Result<Self, Failure> {
        let (mut sandboxes, mut interpreted, mut toolchain) = (Vec::new(), Vec::new(), None);
        for image in images {
            match image {
                ProgramImage::Interpreted(image) => {
                    interpreted.push(Arc::clone(&image));
                    sandboxes.push(isolation::open_sandbox(image, options, isolation)?);
                }
                ProgramImage::Compiled(opened) => toolchain = Some(opened),
            }
        }
        let open_compiled = |opened| isolation::open_compiled(opened, options, isolation);
        let compiled = toolchain.map(open_compiled).transpose()?.map(|of| of.with_images(interpreted.clone()));
        let mixed = match interpreted.len() {
            0 | 1 => None,
            _ => Some(MixedSandbox { images: interpreted, options, isolation, opened: OnceLock::new() }),
        };
        Ok(Self { interpreted: SandboxSet::new(sandboxes), compiled, mixed })
    }

    /// Starts the worker processes of the first image whose programs are not compiled. Those of others start when a job needs them.
    pub fn start_workers(&self) {
        if let Some(first) = self.interpreted.first() {
            first.start_workers();
        }
    }

    /// Runs `job`, unless it is cancelled.
    ///
    /// # Errors
    /// Those of [`Sandbox::run_cancellable`].
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        let of_other = job.interactor.as_ref().map_or(job.image.as_str(), |interactor| interactor.image_in(job));
        let compiles = image::is_compiled(&job.image) || image::is_compiled(of_other);
        match (&self.compiled, &self.mixed) {
            (Some(compiled), _) if compiles => compiled.run_cancellable(job, cancellation),
            (_, Some(mixed)) if of_other != job.image => mixed.open()?.run_cancellable(job, cancellation),
            _ => self.interpreted.run_cancellable(job, cancellation),
        }
    }
}

/// Over sandboxes on images that are not compiled for.
impl From<Vec<Sandbox>> for ProgramSandbox {
    fn from(sandboxes: Vec<Sandbox>) -> Self {
        Self { interpreted: SandboxSet::new(sandboxes), compiled: None, mixed: None }
    }
}

impl Execute for ProgramSandbox {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.run_cancellable(job, &CancellationToken::new())
    }
}
