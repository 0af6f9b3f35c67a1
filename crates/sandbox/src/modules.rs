//! Jobs whose program is a WebAssembly module of their own ([`veriplay_core::Job::module`]).
//!
//! Such a module is checked against bounds, validated, metered as every guest is, compiled, and linked to the shim alone: it has no value
//! channel. Each job has a new instance. In threads a module is compiled in this process and kept for other jobs. A worker process is for one
//! module, or for one and its interactor: it gives up its rights, compiles, gives up that of adding code, and then runs the jobs of these.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use veriplay_core::{CancellationToken, Digest, Entry, Execute, ExecuteError, GuestError, Job, Outcome, WasmModule};
use wasmtime::Engine;

use crate::call::HostFault;
use crate::image::ImageError;
use crate::image::engine::engine_for_modules;
use crate::job_lock::JobLock;
use crate::pool::{Pool, RunError, Runner};
use crate::program::{Program, run_programs};
use crate::request;
use crate::sandbox::{SandboxOptions, run_twice};
use crate::worker::{ModuleProcesses, WorkerProgram};

/// Bytes of native code of modules that are kept in this process, and about how many large ones that are: so few that the cache is in one part,
/// which a module with much code fits in.
const KEPT_BYTES: u64 = 512 << 20;
const KEPT: usize = 32;
/// What is kept of a module beside its code.
const BESIDE_CODE: u64 = 64 << 10;

/// Runs jobs whose program is a module. The same job has the same outcome on any thread and in any process, as those of a [`crate::Sandbox`].
pub struct ModuleSandbox {
    workers: ModuleWorkers,
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
        let runner =
            ModuleRunner { engine: engine_for_modules()?, programs: Cache::with_weighter(KEPT, KEPT_BYTES, CodeSize) };
        let workers = ModuleWorkers::InProcess(Pool::new(runner, options.parallel(), Vec::new()));
        Ok(Self { workers, lock: JobLock::default() })
    }

    /// A sandbox that compiles and runs each module in worker processes of its own, which are kept for further jobs of that module.
    #[must_use]
    pub fn in_processes(options: SandboxOptions, program: WorkerProgram) -> Self {
        let pool = Pool::new(ModuleProcesses::new(program), options.parallel(), Vec::new());
        Self { workers: ModuleWorkers::Processes(pool), lock: JobLock::default() }
    }

    /// Runs `job`, unless it is cancelled.
    ///
    /// # Errors
    /// Those of [`crate::Sandbox::run_cancellable`].
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        check_job(job)?;
        run_twice(&self.lock, job, cancellation, &|may_reuse| match &self.workers {
            ModuleWorkers::InProcess(pool) => pool.run(job, may_reuse, cancellation),
            ModuleWorkers::Processes(pool) => pool.run(job, may_reuse, cancellation),
        })
    }
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

fn check_job(job: &Job) -> Result<(), ExecuteError> {
    if job.image != WasmModule::IMAGE {
        return Err(ExecuteError::UnknownImage(job.image.clone()));
    }
    let refuse = |what: &str| Err(ExecuteError::BadJob(format!("a job of the image `{}` {what}", WasmModule::IMAGE)));
    if job.module.is_none() || !job.program.is_empty() {
        return refuse("has its program in `module`, and none in `program`");
    }
    if job.entry != Entry::Script {
        return refuse("is run as a script: its functions cannot be called");
    }
    if job.preload.is_some() || job.callee.is_some() || job.base.is_some() {
        return refuse("has neither a preload, a callee nor a base");
    }
    if job.interactor.as_ref().is_some_and(|of| of.module.is_none() || !of.program.is_empty()) {
        return refuse("has an interactor that is a module, too");
    }
    request::check_job(job, 0)
}

type Compiled = Arc<Result<Program, GuestError>>;

struct ModuleRunner {
    engine: Engine,
    programs: Cache<Digest, Compiled, CodeSize>,
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
}

impl Runner for ModuleRunner {
    type Slot = ();

    fn run(&self, _slot: &mut (), job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        let Some(module) = &job.module else {
            return Err(RunError::Fault("the job has no module".to_owned()));
        };
        let program = self.compile(module)?;
        match job.interactor.as_ref().and_then(|interactor| interactor.module.as_ref()) {
            None => Ok(run_programs(&[&*program], job, cancellation)?),
            Some(other) => Ok(run_programs(&[&*program, &*self.compile(other)?], job, cancellation)?),
        }
    }
}
