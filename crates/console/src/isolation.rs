//! `--workers`: whether guests run in threads of this process or in locked-down processes of their own.

use std::sync::Arc;

use anyhow::Context;
use clap::ValueEnum;
use veriplay_core::ExecuteError;
use veriplay_sandbox::{
    CompiledSandbox, Image, ModuleSandbox, Sandbox, SandboxOptions, Toolchain, WorkerProgram, default_cache_dir,
};

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::image;

/// The argument that makes this program a worker. It is not in the help: only [`open_sandbox`] uses it.
const WORKER: &str = "__worker";

/// Where guests run. Outcomes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Isolation {
    /// In threads of this process; the wasm sandbox is the only barrier
    Thread,
    /// In child processes without files, network or rights: a second wall, some microseconds a job
    Process,
}

/// Opens a sandbox on `image`. Worker processes are never replaced by threads: who asked for the second wall would not have it.
pub fn open_sandbox(image: Arc<Image>, options: SandboxOptions, isolation: Isolation) -> Result<Sandbox, Failure> {
    let parallel = options.max_parallel;
    let sandbox = match isolation {
        Isolation::Thread => Sandbox::new(image, options),
        Isolation::Process => {
            let name = image.cached_name().to_owned();
            Sandbox::in_processes(image, options, this_program()?).map_err(|error| explain(&name, error))?
        }
    };
    tracing::info!(workers = ?isolation, parallel, "sandbox opened");
    Ok(sandbox)
}

/// Opens a sandbox for jobs whose program is a WebAssembly module.
pub fn open_modules(options: SandboxOptions, isolation: Isolation) -> Result<ModuleSandbox, Failure> {
    match isolation {
        Isolation::Thread => ModuleSandbox::new(options).map_err(image::failure),
        Isolation::Process => Ok(ModuleSandbox::in_processes(options, this_program()?)),
    }
}

/// Opens a sandbox for jobs whose program is C++ or C.
pub fn open_compiled(
    toolchain: Arc<Toolchain>,
    options: SandboxOptions,
    isolation: Isolation,
) -> Result<CompiledSandbox, Failure> {
    match isolation {
        Isolation::Thread => CompiledSandbox::new(toolchain, options).map_err(image::failure),
        Isolation::Process => Ok(CompiledSandbox::in_processes(toolchain, options, this_program()?)),
    }
}

/// What to do where worker processes cannot be had.
const THREADS: &str =
    "`--workers thread`, where the command has it (of `serve`, `--isolation thread`), does without their second wall";

/// Why there are no worker processes: `name` is the image that they need. They load it from the cache, and this process may have it in memory alone.
fn explain(name: &str, error: ExecuteError) -> Failure {
    let Some(cache) = image::find_cache_without(name) else {
        return Failure::new(ExitCode::Host, error).hint(format!("`veriplay doctor` checks what they need; {THREADS}"));
    };
    let what = format!(
        "worker processes cannot have the image `{name}`: they load it from the cache `{}`, which lacks it, and this process has it in memory alone",
        cache.display()
    );
    let hint =
        format!("set VERIPLAY_CACHE to a directory that can be written, and whose files can be executed; {THREADS}");
    Failure::message(ExitCode::Image, what).hint(hint)
}

fn this_program() -> Result<WorkerProgram, Failure> {
    let program = std::env::current_exe()
        .context("worker processes cannot start: this program does not find itself")
        .or_fail(ExitCode::Host)
        .map_err(|failure| failure.hint(format!("mount /proc; {THREADS}")))?;
    let cache_dir = default_cache_dir().map_err(image::failure)?;
    Ok(WorkerProgram { program, arguments: vec![WORKER.into()], cache_dir })
}

/// Whether this process was started as a worker; its life is then [`veriplay_sandbox::serve`].
pub fn is_worker() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == WORKER)
}
