//! One instance of an image: its store, its exports, and the run of one job in it.
//!
//! An instance is reused only when nothing is in doubt: the last job ended without a trap, memory did not grow, and
//! memory and globals were put back ([`Guest::reset`]). The reset is complete because a module's state is its memory, its
//! mutable globals, and its tables and segments; the instrumentation refuses modules that write to tables or drop
//! segments, and exports every mutable global.
//!
//! A job with a callee has a second instance that answers calls of its program's functions. The two never run at once: the job's host
//! call enters the callee, on the same thread, and comes back with its answer. Nothing but encoded plain values crosses, each read by
//! the host on its way; neither side sees the other's memory, files or output.

use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{CallResult, Callee, EncodeCaps, Exit, GuestError, Job, LimitKind, Limits, Outcome, Value};
use wasmtime::{Store, Trap};

use crate::channel::Channel;
use crate::deadline::Deadline;
use crate::exports::{Exports, Snapshot};
use crate::fuel;
use crate::host::Host;
use crate::image::Image;
use crate::memory::{Installed, ResetMode, prefer_huge_pages};
use crate::request;
use crate::stacks::drive;
use crate::stop::Stop;
use crate::wasi::files::Tree;
use crate::wasi::{Setup, Wasi};

/// A fault of the engine's or the host's.
pub(crate) type Fault = String;

/// One instance, in the image's state.
pub(crate) struct Guest {
    image: Arc<Image>,
    /// The tree of the next job's layers, where it has some.
    base: Option<Arc<Tree>>,
    store: Store<Host>,
    exports: Exports,
    installed: Installed,
}

impl Guest {
    /// A new instance in the image's state.
    ///
    /// # Errors
    /// When the host cannot make one.
    pub(crate) fn new(image: &Arc<Image>) -> Result<Self, Fault> {
        Self::instantiate(image).map_err(|error| format!("no instance of image `{}`: {error:#}", image.name()))
    }

    fn instantiate(image: &Arc<Image>) -> wasmtime::Result<Self> {
        let wasi = Wasi::new(image.base_tree(), &Setup::default())
            .map_err(|errno| wasmtime::Error::msg(format!("the base tree fails with errno {}", errno.0)))?;
        let mut store = Store::new(image.engine(), Host::new(wasi, Channel::default(), u64::MAX));
        store.limiter(|host| host);
        let (exports, _) = Exports::instantiate(&mut store, image.linker(), image.module())?;
        let size = exports.memory.size(&store);
        let wanted = (image.baseline().len() >> 16) as u64;
        exports.memory.grow(&mut store, wanted.saturating_sub(size))?;
        let installed = image.baseline().install(exports.memory.data_mut(&mut store))?;
        prefer_huge_pages(exports.memory.data_mut(&mut store));
        let mut guest = Self { image: Arc::clone(image), base: None, store, exports, installed };
        guest.restore_globals()?;
        Ok(guest)
    }

    /// Lays the next jobs over `base` instead of the image's own tree.
    pub(crate) fn set_base(&mut self, base: Option<Arc<Tree>>) {
        self.base = base;
    }

    fn restore_globals(&mut self) -> wasmtime::Result<()> {
        let Self { image, store, exports, .. } = self;
        if exports.globals.len() != image.globals().len() {
            return Err(wasmtime::Error::msg("the module's globals are not the image's"));
        }
        for ((name, global), (saved_name, value)) in exports.globals.iter().zip(image.globals()) {
            if name != saved_name {
                return Err(wasmtime::Error::msg("the module's globals are not the image's"));
            }
            global.set(&mut *store, value.to_val())?;
        }
        Ok(())
    }

    /// Runs `job` from the image's state; where it has a callee, that runs in `callee`, another instance in that state.
    /// Afterwards both are used, and must be [reset](Self::reset) or dropped.
    ///
    /// # Errors
    /// A host fault; the instances must be dropped.
    pub(crate) fn run(&mut self, job: &Job, callee: Option<Guest>) -> Result<(Outcome, Option<Guest>), Fault> {
        self.prepare(job, &job.files, job.seed, request::encode(job), request::expected_calls(job))?;
        let (Some(program), Some(guest)) = (&job.callee, callee) else {
            let ended = self.enter(&job.limits)?;
            return Ok((self.outcome(&job.limits, ended)?, None));
        };
        let callee = CalleeGuest::start(guest, job, program)?;
        let alive = callee.is_alive();
        let callee = Arc::new(Mutex::new(callee));
        let asked = Arc::clone(&callee);
        let ask = move |request, caps| asked.lock().unwrap_or_else(PoisonError::into_inner).ask(request, caps);
        self.store.data_mut().ask_callee = Some(Box::new(ask));
        let ended = if alive { self.enter(&job.limits)? } else { Ended::from_stop(&Stop::Callee) };
        self.store.data_mut().ask_callee = None;
        let callee = Arc::into_inner(callee).and_then(|callee| callee.into_inner().ok()).ok_or("the callee is gone")?;
        let (guest, callee) = callee.end()?;
        let outcome = self.outcome(&job.limits, ended)?;
        Ok((Outcome { callee: Some(Box::new(callee)), ..outcome }, Some(guest)))
    }

    /// Runs the module level of a callee's program and leaves it ready to [serve](Self::serve).
    ///
    /// # Errors
    /// A host fault.
    fn load_callee(&mut self, job: &Job, callee: &Callee) -> Result<Ended, Fault> {
        self.prepare(job, &callee.files_in(job), callee.seed, request::encode_callee(job, callee), 0)?;
        self.enter(&job.limits)
    }

    /// Runs the module level of `job`'s program, and ends as what it has become: how that went, and the state.
    ///
    /// # Errors
    /// A host fault.
    pub(crate) fn warm(mut self, job: &Job) -> Result<(Outcome, Snapshot), Fault> {
        self.prepare(job, &job.files, job.seed, request::encode_warm(job), 0)?;
        let ended = self.enter(&job.limits)?;
        let outcome = self.outcome(&job.limits, ended)?;
        let snapshot = self.exports.snapshot(&mut self.store).map_err(|error| error.to_string())?;
        Ok((outcome, snapshot))
    }

    /// Answers one request to a loaded callee. Fuel and output are those of all requests together.
    ///
    /// # Errors
    /// A host fault.
    fn serve(&mut self, limits: &Limits, request: Vec<u8>) -> Result<Ended, Fault> {
        self.store.data_mut().channel.start_request(request);
        self.enter(limits)
    }

    /// Runs one turn of the harness. A turn without source text is a job's, see `_veriplay_start` in the harness.
    fn enter(&mut self, limits: &Limits) -> Result<Ended, Fault> {
        let deadline = Deadline::after(limits.deadline_ns);
        self.store.data_mut().deadline = deadline;
        let ended = drive(self.exports.turn.call_async(&mut self.store, (0, 0)));
        let host = self.store.data_mut();
        let calls = std::mem::take(&mut host.channel.calls);
        let (exit, error) = match ended {
            Ok(status) => finished(status, &host.channel),
            Err(error) => stopped(&error, limits, deadline.elapsed_ns())?,
        };
        if matches!(exit, Exit::Trapped | Exit::Exceeded { .. }) {
            host.grew = true;
        }
        Ok(Ended { exit, error, calls })
    }

    /// What became of a job, all its turns together.
    ///
    /// # Errors
    /// A host fault.
    fn outcome(&mut self, limits: &Limits, ended: Ended) -> Result<Outcome, Fault> {
        let left = fuel::remaining(&mut self.store).map_err(|error| error.to_string())?;
        let peak_memory_bytes = self.exports.memory.data_size(&self.store) as u64;
        let host = self.store.data_mut();
        let (stdout, stderr) = (std::mem::take(&mut host.wasi.stdout), std::mem::take(&mut host.wasi.stderr));
        Ok(Outcome {
            exit: ended.exit,
            calls: ended.calls,
            error: ended.error,
            truncated: stdout.truncated || stderr.truncated,
            stdout: stdout.bytes,
            stderr: stderr.bytes,
            fuel: limits.fuel.saturating_sub(left),
            peak_memory_bytes,
            callee: None,
        })
    }

    fn prepare(
        &mut self,
        job: &Job,
        files: &[(String, Vec<u8>)],
        seed: u64,
        request: Vec<u8>,
        expected_calls: usize,
    ) -> Result<(), Fault> {
        let setup = Setup {
            seed,
            stdin: &job.stdin,
            files,
            output_bytes: job.limits.output_bytes,
            file_bytes: job.limits.file_bytes,
        };
        let host = self.store.data_mut();
        let base = self.base.as_deref().unwrap_or(self.image.base_tree());
        host.wasi = Wasi::new(base, &setup)
            .map_err(|errno| format!("cannot prepare the job: its files clash (errno {})", errno.0))?;
        host.channel = Channel::new(request, expected_calls, job.limits.output_bytes);
        if let Some(callee) = &job.callee {
            host.channel.set_callee(callee.shares_objects);
        }
        host.memory_limit = job.limits.memory_bytes;
        host.grew = false;
        fuel::fill(&mut self.store, job.limits.fuel).map_err(|error| format!("cannot prepare the job: {error:#}"))
    }

    /// Whether the instance is in the image's state again and may run another job. If not, drop it.
    pub(crate) fn reset(&mut self, mode: ResetMode) -> bool {
        let in_doubt = self.store.data().grew;
        if mode == ResetMode::Fresh || in_doubt {
            return false;
        }
        let memory = self.exports.memory.data_mut(&mut self.store);
        let restored = self.image.baseline().restore(memory, &mut self.installed, mode);
        restored.is_ok() && self.restore_globals().is_ok()
    }
}

/// An instance that runs a job's callee, from its start to the end of the job.
struct CalleeGuest {
    guest: Guest,
    limits: Limits,
    /// How its last turn ended. Anything but `Returned` is final.
    last: Ended,
}

impl CalleeGuest {
    /// Runs the callee's module level in `guest`, which is in the image's state.
    ///
    /// # Errors
    /// A host fault.
    fn start(mut guest: Guest, job: &Job, callee: &Callee) -> Result<Self, Fault> {
        let last = guest.load_callee(job, callee)?;
        Ok(Self { guest, limits: job.limits, last })
    }

    /// Whether it can be asked.
    fn is_alive(&self) -> bool {
        self.last.exit == Exit::Returned
    }

    /// Answers one encoded request with the frame that goes to the other side; `None` when the callee ended over it.
    ///
    /// # Errors
    /// A host fault.
    fn ask(&mut self, request: Vec<u8>, caps: EncodeCaps) -> Result<Option<Vec<u8>>, Fault> {
        self.last = self.guest.serve(&self.limits, request)?;
        let result = self.last.calls.pop().filter(|_| self.is_alive());
        Ok(result.map(|result| frame(result, caps)))
    }

    /// The instance, which must be reset, and what became of the callee.
    ///
    /// # Errors
    /// A host fault.
    fn end(mut self) -> Result<(Guest, Outcome), Fault> {
        let outcome = self.guest.outcome(&self.limits, self.last)?;
        Ok((self.guest, outcome))
    }
}

/// The answer as the harness reads it. A value that the host cannot decode is the callee's failure, not the caller's.
fn frame(result: CallResult, caps: EncodeCaps) -> Vec<u8> {
    let error = match result {
        CallResult::Returned(bytes) => match Value::decode(&bytes, caps) {
            Ok(_) => return [b"V", bytes.as_slice()].concat(),
            Err(error) => return [b"U", error.to_string().as_bytes()].concat(),
        },
        CallResult::Unencodable(what) => return [b"U", what.as_bytes()].concat(),
        CallResult::Raised(error) => error,
    };
    let kind = error.kind.as_bytes();
    let length = u8::try_from(kind.len()).unwrap_or(u8::MAX);
    [b"X", &[length][..], &kind[..usize::from(length)], error.message.as_bytes()].concat()
}

/// How one turn of the harness ended.
struct Ended {
    exit: Exit,
    error: Option<GuestError>,
    /// The calls of this turn that ended.
    calls: Vec<CallResult>,
}

impl Ended {
    fn from_stop(stop: &Stop) -> Self {
        let (exit, error) = stop_exit(stop);
        Self { exit, error, calls: Vec::new() }
    }
}

/// How a job ended whose `turn` came back with `status`.
fn finished(status: i32, channel: &Channel) -> (Exit, Option<GuestError>) {
    match (&channel.failed, channel.done && status == 0) {
        (Some((exit, error)), true) => (exit.clone(), Some(error.clone())),
        (None, true) => (Exit::Returned, None),
        (_, false) => {
            trapped("protocol", format!("the harness ended with status {status} and did not say it was done"))
        }
    }
}

fn trapped(kind: &str, message: String) -> (Exit, Option<GuestError>) {
    (Exit::Trapped, Some(GuestError { kind: kind.to_owned(), message }))
}

/// How a job ended that was stopped by a trap or by the host.
fn stopped(error: &wasmtime::Error, limits: &Limits, elapsed_ns: u64) -> Result<(Exit, Option<GuestError>), Fault> {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return Ok(stop_exit(stop));
    }
    let exceeded = |limit, allowed, used| Ok((Exit::Exceeded { limit, allowed, used }, None));
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => exceeded(LimitKind::Fuel, limits.fuel, limits.fuel),
        Some(Trap::Interrupt) => exceeded(LimitKind::DeadlineNs, limits.deadline_ns, elapsed_ns),
        Some(Trap::StackOverflow) => Ok(trapped("stack_overflow", "the wasm stack is used up".to_owned())),
        Some(trap) => Ok(trapped("trap", trap.to_string())),
        None if error.is::<wasmtime::ThrownException>() => {
            Ok(trapped("uncaught_exception", "a native exception left the interpreter".to_owned()))
        }
        None => Err(format!("{error:#}")),
    }
}

fn stop_exit(stop: &Stop) -> (Exit, Option<GuestError>) {
    match stop {
        Stop::ProcExit(_) => trapped("proc_exit", stop.to_string()),
        Stop::Protocol(_) => trapped("protocol", stop.to_string()),
        Stop::Callee => trapped("callee", stop.to_string()),
        Stop::Exceeded { limit, allowed, used } => {
            (Exit::Exceeded { limit: *limit, allowed: *allowed, used: *used }, None)
        }
    }
}
