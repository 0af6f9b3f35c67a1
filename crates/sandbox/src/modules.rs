//! Jobs whose program is a WebAssembly module of their own ([`veriplay_core::Job::module`]).
//!
//! Such a module is checked against bounds, validated, metered as every guest is, compiled, and linked to the shim alone: it has no value
//! channel. Each job has a new instance. In threads a module is compiled in this process and kept for other jobs. A worker process is for one
//! module, or for one and its interactor: it gives up its rights, compiles, gives up that of adding code, and then runs the jobs of these. A script
//! of an image may be in place of either of two, or of both ([`crate::parts`]); a worker process loads its image first.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use veriplay_core::{CancellationToken, Digest, Entry, Execute, ExecuteError, GuestError, Job, Outcome, WasmModule};
use wasmtime::Engine;

use crate::call::HostFault;
use crate::image::engine::engine_for_modules;
use crate::image::{Image, ImageError};
use crate::job_lock::JobLock;
use crate::parts::{JobPart, run_parts};
use crate::pool::{Pool, RunError, Runner};
use crate::program::Program;
use crate::request;
use crate::sandbox::{SandboxOptions, run_twice};
use crate::worker::{ModuleProcesses, WorkerProgram};

/// Bytes of native code of modules that are kept in this process, and about how many large ones that are: so few that the cache is in one part,
/// which a module with much code fits in.
const KEPT_BYTES: u64 = 512 << 20;
const KEPT: usize = 32;
/// What is kept of a module beside its code.
const BESIDE_CODE: u64 = 64 << 10;

/// Runs jobs whose program is a module, and those whose program and interactor are of two kinds. The same job has the same outcome on any thread and
/// in any process, as those of a [`crate::Sandbox`].
pub struct ModuleSandbox {
    workers: ModuleWorkers,
    images: Vec<Arc<Image>>,
    lock: JobLock,
}

enum ModuleWorkers {
    InProcess(Pool<ModuleRunner>),
    Processes(Pool<ModuleProcesses>),
}

impl ModuleSandbox {
    /// A sandbox that compiles modules in this process, and runs each job on the thread that asks.
    ///
    /// # Errors
    /// When the engine cannot be configured.
    pub fn new(options: SandboxOptions) -> Result<Self, ImageError> {
        let programs = Cache::with_weighter(KEPT, KEPT_BYTES, CodeSize);
        let runner = ModuleRunner { engine: engine_for_modules()?, programs, images: Vec::new() };
        let workers = ModuleWorkers::InProcess(Pool::new(runner, options.parallel(), Vec::new()));
        Ok(Self { workers, images: Vec::new(), lock: JobLock::default() })
    }

    /// A sandbox that compiles and runs each module in worker processes of its own, which are kept for further jobs of that module.
    #[must_use]
    pub fn in_processes(options: SandboxOptions, program: WorkerProgram) -> Self {
        let pool = Pool::new(ModuleProcesses::new(program), options.parallel(), Vec::new());
        Self { workers: ModuleWorkers::Processes(pool), images: Vec::new(), lock: JobLock::default() }
    }

    /// The same sandbox, whose jobs may have a script of one of these images as their program or as their interactor, where they have both. Worker
    /// processes load them from the cache.
    #[must_use]
    pub fn with_images(mut self, images: Vec<Arc<Image>>) -> Self {
        match &mut self.workers {
            ModuleWorkers::InProcess(pool) => pool.clear_idle().images.clone_from(&images),
            ModuleWorkers::Processes(pool) => pool.clear_idle().set_images(&images),
        }
        self.images = images;
        self
    }

    /// Runs `job`, unless it is cancelled.
    ///
    /// # Errors
    /// Those of [`crate::Sandbox::run_cancellable`].
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        self.check_job(job)?;
        run_twice(&self.lock, job, cancellation, &|may_reuse| match &self.workers {
            ModuleWorkers::InProcess(pool) => pool.run(job, may_reuse, cancellation),
            ModuleWorkers::Processes(pool) => pool.run(job, may_reuse, cancellation),
        })
    }

    fn check_job(&self, job: &Job) -> Result<(), ExecuteError> {
        let interactor = job.interactor.as_ref().map(|interactor| interactor.as_job(job));
        if job.image != WasmModule::IMAGE && interactor.is_none() {
            return Err(ExecuteError::UnknownImage(job.image.clone()));
        }
        if job.entry != Entry::Script {
            return refuse(job, "is run as a script: its functions cannot be called");
        }
        if job.preload.is_some() || job.callee.is_some() || job.base.is_some() {
            return refuse(job, "has neither a preload, a callee nor a base");
        }
        for side in std::iter::once(job).chain(&interactor) {
            self.check_side(side)?;
        }
        request::check_job(job, 0)
    }

    /// Checks a program or an interactor as a job by itself.
    fn check_side(&self, side: &Job) -> Result<(), ExecuteError> {
        if side.image == WasmModule::IMAGE {
            return match side.module.is_some() && side.program.is_empty() {
                true => Ok(()),
                false => refuse(side, "has its program in `module`, and none in `program`"),
            };
        }
        let Some(image) = self.images.iter().find(|image| image.name() == side.image) else {
            return Err(ExecuteError::UnknownImage(side.image.clone()));
        };
        if side.module.is_some() || !side.arguments.is_empty() {
            return refuse(side, "has its program in `program`, and neither a `module` nor `arguments`");
        }
        request::check_memory(side, image.memory_bytes())
    }
}

fn refuse(job: &Job, what: &str) -> Result<(), ExecuteError> {
    Err(ExecuteError::BadJob(format!("a job of the image `{}` {what}", job.image)))
}

impl Execute for ModuleSandbox {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.run_cancellable(job, &CancellationToken::new())
    }
}

impl std::fmt::Debug for ModuleSandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModuleSandbox").finish_non_exhaustive()
    }
}

/// Runs jobs whose program is a module in the text format, as people write it.
#[derive(Debug)]
pub struct TextModules(ModuleSandbox);

impl TextModules {
    /// Runs the modules in `sandbox`.
    #[must_use]
    pub const fn new(sandbox: ModuleSandbox) -> Self {
        Self(sandbox)
    }
}

impl Execute for TextModules {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let bytes = wat::parse_str(&job.program).map_err(|error| ExecuteError::BadJob(error.to_string()))?;
        self.0.execute(&Job { program: String::new(), module: Some(bytes.into()), ..job.clone() })
    }
}

type Compiled = Arc<Result<Program, GuestError>>;

struct ModuleRunner {
    engine: Engine,
    programs: Cache<Digest, Compiled, CodeSize>,
    images: Vec<Arc<Image>>,
}

#[derive(Clone)]
struct CodeSize;

impl Weighter<Digest, Compiled> for CodeSize {
    fn weight(&self, _digest: &Digest, compiled: &Compiled) -> u64 {
        BESIDE_CODE + compiled.as_ref().as_ref().map_or(0, Program::code_bytes)
    }
}

impl ModuleRunner {
    fn compile(&self, module: &WasmModule) -> Result<Compiled, HostFault> {
        let compile = || Program::compile(&self.engine, module.bytes()).map(Arc::new);
        self.programs.get_or_insert_with(&module.digest(), compile)
    }

    fn part(&self, image: &str, module: Option<&WasmModule>) -> Result<JobPart, HostFault> {
        if let Some(module) = module {
            return self.compile(module).map(JobPart::Module);
        }
        let found = self.images.iter().find(|known| known.name() == image);
        found.map(|image| JobPart::Image(Arc::clone(image))).ok_or_else(|| format!("there is no image `{image}`"))
    }
}

impl Runner for ModuleRunner {
    type Slot = ();

    fn run(&self, _slot: &mut (), job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        let mut parts = vec![self.part(&job.image, job.module.as_ref())?];
        if let Some(interactor) = &job.interactor {
            parts.push(self.part(interactor.image_in(job), interactor.module.as_ref())?);
        }
        Ok(run_parts(&parts, job, cancellation)?)
    }
}
