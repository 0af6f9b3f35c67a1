//! Jobs of compiled languages: the images `cpp` (C++20) and `c` (C17). The text is compiled to a module, which is run as that of any other job. So is
//! that of an interactor, whatever the image of the program that it talks with.

use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle, GuardResult};
use quick_cache::{DefaultHashBuilder, Weighter};
use veriplay_core::{
    CancellationToken, Compilation, Digest, Entry, Execute, ExecuteError, InteractionEnd, Interactor, Job, Outcome,
    WasmModule, content_hash,
};

use crate::compiler::{CompiledLanguage, Compiler, module_of, order};
use crate::image::{Image, ImageError, Toolchain};
use crate::job_lock::{JobLock, LOOK};
use crate::modules::ModuleSandbox;
use crate::pool::Pool;
use crate::sandbox::{SandboxOptions, run_twice};
use crate::sides::part;
use crate::worker::{ProcessRunner, WorkerProgram};

/// Compiled programs that are kept, and the most bytes of them all.
const KEPT: usize = 1_000;
const KEPT_BYTES: u64 = 256 << 20;

/// Runs jobs whose programs are C++ or C. Equal programs are compiled once: a thread that asks for one that another compiles waits for
/// it. An outcome's fuel is the program's own; what compiling took stands beside it, and has limits of the toolchain's. A job may lower its fuel.
///
/// The same job has the same outcome on any thread and in any process, as those of a [`crate::Sandbox`].
pub struct CompiledSandbox {
    toolchain: Arc<Toolchain>,
    compiler: CompilerWorkers,
    /// Shared by all programs that are compiled but one that is compiled again alone.
    lock: JobLock,
    compiled: Cache<Digest, Compiled, CompiledWeight>,
    modules: ModuleSandbox,
}

enum CompilerWorkers {
    InProcess(Pool<Compiler>),
    Processes(Box<Pool<ProcessRunner>>),
}

/// A module, or the outcome of every job with this program; and what compiling took.
type Compiled = Arc<(Result<WasmModule, Outcome>, Compilation)>;

/// One that is kept, or the place for it.
type Kept<'a> =
    GuardResult<'a, Digest, Compiled, CompiledWeight, DefaultHashBuilder, DefaultLifecycle<Digest, Compiled>>;

#[derive(Debug, Clone)]
struct CompiledWeight;

impl Weighter<Digest, Compiled> for CompiledWeight {
    fn weight(&self, _: &Digest, compiled: &Compiled) -> u64 {
        let bytes = match &compiled.0 {
            Ok(module) => module.bytes().len(),
            Err(outcome) => outcome.stderr.len(),
        };
        bytes.max(1) as u64
    }
}

impl CompiledSandbox {
    /// A sandbox that compiles and runs programs on the thread that asks.
    ///
    /// # Errors
    /// When the engine cannot be configured.
    pub fn new(toolchain: Arc<Toolchain>, options: SandboxOptions) -> Result<Self, ImageError> {
        let here = Compiler::new(Arc::clone(&toolchain));
        let compiler = CompilerWorkers::InProcess(Pool::new(here, options.parallel(), Vec::new()));
        Ok(Self::of(toolchain, compiler, ModuleSandbox::new(options)?))
    }

    /// A sandbox that compiles programs in worker processes, and runs each in others. They load the toolchain from the cache.
    #[must_use]
    pub fn in_processes(toolchain: Arc<Toolchain>, options: SandboxOptions, program: WorkerProgram) -> Self {
        let processes = ProcessRunner::for_toolchain(program.clone(), &toolchain);
        let compiler = CompilerWorkers::Processes(Box::new(Pool::new(processes, options.parallel(), Vec::new())));
        Self::of(toolchain, compiler, ModuleSandbox::in_processes(options, program))
    }

    fn of(toolchain: Arc<Toolchain>, compiler: CompilerWorkers, modules: ModuleSandbox) -> Self {
        let compiled = Cache::with_weighter(KEPT, KEPT_BYTES, CompiledWeight);
        Self { toolchain, compiler, lock: JobLock::default(), compiled, modules }
    }

    /// The same sandbox, whose jobs may have an interactor in one of these images, or a program in one of them and an interactor that is compiled.
    #[must_use]
    pub fn with_images(self, images: Vec<Arc<Image>>) -> Self {
        Self { modules: self.modules.with_images(images), ..self }
    }

    /// Runs `job`, unless it is cancelled.
    ///
    /// # Errors
    /// Those of [`crate::Sandbox::run_cancellable`].
    pub fn run_cancellable(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        check_job(job)?;
        let (program, compilation) = self.prepare(job, cancellation)?;
        let outcome = match (program, &job.interactor) {
            (Ok(program), None) => self.modules.run_cancellable(&program, cancellation)?,
            (Ok(program), Some(interactor)) => self.run_interaction(job, program, interactor, cancellation)?,
            (Err(outcome), None) => outcome,
            (Err(outcome), Some(_)) => part(InteractionEnd::ProgramFailed, outcome),
        };
        Ok(Outcome { compilation, ..outcome })
    }

    /// Runs the `program` of `job`, and its interactor, which is compiled too, if it is in such a language. What that took is in no outcome.
    fn run_interaction(
        &self,
        job: &Job,
        program: Job,
        interactor: &Interactor,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, ExecuteError> {
        match self.prepare(&interactor.as_job(job), cancellation)?.0 {
            Ok(Job { image, program: text, module, .. }) => {
                let interactor = Some(Interactor { image: Some(image), program: text, module, ..interactor.clone() });
                self.modules.run_cancellable(&Job { interactor, ..program }, cancellation)
            }
            Err(outcome) => Ok(part(InteractionEnd::InteractorFailed, outcome)),
        }
    }

    /// A job as it is run: that of its module, or itself where it is in an image. The inner error is the outcome of one that does not compile. The
    /// second is what compiling took.
    fn prepare(
        &self,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<(Result<Job, Outcome>, Option<Compilation>), ExecuteError> {
        if CompiledLanguage::of_image(&job.image).is_none() {
            return Ok((Ok(job.clone()), None));
        }
        let compiled = self.compile(job, cancellation)?;
        let (made, compilation) = compiled.as_ref();
        let prepared = match made {
            Ok(module) => Ok(of_module(job, module)),
            Err(outcome) => Err(within_limits(outcome, job)),
        };
        Ok((prepared, Some(*compilation)))
    }

    fn compile(&self, job: &Job, cancellation: &CancellationToken) -> Result<Compiled, ExecuteError> {
        let compile = order(&self.toolchain, job);
        let key = content_hash(&(self.toolchain.digest(), &compile.image, &compile.program, compile.limits.fuel));
        let place = match wait_for(&self.compiled, &key, cancellation)? {
            GuardResult::Value(known) => return Ok(known),
            place => place,
        };
        let outcome = run_twice(&self.lock, &compile, cancellation, &|may_reuse| match &self.compiler {
            CompilerWorkers::InProcess(pool) => pool.run(&compile, may_reuse, cancellation),
            CompilerWorkers::Processes(pool) => pool.run(&compile, may_reuse, cancellation),
        })?;
        tracing::debug!(image = job.image.as_str(), fuel = outcome.fuel, exit = ?outcome.exit, "a program was compiled");
        let is_final = !outcome.met_deadline();
        let compiled: Compiled = Arc::new(module_of(outcome));
        if is_final && let GuardResult::Guard(place) = place {
            // It fails where the entry was evicted meanwhile, and then the module is not kept.
            place.insert(Arc::clone(&compiled)).ok();
        }
        Ok(compiled)
    }
}

/// The place of a program in the cache, or what it is compiled to: waits while another thread compiles it, until the job is cancelled.
fn wait_for<'a>(
    cache: &'a Cache<Digest, Compiled, CompiledWeight>,
    key: &Digest,
    cancellation: &CancellationToken,
) -> Result<Kept<'a>, ExecuteError> {
    loop {
        match cache.get_value_or_guard(key, Some(LOOK)) {
            GuardResult::Timeout if cancellation.is_cancelled() => return Err(ExecuteError::Cancelled),
            GuardResult::Timeout => {}
            found => return Ok(found),
        }
    }
}

impl Execute for CompiledSandbox {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.run_cancellable(job, &CancellationToken::new())
    }
}

impl std::fmt::Debug for CompiledSandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledSandbox").field("toolchain", &self.toolchain).finish_non_exhaustive()
    }
}

/// The job, whose program was compiled to this module.
fn of_module(job: &Job, module: &WasmModule) -> Job {
    let (image, program) = (WasmModule::IMAGE.to_owned(), String::new());
    Job { image, program, module: Some(module.clone()), ..job.clone() }
}

/// The outcome of a job whose program does not compile: the diagnostics are what it prints, within its limits, and it has used nothing.
fn within_limits(outcome: &Outcome, job: &Job) -> Outcome {
    let cap = usize::try_from(job.limits.output_bytes).unwrap_or(usize::MAX);
    let kept = &outcome.stderr[..outcome.stderr.len().min(cap)];
    Outcome {
        error: outcome.error.clone(),
        stderr: kept.to_vec(),
        truncated: outcome.truncated || kept.len() < outcome.stderr.len(),
        ..Outcome::new(outcome.exit.clone())
    }
}

fn check_job(job: &Job) -> Result<(), ExecuteError> {
    let compiles = |image: &str| CompiledLanguage::of_image(image).is_some();
    if !compiles(&job.image) && !job.interactor.as_ref().is_some_and(|of| compiles(of.image_in(job))) {
        return Err(ExecuteError::UnknownImage(job.image.clone()));
    }
    let refuse = |what: &str| Err(ExecuteError::BadJob(format!("a job of the image `{}` {what}", job.image)));
    if job.module.is_some() {
        return refuse("has its program in `program`, and none in `module`");
    }
    if job.entry != Entry::Script {
        return refuse("is run as a script: its functions cannot be called");
    }
    if job.preload.is_some() || job.callee.is_some() || job.base.is_some() {
        return refuse("has neither a preload, a callee nor a base");
    }
    if job.interactor.as_ref().is_some_and(|interactor| interactor.module.is_some()) {
        return refuse("has the text of its interactor in `program`, and none in `module`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use veriplay_core::Exit;

    use super::*;

    #[test]
    fn what_is_for_other_images_is_refused_with_the_name_of_this_one() {
        let job = Job { image: "c".to_owned(), ..Job::script("int main() {}") };
        assert!(check_job(&job).is_ok());
        let calls = Job { image: "c".to_owned(), ..Job::call("int f() {}", "f", []) };
        let module = Job { image: "cpp".to_owned(), ..Job::module(vec![0]) };
        for (refused, why) in [(calls, "`c` is run as a script"), (module, "`cpp` has its program in `program`")] {
            let told = check_job(&refused).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        }
        assert!(matches!(check_job(&Job::script("")), Err(ExecuteError::UnknownImage(_))));
    }

    #[test]
    fn diagnostics_are_cut_at_the_jobs_own_limit() {
        let outcome = Outcome { stderr: vec![b'x'; 9], fuel: 7, ..Outcome::new(Exit::CompileError) };
        let mut job = Job::script("");
        job.limits.output_bytes = 4;
        let cut = within_limits(&outcome, &job);
        assert_eq!((cut.stderr.len(), cut.truncated, cut.fuel), (4, true, 0));
    }

    #[test]
    fn who_waits_for_a_program_stops_when_cancelled_and_the_next_has_its_place() {
        let (cache, key) = (Cache::with_weighter(KEPT, KEPT_BYTES, CompiledWeight), Digest::of(b"a text"));
        let (cancelled, never) = (CancellationToken::new(), CancellationToken::new());
        cancelled.cancel();
        let first = wait_for(&cache, &key, &never);
        assert!(matches!(first, Ok(GuardResult::Guard(_))));
        assert!(matches!(wait_for(&cache, &key, &cancelled), Err(ExecuteError::Cancelled)));
        drop(first);
        let Ok(GuardResult::Guard(place)) = wait_for(&cache, &key, &never) else { panic!("it is free again") };
        let compilation = Compilation { fuel: 1, exceeded: None };
        assert!(place.insert(Arc::new((Ok(vec![0_u8].into()), compilation))).is_ok());
        // What is there is no wait.
        assert!(matches!(wait_for(&cache, &key, &cancelled), Ok(GuardResult::Value(_))));
    }
}
