//! The worker's side of a worker process.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use veriplay_core::{CancellationToken, Job, Layer, Outcome};
use wasmtime::Engine;

use super::frames::{self, Pipe};
use super::lockdown::{ADDRESS_SPACE, MODULE_ADDRESS_SPACE, NewCode};
use super::{ImageSource, WorkerPart, WorkerReply, WorkerSetup, lockdown};
use crate::compiler::Compiler;
use crate::exports::GlobalState;
use crate::image::engine::engine_for_modules;
use crate::image::{self, Image, ImageId, ImageSpec, ImageStore, build_without_threads};
use crate::memory::Baseline;
use crate::parent_process::note_parent;
use crate::parts::{JobPart, run_parts};
use crate::pool::{InProcessRunner, Instances, RunError, Runner, catch_panic};
use crate::program::Program;

/// The most bytes of a frame from the parent, which is trusted.
const MAX_ORDER: u64 = u32::MAX as u64;

/// Becomes a worker: serves the parent process over standard input, a socket, until the parent closes it. A parent that dies ends the job that
/// runs, and this.
///
/// A program that offers worker processes ([`crate::Sandbox::in_processes`]) must call this first when it is started with the arguments of its
/// [`crate::WorkerProgram`].
///
/// # Errors
/// When standard input is not such a socket, or the parent stops in the middle of a frame.
pub fn serve() -> io::Result<()> {
    // A parent that died before this sends no job: it sends the first one when the worker is ready.
    note_parent();
    ignore_interrupts();
    lockdown::close_all_but_standard()?;
    let mut pipe = frames::over(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
    let Some(mut hello) = frames::receive::<WorkerSetup>(&mut pipe, MAX_ORDER)? else { return Ok(()) };
    let ready = match &hello.from {
        ImageSource::Parts(parts) => load_parts(parts, &hello.cache_dir, &mut pipe)?,
        ImageSource::Toolchain => load_compiler(&hello),
        _ => {
            let layers = std::mem::take(&mut hello.layers);
            load_runner(&hello, layers).and_then(|runner| {
                lockdown::lock_down(NewCode::Forbidden, ADDRESS_SPACE).map_err(not_locked)?;
                Ok(WorkerRunner::Image(Box::new(runner)))
            })
        }
    };
    match ready {
        Ok(runner) => {
            frames::send(pipe.get_mut(), &WorkerReply::Ready)?;
            serve_jobs(&mut pipe, &runner)
        }
        Err(why) => frames::send(pipe.get_mut(), &WorkerReply::Fault(why)),
    }
}

fn not_locked(error: String) -> String {
    format!("cannot lock the worker down: {error}")
}

fn load_compiler(hello: &WorkerSetup) -> Result<WorkerRunner, String> {
    let toolchain = image::toolchain::load_named(&hello.image, &hello.cache_dir)?;
    lockdown::lock_down(NewCode::Forbidden, ADDRESS_SPACE).map_err(not_locked)?;
    Ok(WorkerRunner::Compiler(Compiler::new(toolchain)))
}

/// Loads images, and then compiles modules that nobody trusts, with all rights given up but that of adding code, which is given up then.
fn load_parts(parts: &[WorkerPart], cache_dir: &Path, pipe: &mut Pipe) -> io::Result<Result<WorkerRunner, String>> {
    let Loaded { engine, images } = match load_and_lock(parts, cache_dir) {
        Ok(loaded) => loaded,
        Err(why) => return Ok(Err(why)),
    };
    // From here on a crash is the module's.
    frames::send(pipe.get_mut(), &WorkerReply::Compiling)?;
    let loaded = parts.iter().zip(images).map(|(part, image)| match (part, image) {
        (_, Some(image)) => Ok(JobPart::Image(image)),
        (WorkerPart::Module(module), None) => {
            Program::compile(&engine, module.bytes()).map(|compiled| JobPart::Module(Arc::new(compiled)))
        }
        (WorkerPart::Image(named), None) => Err(format!("image `{}` was not loaded", named.name)),
    });
    Ok(loaded.collect::<Result<Vec<_>, String>>().and_then(|loaded| {
        lockdown::forbid_new_code().map_err(not_locked)?;
        Ok(WorkerRunner::Parts(loaded))
    }))
}

/// What is loaded before the lockdown.
struct Loaded {
    /// What compiles the modules among the parts.
    engine: Engine,
    /// For each part the image, where it is one.
    images: Vec<Option<Arc<Image>>>,
}

fn load_and_lock(parts: &[WorkerPart], cache_dir: &Path) -> Result<Loaded, String> {
    let images = parts.iter().map(|part| match part {
        WorkerPart::Image(named) => load_cached(named, cache_dir).map(Some),
        WorkerPart::Module(_) => Ok(None),
    });
    let images = images.collect::<Result<Vec<_>, String>>()?;
    let engine = engine_for_modules().map_err(|error| error.to_string())?;
    let has_image = images.iter().any(Option::is_some);
    let addresses = if has_image { ADDRESS_SPACE } else { MODULE_ADDRESS_SPACE };
    lockdown::lock_down(NewCode::Allowed, addresses).map_err(not_locked)?;
    Ok(Loaded { engine, images })
}

/// What a worker runs jobs of.
enum WorkerRunner {
    Image(Box<InProcessRunner>),
    Parts(Vec<JobPart>),
    Compiler(Compiler),
}

impl WorkerRunner {
    fn run(&self, slot: &mut Instances, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        match self {
            Self::Image(runner) => runner.run(slot, job, cancellation),
            Self::Parts(parts) => Ok(run_parts(parts, job, cancellation)?),
            Self::Compiler(compiler) => compiler.run(&mut (), job, cancellation),
        }
    }

    fn reset(&self, slot: &mut Instances) {
        if let Self::Image(runner) = self {
            runner.reset(slot);
        }
    }
}

/// Leaves Ctrl-C to the parent: a terminal sends it to the whole process group, and the parent may want to finish its jobs.
fn ignore_interrupts() {
    // SAFETY: integers only, and no handler runs. The call fails for unknown signals alone.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
}

fn load_runner(hello: &WorkerSetup, layers: Vec<Layer>) -> Result<InProcessRunner, String> {
    let image = match &hello.from {
        ImageSource::Text(text) => {
            let image = build_without_threads(&hello.image.name, text).map_err(|error| error.to_string())?;
            check_same_image(image, &hello.image)?
        }
        ImageSource::Parts(_) | ImageSource::Toolchain => return Err("it is no image of a guest".to_owned()),
        ImageSource::Cache => load_cached(&hello.image, &hello.cache_dir)?,
        ImageSource::Warmed { of, state } => load_warmed(&*load_cached(of, &hello.cache_dir)?, &hello.image, state)?,
    };
    Ok(InProcessRunner::new(image, hello.reset, layers.into_iter().collect()))
}

fn check_same_image(image: Arc<Image>, named: &ImageId) -> Result<Arc<Image>, String> {
    let other = || format!("image `{}` is another one than the parent's: is the worker another version?", named.name);
    if image.digest() == &named.digest { Ok(image) } else { Err(other()) }
}

fn load_cached(named: &ImageId, cache_dir: &Path) -> Result<Arc<Image>, String> {
    let spec = match &named.manifest {
        Some(text) => ImageSpec::from_manifest(text),
        None => ImageSpec::builtin(&named.name),
    };
    let image =
        spec.and_then(|spec| Ok(ImageStore::open(cache_dir)?.load(&spec))).map_err(|error| error.to_string())?;
    let missing = || format!("image `{}` is not in the cache `{}`", named.name, cache_dir.display());
    check_same_image(image.ok_or_else(missing)?, named)
}

/// Loads the parent's warm image of `image`, whose memory is this process's standard output.
fn load_warmed(image: &Image, named: &ImageId, state: &GlobalState) -> Result<Arc<Image>, String> {
    let memory = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let baseline = memory.and_then(Baseline::shared).map_err(|error| error.to_string())?;
    let image = image.with_state(named.clone(), baseline, state.clone());
    image.map(Arc::new).map_err(|error| error.to_string())
}

fn serve_jobs(pipe: &mut Pipe, runner: &WorkerRunner) -> io::Result<()> {
    let mut slot = Instances::default();
    while let Some(order) = frames::receive::<Option<Job>>(pipe, MAX_ORDER)? {
        // One that came after the end of its job.
        let Some(job) = order else { continue };
        let cancellation = CancellationToken::new();
        // What comes while the job runs ends it by the watchdog, which sees what nobody has read yet.
        if !pipe.buffer().is_empty() {
            cancellation.cancel();
        }
        let reply = match catch_panic(&mut slot, |slot| runner.run(slot, &job, &cancellation)) {
            Ok(outcome) => WorkerReply::Outcome(Box::new(outcome)),
            Err(error) => WorkerReply::Fault(error.to_string()),
        };
        frames::send(pipe.get_mut(), &reply)?;
        // The parent works on the outcome meanwhile. A panic costs the instances.
        let _ = catch_panic(&mut slot, |slot| {
            runner.reset(slot);
            Ok(())
        });
    }
    Ok(())
}
