//! A program that is a module of its own: compiled once, and run in a new instance for each job. An interactor can be one, too.

mod bounds;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;

use veriplay_core::{CancellationToken, Exit, GuestError, Job, Outcome};
use wasmtime::{Engine, ExternType, InstancePre, Memory, Module, Store};

use crate::call::{EndedCall, HostFault, WatchedCall, exit_of_error};
use crate::channel::Channel;
use crate::fuel;
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::imports::make_system_linker;
use crate::meter::{self, Pricing};
use crate::sides::{Playing, SideEnd, SideGuest};
use crate::stacks::run_to_completion;
use crate::wasi::files::Tree;
use crate::wasi::pipe::Pipe;
use crate::wasi::{AtCap, ProcessStrings, Wasi, WasiSetup, bare_tree};

/// The function that runs the program.
const START: &str = "_start";
const MEMORY: &str = "memory";
/// The kind of a [`GuestError`] of a program that ended itself with a status other than 0.
const EXIT_STATUS: &str = "exit_status";

pub(crate) struct Program {
    engine: Engine,
    ready: InstancePre<Host>,
    base: Tree,
    /// The fuel that making an instance of it costs.
    start: u64,
    /// Bytes of its native code.
    code_bytes: u64,
}

impl Program {
    /// Compiles a module. The inner error is the module's fault: the job's program does not compile.
    pub(crate) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Result<Self, GuestError>, HostFault> {
        let base = bare_tree().map_err(|errno| format!("the base tree fails with errno {}", errno.0))?;
        let linker = make_system_linker(engine).map_err(|error| format!("cannot link the shim: {error:#}"))?;
        let compiled = compile_metered(engine, wasm).and_then(|(module, start)| {
            check_exports(&module)?;
            let ready = linker.instantiate_pre(&module).map_err(|error| format!("{error:#}"))?;
            let image = module.image_range();
            let code_bytes = (image.end.addr() - image.start.addr()) as u64;
            Ok(Self { engine: engine.clone(), ready, base, start, code_bytes })
        });
        Ok(compiled.map_err(|message| GuestError { kind: "module".to_owned(), message }))
    }

    /// Bytes of its native code.
    pub(crate) const fn code_bytes(&self) -> u64 {
        self.code_bytes
    }

    /// A tool of an image: a module that is compiled already, over this file tree.
    pub(crate) fn of_image(engine: &Engine, module: &Module, base: Tree) -> Result<Self, HostFault> {
        let fault = |error: wasmtime::Error| format!("cannot link the tool: {error:#}");
        check_exports(module)?;
        let ready = make_system_linker(engine).map_err(fault)?.instantiate_pre(module).map_err(fault)?;
        // What it is made of is the image's: its jobs do not choose it.
        Ok(Self { engine: engine.clone(), ready, base, start: 0, code_bytes: 0 })
    }

    /// Runs the program in a new instance.
    pub(crate) fn run(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, HostFault> {
        self.run_as(ProcessStrings::MODULE, job, cancellation)
    }

    /// Runs the program in a new instance, with these arguments.
    pub(crate) fn run_as(
        &self,
        strings: ProcessStrings,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, HostFault> {
        let mut store = self.open(strings, job, cancellation)?;
        let ended = run_to_completion(async { Ok(self.enter(&mut store, job).await) });
        let ended = ended.map_err(|error| format!("{error:#}"))??;
        Ok(self.take_outcome(&mut store, job, ended))
    }

    /// The store of a new instance, with the system of `job`.
    fn open(
        &self,
        strings: ProcessStrings,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<Store<Host>, HostFault> {
        let limits = &job.limits;
        let setup = WasiSetup {
            seed: job.seed,
            stdin: &job.stdin,
            files: &job.files,
            output_bytes: limits.output_bytes,
            at_stdout_cap: AtCap::End,
            file_bytes: limits.file_bytes,
            sleep_fuel: job.sleep_fuel,
            strings,
            arguments: &job.arguments,
        };
        let wasi = Wasi::new(&self.base, &setup)
            .map_err(|errno| format!("cannot prepare the job: its files clash (errno {})", errno.0))?;
        let mut host = Host::new(wasi, Channel::default(), limits.memory_bytes);
        host.cancellation = cancellation.clone();
        let mut store = Store::new(&self.engine, host);
        store.limiter(|host| host);
        Ok(store)
    }

    /// Runs the program in the instance of `store`. It may wait for input that another one writes; where this is dropped before its end, so must the
    /// store be, but for its outcome.
    async fn enter(&self, store: &mut Store<Host>, job: &Job) -> Result<SideEnd, HostFault> {
        let (error, ns) = match self.call_start(store, job).await? {
            Ok(()) => return Ok(SideEnd::RETURNED),
            Err(failed) => failed,
        };
        Ok(match error.downcast_ref() {
            Some(HostTrap::ProcExit(0)) => SideEnd::RETURNED,
            Some(HostTrap::ProcExit(status)) => {
                let error = GuestError { kind: EXIT_STATUS.to_owned(), message: status.to_string() };
                SideEnd { exit: Exit::Raised, error: Some(error), exit_code: Some(*status) }
            }
            _ => {
                let (exit, error) = exit_of_error(&error, &job.limits, ns)?;
                SideEnd { exit, error, exit_code: None }
            }
        })
    }

    fn take_outcome(&self, store: &mut Store<Host>, job: &Job, ended: SideEnd) -> Outcome {
        let (limits, SideEnd { exit, error, exit_code }) = (&job.limits, ended);
        // What was not made to its end is paid for, too.
        let left = store.data().fuel.remaining().unwrap_or_else(|_| limits.fuel.saturating_sub(self.start));
        let peak_memory_bytes = store.data().memory.map_or(0, |memory| memory.data_size(&*store) as u64);
        let wasi = &mut store.data_mut().wasi;
        let (stdout, stderr) = (std::mem::take(&mut wasi.stdout), std::mem::take(&mut wasi.stderr));
        let outcome = Outcome {
            error,
            stdout: stdout.bytes,
            stderr: stderr.bytes,
            truncated: stdout.truncated || stderr.truncated,
            fuel: limits.fuel.saturating_sub(left),
            peak_memory_bytes,
            exit_code,
            ..Outcome::new(exit)
        };
        wasi.fetch_files(job).add_to(outcome)
    }

    /// Makes an instance and calls its start. The inner error is how the program ended otherwise than by returning, after how many nanoseconds.
    async fn call_start(
        &self,
        store: &mut Store<Host>,
        job: &Job,
    ) -> Result<Result<(), (wasmtime::Error, u64)>, HostFault> {
        let instance = match self.ready.instantiate_async(&mut *store).await {
            Ok(instance) => instance,
            Err(error) => return Ok(Err((error, 0))),
        };
        let fault = |error: wasmtime::Error| format!("cannot prepare the job: {error:#}");
        let gauge = fuel::find_gauge(store, &instance).map_err(fault)?;
        let memory: Option<Memory> = instance.get_memory(&mut *store, MEMORY);
        let start = instance.get_typed_func::<(), ()>(&mut *store, START).map_err(fault)?;
        let host = store.data_mut();
        host.memory = memory;
        host.fuel.connect(gauge);
        host.fuel.set(job.limits.fuel).map_err(fault)?;
        host.fuel.take_off(self.start);
        // SAFETY: the call ends in this function, or when that is dropped, and the store outlives it.
        let call = unsafe { WatchedCall::start(store.data(), &job.limits) }?;
        let ended = start.call_async(&mut *store, ()).await;
        let EndedCall { result, ns, .. } = call.end(store.data(), ended)?;
        Ok(result.map_err(|error| (error, ns)))
    }
}

/// The outcome of a job whose module does not compile.
pub(crate) fn not_compiled(error: &GuestError) -> Outcome {
    Outcome { error: Some(error.clone()), ..Outcome::new(Exit::CompileError) }
}

/// A module as a side of an interaction, whose instance is made when it starts.
pub(crate) struct ModuleSide<'a> {
    compiled: &'a Result<Program, GuestError>,
    job: &'a Job,
    cancellation: &'a CancellationToken,
    store: Option<Store<Host>>,
}

impl<'a> ModuleSide<'a> {
    pub(crate) const fn new(
        compiled: &'a Result<Program, GuestError>,
        job: &'a Job,
        cancellation: &'a CancellationToken,
    ) -> Self {
        Self { compiled, job, cancellation, store: None }
    }

    fn open(&mut self) -> Result<(&'a Program, &mut Store<Host>), HostFault> {
        let program = self.compiled.as_ref().map_err(|error| error.message.clone())?;
        let store = program.open(ProcessStrings::MODULE, self.job, self.cancellation)?;
        Ok((program, self.store.insert(store)))
    }
}

impl SideGuest for ModuleSide<'_> {
    fn load(&mut self) -> Result<Option<SideEnd>, HostFault> {
        let failed = self.compiled.as_ref().err();
        Ok(failed.map(|error| SideEnd { exit: Exit::CompileError, error: Some(error.clone()), exit_code: None }))
    }

    fn play(&mut self, input: Pipe, output: Pipe) -> Playing<'_> {
        let job = self.job;
        let opened = self.open();
        Box::pin(async move {
            let (program, store) = opened?;
            store.data_mut().wasi.join(input, output);
            program.enter(store, job).await
        })
    }

    fn take_outcome(&mut self, ended: SideEnd) -> Result<Outcome, HostFault> {
        if let (Ok(program), Some(store)) = (self.compiled, &mut self.store) {
            return Ok(program.take_outcome(store, self.job, ended));
        }
        let SideEnd { exit, error, .. } = ended;
        Ok(Outcome { error, ..Outcome::new(exit) })
    }
}

/// The compiled module, and the fuel of an instance of it.
fn compile_metered(engine: &Engine, wasm: &[u8]) -> Result<(Module, u64), String> {
    let start = bounds::check(wasm).map_err(|error| error.to_string())?;
    // Before anything is added, so that a module that only metering would make valid is refused.
    Module::validate(engine, wasm).map_err(|error| format!("{error:#}"))?;
    let metered = meter::instrument(wasm, Pricing::UpperBound).map_err(|error| error.to_string())?;
    let module = Module::new(engine, metered).map_err(|error| format!("{error:#}"))?;
    Ok((module, start))
}

fn check_exports(module: &Module) -> Result<(), String> {
    match module.get_export(MEMORY) {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => {}
        _ => return Err(format!("it exports no memory of 32-bit addresses named `{MEMORY}`")),
    }
    match module.get_export(START) {
        Some(ExternType::Func(start)) if start.params().len() == 0 && start.results().len() == 0 => Ok(()),
        Some(_) => Err(format!("its export `{START}` is no function without parameters and results")),
        None => Err(format!("it exports no function `{START}`: compile it as a command for wasm32-wasip1")),
    }
}
