//! One instance of an image: its store, its exports, and the run of one job in it.
//!
//! An instance is reused only when nothing is in doubt: the last job ended without a trap, memory did not grow, and
//! memory and globals were put back ([`Guest::reset`]). The reset is complete because a module's state is its memory, its
//! mutable globals, and its tables and segments; the instrumentation refuses modules that write to tables or drop
//! segments, and exports every mutable global. [`Host`] is made anew for every job.

use std::sync::Arc;

use veriplay_core::{CallResult, Exit, GuestError, Job, LimitKind, Limits, Outcome, Peer};
use wasmtime::{Caller, Global, Instance, Linker, Memory, Mutability, Store, Trap, TypedFunc, Val};

use crate::channel::{Answer, Channel};
use crate::deadline::Deadline;
use crate::fuel::{self, Tank};
use crate::image::{Image, Snapshot, State};
use crate::memory::{Installed, ResetMode};
use crate::meter;
use crate::peer::PeerGuest;
use crate::request;
use crate::stacks::drive;
use crate::stop::Stop;
use crate::wasi::files::Tree;
use crate::wasi::{Setup, Wasi, imports};
use crate::weakness::{self, Weakness};

/// What host functions work on: everything one job has.
pub(crate) struct Host {
    pub(crate) wasi: Wasi,
    pub(crate) channel: Channel,
    /// When the wall clock ends the job.
    pub(crate) deadline: Deadline,
    /// What the guest may still use.
    pub(crate) fuel: Tank,
    /// The other side of the job, where it has one.
    peer: Option<Box<PeerGuest>>,
    memory: Option<Memory>,
    alloc: Option<TypedFunc<i32, i32>>,
    /// Bytes linear memory may have; a request for more ends the job.
    memory_limit: u64,
    /// Whether anything grew since the last reset.
    grew: bool,
}

impl Host {
    pub(crate) fn new(wasi: Wasi, channel: Channel, memory_limit: u64) -> Self {
        Self {
            wasi,
            channel,
            deadline: Deadline::NEVER,
            fuel: Tank::default(),
            peer: None,
            memory: None,
            alloc: None,
            memory_limit,
            grew: false,
        }
    }

    /// The guest's linear memory.
    ///
    /// # Errors
    /// When the guest calls out before it is instantiated, as a start function would.
    pub(crate) fn memory(&self) -> wasmtime::Result<Memory> {
        self.memory.ok_or_else(|| wasmtime::Error::msg("the module calls its host while it is being instantiated"))
    }

    /// Says which memory that is, of a module that is no image's.
    #[cfg(feature = "conformance")]
    pub(crate) fn set_memory(&mut self, memory: Option<Memory>) {
        self.memory = memory;
    }
}

impl wasmtime::ResourceLimiter for Host {
    /// A request beyond the limit ends the job: the same on every machine, whatever memory that has.
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grew = true;
        let desired = desired as u64;
        // More than wasm can address is the program's doing too, whatever the limit.
        let limit = if weakness::is(Weakness::MemoryUncapped) { u64::MAX } else { self.memory_limit };
        if desired > limit.min(1 << 32) {
            let stop = Stop::exceeded(LimitKind::MemoryBytes, self.memory_limit, desired);
            return Err(wasmtime::Error::new(stop));
        }
        Ok(true)
    }

    /// The host has no memory for it. That is our fault, not the program's.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error.context("the host could not provide guest memory"))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grew = true;
        Ok(desired <= 1 << 20)
    }
}

/// Gives the shim and the value channel their names.
///
/// # Errors
/// Never for a new linker.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    imports::add(&mut linker)?;
    fuel::add(&mut linker)?;
    linker.func_wrap_async("host", "call", |caller, frame| Box::new(host_call(caller, frame)))?;
    Ok(linker)
}

/// `host.call(ptr, len, out_ptr_ptr, out_len_ptr)`: one frame to the host, one back. 0 = answered, −2 = bad pointers.
async fn host_call(
    mut caller: Caller<'_, Host>,
    (ptr, len, out_ptr, out_len): (i32, i32, i32, i32),
) -> wasmtime::Result<i32> {
    const REFUSED: i32 = -2;
    let memory = caller.data().memory()?;
    let frame_bytes = u64::from(len.cast_unsigned());
    imports::charge(&mut caller, frame_bytes)?;
    let (bytes, host) = memory.data_and_store_mut(&mut caller);
    let start = ptr.cast_unsigned() as usize;
    let Some(frame) = bytes.get(start..start.saturating_add(len.cast_unsigned() as usize)) else {
        return Ok(if weakness::is(Weakness::PointersUnchecked) { 0 } else { REFUSED });
    };
    if frame_bytes > host.channel.max_frame() && !weakness::is(Weakness::FramesUncapped) {
        return Err(wasmtime::Error::new(host.channel.refuse(frame_bytes)));
    }
    let reply = match host.channel.receive(frame).map_err(wasmtime::Error::new)? {
        Answer::Bytes(reply) => reply,
        Answer::OfPeer(request) => ask_peer(host, request)?,
    };
    let alloc = host.alloc.clone().ok_or_else(|| wasmtime::Error::msg("the guest has no allocator yet"))?;
    let reply_len =
        i32::try_from(reply.len()).map_err(|_| wasmtime::Error::new(Stop::Protocol("the job is too large")))?;
    caller.data_mut().channel.set_answering(true);
    let at = alloc.call_async(&mut caller, reply_len).await?;
    caller.data_mut().channel.set_answering(false);
    let view = &mut crate::wasi::view::View(memory.data_mut(&mut caller));
    let wrote = at != 0
        && view.write(at, &reply).is_ok()
        && view.write(out_ptr, &at.to_le_bytes()).is_ok()
        && view.write(out_len, &reply_len.to_le_bytes()).is_ok();
    Ok(if wrote { 0 } else { REFUSED })
}

/// Enters the job's peer, on this thread, and comes back with the frame it answers.
fn ask_peer(host: &mut Host, request: Vec<u8>) -> wasmtime::Result<Vec<u8>> {
    let caps = host.channel.caps();
    let peer = host.peer.as_mut().ok_or(Stop::Protocol("a request to a peer, and the job has none"));
    let answer = peer.map_err(wasmtime::Error::new)?.ask(request, caps).map_err(wasmtime::Error::msg)?;
    answer.ok_or(wasmtime::Error::new(Stop::Peer))
}

/// The exports the host calls.
pub(crate) struct Exports {
    pub(crate) memory: Memory,
    pub(crate) alloc: TypedFunc<i32, i32>,
    pub(crate) turn: TypedFunc<(i32, i32), i32>,
    pub(crate) globals: Vec<(String, Global)>,
}

impl Exports {
    /// Instantiates `module` and finds what the host needs in it.
    ///
    /// # Errors
    /// When an import is unknown, or an export missing or of another type.
    pub(crate) fn instantiate(
        store: &mut Store<Host>,
        linker: &Linker<Host>,
        module: &wasmtime::Module,
    ) -> wasmtime::Result<(Self, Instance)> {
        let lenient = weakness::is(Weakness::UnknownImports)
            .then(|| weakness::answering_all(store, linker, module))
            .transpose()?;
        let linker = lenient.as_ref().unwrap_or(linker);
        let instance = drive(linker.instantiate_async(&mut *store, module))?;
        let memory = instance
            .get_memory(&mut *store, "memory")
            .ok_or_else(|| wasmtime::Error::msg("the module exports no memory named `memory`"))?;
        let alloc = instance.get_typed_func(&mut *store, "host_alloc")?;
        let turn = instance.get_typed_func(&mut *store, "turn")?;
        let globals = mutable_globals(store, &instance);
        let gauge = instance.get_global(&mut *store, meter::FUEL);
        let gauge = gauge.ok_or_else(|| wasmtime::Error::msg("the module is not metered"))?;
        store.data_mut().fuel.connect(gauge);
        store.data_mut().memory = Some(memory);
        store.data_mut().alloc = Some(TypedFunc::clone(&alloc));
        Ok((Self { memory, alloc, turn, globals }, instance))
    }
}

impl Exports {
    /// The state of an instance in which nothing runs.
    ///
    /// # Errors
    /// When a global cannot be kept.
    pub(crate) fn snapshot(&self, store: &mut Store<Host>) -> wasmtime::Result<Snapshot> {
        let kept = self.globals.iter().map(|(name, global)| {
            let value = SavedVal::from_val(&global.get(&mut *store))?;
            Ok((name.clone(), value))
        });
        let globals = kept.collect::<wasmtime::Result<Vec<_>>>()?;
        Ok(Snapshot { memory: self.memory.data(&*store).to_vec(), state: State { globals } })
    }
}

fn mutable_globals(store: &mut Store<Host>, instance: &Instance) -> Vec<(String, Global)> {
    let exported: Vec<(String, Global)> = instance
        .exports(&mut *store)
        .filter(|export| export.name() != meter::FUEL)
        .filter_map(|export| Some((export.name().to_owned(), export.into_global()?)))
        .collect();
    exported.into_iter().filter(|(_, global)| global.ty(&*store).mutability() == Mutability::Var).collect()
}

/// One instance, in the image's state.
pub(crate) struct Guest {
    image: Arc<Image>,
    /// The tree of the next job's layers, where it has some.
    base: Option<Arc<Tree>>,
    store: Store<Host>,
    exports: Exports,
    installed: Installed,
}

/// A fault of the engine's or the host's.
pub(crate) type Fault = String;

/// How one turn of the harness ended.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    error: Option<GuestError>,
    /// The calls of this turn that ended.
    pub(crate) calls: Vec<CallResult>,
}

impl Ended {
    fn by(stop: &Stop) -> Self {
        let (exit, error) = stop_exit(stop);
        Self { exit, error, calls: Vec::new() }
    }
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

    /// Runs `job` from the image's state; where it has a peer, that runs in `peer`, another instance in that state.
    /// Afterwards both are used, and must be [reset](Self::reset) or dropped.
    ///
    /// # Errors
    /// A fault of ours; the instances must be dropped.
    pub(crate) fn run(&mut self, job: &Job, peer: Option<Guest>) -> Result<(Outcome, Option<Guest>), Fault> {
        self.prepare(job, job.seed, request::encode(job), request::expected_calls(job))?;
        let (Some(program), Some(guest)) = (&job.peer, peer) else {
            let ended = self.enter(&job.limits)?;
            return Ok((self.outcome(&job.limits, ended)?, None));
        };
        let peer = PeerGuest::start(guest, job, program)?;
        let alive = peer.is_alive();
        self.store.data_mut().peer = Some(Box::new(peer));
        let ended = if alive { self.enter(&job.limits)? } else { Ended::by(&Stop::Peer) };
        let peer = self.store.data_mut().peer.take().ok_or("the peer is gone")?;
        let (guest, peer) = peer.end()?;
        let outcome = self.outcome(&job.limits, ended)?;
        Ok((Outcome { peer: Some(Box::new(peer)), ..outcome }, Some(guest)))
    }

    /// Runs the module level of a peer's program and leaves it ready to [serve](Self::serve).
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn load_peer(&mut self, job: &Job, peer: &Peer) -> Result<Ended, Fault> {
        self.prepare(job, peer.seed, request::encode_peer(job, peer), 0)?;
        self.enter(&job.limits)
    }

    /// Runs the module level of `job`'s program, and ends as what it has become: how that went, and the state.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn warm(mut self, job: &Job) -> Result<(Outcome, Snapshot), Fault> {
        self.prepare(job, job.seed, request::encode_warm(job), 0)?;
        let ended = self.enter(&job.limits)?;
        let outcome = self.outcome(&job.limits, ended)?;
        let snapshot = self.exports.snapshot(&mut self.store).map_err(|error| error.to_string())?;
        Ok((outcome, snapshot))
    }

    /// Answers one request to a loaded peer. Fuel and output are those of all requests together.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn serve(&mut self, limits: &Limits, request: Vec<u8>) -> Result<Ended, Fault> {
        self.store.data_mut().channel.again(request);
        self.enter(limits)
    }

    /// Runs one turn of the harness. A turn without source text is a job's, see `_veriplay_start` in the harness.
    fn enter(&mut self, limits: &Limits) -> Result<Ended, Fault> {
        let deadline_off = weakness::is(Weakness::DeadlineOff);
        let deadline = if deadline_off { Deadline::NEVER } else { Deadline::after(limits.deadline_ns) };
        self.store.data_mut().deadline = deadline;
        let ended = drive(self.exports.turn.call_async(&mut self.store, (0, 0)));
        let host = self.store.data_mut();
        let calls = std::mem::take(&mut host.channel.calls);
        let (exit, error) = match ended {
            Ok(status) => finished(status, &host.channel),
            Err(error) => stopped(&error, limits, deadline.elapsed_ns())?,
        };
        if !matches!(exit, Exit::Returned | Exit::Raised) {
            host.grew = true;
        }
        Ok(Ended { exit, error, calls })
    }

    /// What became of a job, all its turns together.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn outcome(&mut self, limits: &Limits, ended: Ended) -> Result<Outcome, Fault> {
        let left = fuel::left(&mut self.store).map_err(|error| error.to_string())?;
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
            peer: None,
        })
    }

    fn prepare(&mut self, job: &Job, seed: u64, request: Vec<u8>, expected_calls: usize) -> Result<(), Fault> {
        let setup = Setup {
            seed,
            stdin: &job.stdin,
            files: &job.files,
            output_bytes: job.limits.output_bytes,
            file_bytes: job.limits.file_bytes,
        };
        let host = self.store.data_mut();
        let kept = weakness::is(Weakness::FilesKept).then(|| host.wasi.files());
        let base = self.base.as_deref().unwrap_or(self.image.base_tree());
        host.wasi = Wasi::over(base, kept, &setup)
            .map_err(|errno| format!("cannot prepare the job: its files clash (errno {})", errno.0))?;
        host.channel = Channel::new(request, expected_calls, job.limits.output_bytes);
        host.memory_limit = job.limits.memory_bytes;
        host.grew = false;
        let fuel = if weakness::is(Weakness::FuelUnmetered) { u64::MAX } else { job.limits.fuel };
        fuel::fill(&mut self.store, fuel).map_err(|error| format!("cannot prepare the job: {error:#}"))
    }

    /// Whether the instance is in the image's state again and may run another job. If not, drop it.
    pub(crate) fn reset(&mut self, mode: ResetMode) -> bool {
        let in_doubt = self.store.data().grew;
        let in_time = self.store.data().deadline.check().is_ok();
        if weakness::is(Weakness::ResetSkipped) && !in_doubt
            || weakness::is(Weakness::ReusedAfterTrap) && in_doubt && in_time
        {
            return true;
        }
        if mode == ResetMode::Fresh || in_doubt && !weakness::is(Weakness::GrownMemoryKept) {
            return false;
        }
        let mut memory = self.exports.memory.data_mut(&mut self.store);
        if weakness::is(Weakness::GrownMemoryKept) {
            memory = &mut memory[..self.image.baseline().len()];
        }
        let restored = self.image.baseline().restore(memory, &mut self.installed, mode);
        restored.is_ok() && (weakness::is(Weakness::GlobalsKept) || self.restore_globals().is_ok())
    }
}

/// How a job ended whose `turn` came back with `status`.
fn finished(status: i32, channel: &Channel) -> (Exit, Option<GuestError>) {
    match (&channel.raised, channel.done && status == 0) {
        (Some(error), true) => (Exit::Raised, Some(error.clone())),
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
        Some(trap) if weakness::is(Weakness::TrapsAreFaults) => Err(format!("the guest trapped: {trap}")),
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
        Stop::Peer => trapped("peer", stop.to_string()),
        Stop::Exceeded { limit, allowed, used } => {
            (Exit::Exceeded { limit: *limit, allowed: *allowed, used: *used }, None)
        }
    }
}

/// A global's value as it is kept in the image: its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedVal {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
}

impl SavedVal {
    /// # Errors
    /// When the global is of a type no snapshot holds (a vector or a reference).
    pub(crate) fn from_val(value: &Val) -> wasmtime::Result<Self> {
        match value {
            Val::I32(value) => Ok(SavedVal::I32(*value)),
            Val::I64(value) => Ok(SavedVal::I64(*value)),
            Val::F32(value) => Ok(SavedVal::F32(*value)),
            Val::F64(value) => Ok(SavedVal::F64(*value)),
            _ => Err(wasmtime::Error::msg("a mutable global of vector or reference type cannot be kept in an image")),
        }
    }

    fn to_val(self) -> Val {
        match self {
            SavedVal::I32(value) => Val::I32(value),
            SavedVal::I64(value) => Val::I64(value),
            SavedVal::F32(value) => Val::F32(value),
            SavedVal::F64(value) => Val::F64(value),
        }
    }
}
