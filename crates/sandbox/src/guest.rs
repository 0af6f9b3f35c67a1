//! One instance of an image, and the run of one job in it.
//!
//! An instance is reused only when its state is certain: the last job ended without a trap, memory did not grow, and memory and globals were
//! restored ([`GuestInstance::reset`]). The reset is complete because a module's state is its memory, its mutable globals, its tables and
//! its segments. The instrumentation refuses modules that write to tables or drop segments, and exports every mutable global.
//!
//! A job with a callee has a second instance, which answers calls of its program's functions. The two never run at once: the job's host call
//! enters the callee on the same thread and returns with its reply. Only encoded plain values cross, and the host decodes each of them.
//! Neither side sees the other's memory, files or output. A job with an interactor has a second instance too, see [`crate::sides`].

mod script_side;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use veriplay_core::{
    CallResult, Callee, CancellationToken, EncodeCaps, Entry, Exit, GuestError, Job, Limits, Outcome, Value,
};
use wasmtime::Store;

use crate::call::{EndedCall, HostFault, WatchedCall, exit_of_error, exit_of_trap, trap_exit};
use crate::channel::Channel;
use crate::exports::{Exports, GuestSnapshot, SavedValue};
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::image::Image;
use crate::job_profile::{JobProfile, TurnCost, nanoseconds_since};
use crate::kept_states::{GuestState, KeptStates, StateKey};
use crate::memory::{InstalledBaseline, ResetMode, prefer_huge_pages};
use crate::request;
use crate::sides::run_interaction;
use crate::stacks::run_to_completion;
use crate::wasi::files::Tree;
use crate::wasi::{AtCap, FetchedFiles, Wasi, WasiSetup};

pub(crate) use script_side::ScriptSide;

pub(crate) struct GuestInstance {
    image: Arc<Image>,
    /// The file tree with the next job's layers, if it has some.
    base: Option<Arc<Tree>>,
    store: Store<Host>,
    exports: Exports,
    installed: InstalledBaseline,
    /// What its turns and resets took since it was asked.
    spent: JobProfile,
}

/// A script's stdout is its result. That of a function which is called is nobody's.
const fn at_stdout_cap(job: &Job) -> AtCap {
    match job.entry {
        Entry::Script => AtCap::End,
        Entry::Calls { .. } => AtCap::Cut,
    }
}

impl GuestInstance {
    /// A new instance in the image's state.
    pub(crate) fn new(image: &Arc<Image>) -> Result<Self, HostFault> {
        Self::instantiate(image).map_err(|error| format!("no instance of image `{}`: {error:#}", image.name()))
    }

    fn instantiate(image: &Arc<Image>) -> wasmtime::Result<Self> {
        let wasi = Wasi::new(&image.base_tree, &WasiSetup::default())
            .map_err(|errno| wasmtime::Error::msg(format!("the base tree fails with errno {}", errno.0)))?;
        let mut store = Store::new(&image.engine, Host::new(wasi, Channel::default(), u64::MAX));
        store.limiter(|host| host);
        let (exports, _) = Exports::instantiate(&mut store, &image.linker, &image.module, image.kind)?;
        let size = exports.memory.size(&store);
        let wanted = (image.baseline.len() >> 16) as u64;
        exports.memory.grow(&mut store, wanted.saturating_sub(size))?;
        let installed = image.baseline.install(exports.memory.data_mut(&mut store))?;
        prefer_huge_pages(exports.memory.data_mut(&mut store));
        let mut guest =
            Self { image: Arc::clone(image), base: None, store, exports, installed, spent: JobProfile::default() };
        guest.set_globals(&image.state.globals)?;
        Ok(guest)
    }

    /// Makes the next jobs start from the file tree `base` instead of the image's.
    pub(crate) fn set_base(&mut self, base: Option<Arc<Tree>>) {
        self.base = base;
    }

    pub(crate) fn set_cancellation(&mut self, cancellation: CancellationToken) {
        self.store.data_mut().cancellation = cancellation;
    }

    fn set_globals(&mut self, saved: &[(String, SavedValue)]) -> wasmtime::Result<()> {
        let Self { store, exports, .. } = self;
        if exports.globals.len() != saved.len() {
            return Err(wasmtime::Error::msg("the module's globals are not the image's"));
        }
        for ((name, global), (saved_name, value)) in exports.globals.iter().zip(saved) {
            if name != saved_name {
                return Err(wasmtime::Error::msg("the module's globals are not the image's"));
            }
            global.set(&mut *store, value.to_val())?;
        }
        Ok(())
    }

    /// Runs `job` from the image's state, or from one of `states` if the job would come to it before its program runs. The job's callee or
    /// interactor, if it has one, runs in `callee`, another instance in the image's state. Afterwards both must be [reset](Self::reset) or dropped.
    pub(crate) fn run(
        &mut self,
        job: &Job,
        callee: Option<GuestInstance>,
        states: &KeptStates,
    ) -> Result<(Outcome, Option<GuestInstance>), HostFault> {
        let callee = match (&job.interactor, callee) {
            (Some(interactor), Some(mut guest)) => {
                let of_other = interactor.as_job(job);
                let mut other = ScriptSide::new(&mut guest, &of_other, states);
                let outcome = run_interaction(&mut ScriptSide::new(self, job, states), &mut other)?;
                return Ok((outcome, Some(guest)));
            }
            (_, callee) => callee,
        };
        let (Some(program), Some(guest)) = (&job.callee, callee) else {
            let (ended, fetched) = self.run_program(job, states)?;
            return Ok((fetched.add_to(self.take_outcome(&job.limits, ended)?), None));
        };
        let callee = CalleeGuest::start(guest, job, program, states)?;
        let alive = callee.is_alive();
        let callee = Arc::new(Mutex::new(callee));
        let asked = Arc::clone(&callee);
        let ask = move |request, caps| asked.lock().unwrap_or_else(PoisonError::into_inner).ask(request, caps);
        self.store.data_mut().ask_callee = Some(Box::new(ask));
        let (ended, fetched) = if alive {
            self.run_program(job, states)?
        } else {
            self.prepare_job(job, &job.files, job.seed, at_stdout_cap(job))?;
            self.set_fuel(job.limits.fuel)?;
            (TurnEnd::from_trap(&HostTrap::Callee), self.store.data().wasi.fetch_files(job))
        };
        self.store.data_mut().ask_callee = None;
        let callee = Arc::into_inner(callee).and_then(|callee| callee.into_inner().ok()).ok_or("the callee is gone")?;
        let (guest, callee) = callee.finish()?;
        let outcome = self.take_outcome(&job.limits, ended)?;
        Ok((Outcome { callee: Some(Box::new(callee)), ..fetched.add_to(outcome) }, Some(guest)))
    }

    /// Runs the job's preload and its program; returns how that ended, and the files that the job wants back.
    fn run_program(&mut self, job: &Job, states: &KeptStates) -> Result<(TurnEnd, FetchedFiles), HostFault> {
        let preload = job.preload.as_ref().map(|preload| {
            let program = request::encode_program(&preload.program, &job.entry, self.image.kind);
            (program, request::encode_preload_request(job, preload))
        });
        let loaded = preload.as_ref().map_or(StateKey::IMAGE, |(program, request)| {
            StateKey::IMAGE.behind_preload(program, request, &job.limits)
        });
        let program = request::encode_program(&job.program, &job.entry, self.image.kind);
        let compiled = loaded.behind_program(&program);
        self.set_fuel(job.limits.fuel)?;
        let is_compiled = self.enter(compiled, &job.limits, states)?;
        if let (false, Some((program, request))) = (is_compiled, preload)
            && let Some(ended) = self.preload(loaded, job, program, request, states)?
        {
            return Ok((ended, FetchedFiles::default()));
        }
        self.prepare_job(job, &job.files, job.seed, at_stdout_cap(job))?;
        if !is_compiled && let Some(ended) = self.compile(compiled, job, program, states)? {
            return Ok((ended, self.store.data().wasi.fetch_files(job)));
        }
        let ended =
            self.run_compiled(job, request::encode_request(job, self.image.kind), request::expected_calls(job))?;
        Ok((ended, self.store.data().wasi.fetch_files(job)))
    }

    /// Runs the module level of a callee's program, which is then ready to [serve](CalleeGuest::ask).
    fn load_callee(&mut self, job: &Job, callee: &Callee, states: &KeptStates) -> Result<TurnEnd, HostFault> {
        let program = request::encode_program(&callee.program, &job.entry, self.image.kind);
        let compiled = StateKey::IMAGE.behind_program(&program);
        self.set_fuel(job.limits.fuel)?;
        let is_compiled = self.enter(compiled, &job.limits, states)?;
        self.prepare_job(job, &callee.files_in(job), callee.seed, AtCap::Cut)?;
        if !is_compiled && let Some(ended) = self.compile(compiled, job, program, states)? {
            return Ok(ended);
        }
        self.set_request(job, request::encode_callee_request(job, callee), 0);
        if callee.shares_objects {
            self.store.data_mut().channel.expect_code();
        }
        self.run_program_turn(&job.limits)
    }

    /// Runs the module level of `job`'s program; returns its outcome and a snapshot of the state afterwards.
    pub(crate) fn into_snapshot(mut self, job: &Job) -> Result<(Outcome, GuestSnapshot), HostFault> {
        let program = request::encode_program(&job.program, &job.entry, self.image.kind);
        let compiled = StateKey::IMAGE.behind_program(&program);
        self.set_fuel(job.limits.fuel)?;
        self.prepare_job(job, &job.files, job.seed, at_stdout_cap(job))?;
        let ended = match self.compile(compiled, job, program, &KeptStates::default())? {
            Some(ended) => ended,
            None => self.run_compiled(job, request::encode_warm_request(job), 0)?,
        };
        let outcome = self.take_outcome(&job.limits, ended)?;
        let snapshot = self.exports.snapshot(&mut self.store).map_err(|error| error.to_string())?;
        Ok((outcome, snapshot))
    }

    /// Brings the instance, which is in the image's state, to the state behind the job's preload. Returns how the job ended, if it did.
    fn preload(
        &mut self,
        loaded: StateKey,
        job: &Job,
        program: Vec<u8>,
        request: Vec<u8>,
        states: &KeptStates,
    ) -> Result<Option<TurnEnd>, HostFault> {
        if self.enter(loaded, &job.limits, states)? {
            return Ok(None);
        }
        let base = self.base.take();
        let alone = Job { limits: job.limits, ..Job::script("") };
        self.prepare_job(&alone, &[], 0, AtCap::Cut)?;
        self.base = base;
        if let Some(ended) = self.compile(StateKey::IMAGE.behind_program(&program), &alone, program, states)? {
            return Ok(Some(ended));
        }
        let ended = self.run_compiled(&alone, request, 1)?;
        if let Some(ended) = ended.failed() {
            return Ok(Some(ended));
        }
        let host = self.store.data();
        // What was printed depends on the limit of output.
        if host.wasi.stdout.bytes.is_empty() && host.wasi.stderr.bytes.is_empty() {
            self.keep_state(loaded, &job.limits, states)?;
        }
        Ok(None)
    }

    /// Compiles a program, as the request `program` asks, in the state that the instance is in, which leads to that of `compiled`. Returns how the
    /// job ended, if it did.
    fn compile(
        &mut self,
        compiled: StateKey,
        job: &Job,
        program: Vec<u8>,
        states: &KeptStates,
    ) -> Result<Option<TurnEnd>, HostFault> {
        // Modules without the harness are no compilers.
        if self.image.text.is_some() {
            return Ok(None);
        }
        self.set_request(job, program, 0);
        self.store.data_mut().called_system = false;
        let (ended, cost) = self.run_turn(&job.limits)?;
        self.spent.compiling += cost;
        if ended.exit != Exit::Returned {
            return Ok(Some(ended));
        }
        // A warning is printed here, for one: who starts behind it would miss that.
        if !self.store.data().called_system && states.is_known(compiled) {
            self.keep_state(compiled, &job.limits, states)?;
        }
        Ok(None)
    }

    /// Brings the instance, which is in the image's state, to that of `key` if it is kept and the job has the fuel for it.
    fn enter(&mut self, key: StateKey, limits: &Limits, states: &KeptStates) -> Result<bool, HostFault> {
        let Some(state) = states.get(key).filter(|state| state.fuel <= limits.fuel) else { return Ok(false) };
        state.pages.write_to(self.exports.memory.data_mut(&mut self.store));
        self.set_globals(&state.globals).map_err(|error| error.to_string())?;
        self.set_fuel(limits.fuel - state.fuel)?;
        Ok(true)
    }

    /// Keeps the state that the instance is in, if its memory has not grown and it can be told what it has written.
    fn keep_state(&mut self, key: StateKey, limits: &Limits, states: &KeptStates) -> Result<(), HostFault> {
        if self.store.data().grew {
            return Ok(());
        }
        let fuel = limits.fuel.saturating_sub(self.remaining_fuel()?);
        let globals = self.exports.save_globals(&mut self.store).map_err(|error| error.to_string())?.globals;
        let memory = self.exports.memory.data_mut(&mut self.store);
        if let Some(pages) = self.image.baseline.find_changed(memory, &self.installed) {
            states.keep(key, GuestState { pages, globals, fuel });
        }
        Ok(())
    }

    /// Runs the program that is compiled, as `request` says, with the fuel that is left.
    fn run_compiled(&mut self, job: &Job, request: Vec<u8>, expected_calls: usize) -> Result<TurnEnd, HostFault> {
        self.set_request(job, request, expected_calls);
        self.run_program_turn(&job.limits)
    }

    fn run_program_turn(&mut self, limits: &Limits) -> Result<TurnEnd, HostFault> {
        let (ended, cost) = self.run_turn(limits)?;
        self.spent.running += cost;
        Ok(ended)
    }

    /// Runs one turn of the harness; returns how it ended, and what it took.
    fn run_turn(&mut self, limits: &Limits) -> Turn {
        run_to_completion(async { Ok(self.turn(limits).await) }).map_err(|error| error.to_string())?
    }

    /// The same, for a guest that may wait. Where this is dropped before its end, so must the instance be.
    async fn turn(&mut self, limits: &Limits) -> Turn {
        // SAFETY: the store is this instance's, and the call ends in this function, or when that is dropped.
        let call = unsafe { WatchedCall::start(self.store.data(), limits) }?;
        let ended = self.exports.enter(&mut self.store).await;
        let EndedCall { result, ns, fuel } = call.end(self.store.data(), ended)?;
        let host = self.store.data_mut();
        let calls = std::mem::take(&mut host.channel.calls);
        let exit_code = match &result {
            Ok(_) => host.channel.exit_code(),
            Err(error) => error.downcast_ref::<HostTrap>().and_then(HostTrap::exit_code),
        };
        let (exit, error) = match result {
            Ok(status) => exit_of_status(status, &host.channel),
            Err(error) => exit_of_error(&error, limits, ns)?,
        };
        if matches!(exit, Exit::Trapped | Exit::Exceeded { .. }) {
            host.grew = true;
        }
        Ok((TurnEnd { exit, error, exit_code, calls }, TurnCost { turns: 1, ns, fuel }))
    }

    /// What it took since this was called last.
    pub(crate) fn take_spent(&mut self) -> JobProfile {
        std::mem::take(&mut self.spent)
    }

    /// Takes the outcome of a job, over all its turns.
    fn take_outcome(&mut self, limits: &Limits, ended: TurnEnd) -> Result<Outcome, HostFault> {
        let left = self.remaining_fuel()?;
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
            interaction: None,
            exit_code: ended.exit_code,
            fetched: Vec::new(),
            compilation: None,
        })
    }

    /// Gives the instance the system and the limits of a job. Its fuel is [set](Self::set_fuel) by itself.
    fn prepare_job(
        &mut self,
        job: &Job,
        files: &[(String, Vec<u8>)],
        seed: u64,
        at_stdout_cap: AtCap,
    ) -> Result<(), HostFault> {
        let setup = WasiSetup {
            seed,
            stdin: &job.stdin,
            files,
            output_bytes: job.limits.output_bytes,
            at_stdout_cap,
            file_bytes: job.limits.file_bytes,
            sleep_fuel: job.sleep_fuel,
            ..WasiSetup::default()
        };
        let host = self.store.data_mut();
        let base = self.base.as_deref().unwrap_or(&self.image.base_tree);
        host.wasi = Wasi::new(base, &setup)
            .map_err(|errno| format!("cannot prepare the job: its files clash (errno {})", errno.0))?;
        host.memory_limit = job.limits.memory_bytes;
        host.grew = false;
        host.promises.rejected.clear();
        Ok(())
    }

    fn set_request(&mut self, job: &Job, request: Vec<u8>, expected_calls: usize) {
        let mut channel = Channel::new(request, expected_calls, job.limits.output_bytes);
        if let Some(callee) = &job.callee {
            channel.set_callee(callee.shares_objects);
        }
        self.store.data_mut().channel = channel;
    }

    fn remaining_fuel(&self) -> Result<u64, HostFault> {
        self.store.data().fuel.remaining().map_err(|error| error.to_string())
    }

    fn set_fuel(&self, fuel: u64) -> Result<(), HostFault> {
        let set = self.store.data().fuel.set(fuel);
        set.map_err(|error| format!("cannot prepare the job: {error:#}"))
    }

    /// Resets the instance to the image's state. When this returns `false`, the instance must be dropped.
    pub(crate) fn reset(&mut self, mode: ResetMode) -> bool {
        let in_doubt = self.store.data().grew;
        if mode == ResetMode::Fresh || in_doubt {
            return false;
        }
        let (begun, image) = (Instant::now(), Arc::clone(&self.image));
        let memory = self.exports.memory.data_mut(&mut self.store);
        let Ok(pages) = image.baseline.restore(memory, &mut self.installed, mode) else { return false };
        self.spent.pages += pages as u64;
        self.spent.reset_ns += nanoseconds_since(begun);
        self.set_globals(&image.state.globals).is_ok()
    }
}

struct CalleeGuest {
    guest: GuestInstance,
    /// They hold for all requests together.
    limits: Limits,
    /// How its last turn ended. Anything but `Returned` is final.
    last: TurnEnd,
    /// What its program was compiled to, where that was asked for.
    code: Vec<CallResult>,
}

impl CalleeGuest {
    /// Runs the callee's module level in `guest`, which is in the image's state.
    fn start(mut guest: GuestInstance, job: &Job, callee: &Callee, states: &KeptStates) -> Result<Self, HostFault> {
        let mut last = guest.load_callee(job, callee, states)?;
        let code = std::mem::take(&mut last.calls);
        Ok(Self { guest, limits: job.limits, last, code })
    }

    fn is_alive(&self) -> bool {
        self.last.exit == Exit::Returned
    }

    /// Serves one encoded request and returns the frame for the other side; `None` when the callee ended during it.
    fn ask(&mut self, request: Vec<u8>, caps: EncodeCaps) -> Result<Option<Vec<u8>>, HostFault> {
        // One in the format of `marshal` is a tuple, and its answer is in that format, too.
        let is_marshalled = request.first() == Some(&b'(');
        self.guest.store.data_mut().channel.start_request(request);
        self.last = self.guest.run_program_turn(&self.limits)?;
        let result = self.last.calls.pop().filter(|_| self.is_alive());
        Ok(result.map(|result| encode_reply(result, caps, is_marshalled)))
    }

    /// Returns the instance, which must be reset, and the callee's outcome.
    fn finish(mut self) -> Result<(GuestInstance, Outcome), HostFault> {
        let outcome = self.guest.take_outcome(&self.limits, self.last)?;
        Ok((self.guest, Outcome { calls: self.code, ..outcome }))
    }
}

/// Encodes the reply to the harness. A value that the host cannot decode is a failure of the callee, not of the caller.
fn encode_reply(result: CallResult, caps: EncodeCaps, is_marshalled: bool) -> Vec<u8> {
    let error = match result {
        CallResult::Returned(bytes) => match Value::decode(&bytes, caps) {
            // Never the bytes of the guest themselves: `marshal.loads` takes the other side's word for them.
            Ok(value) => {
                return match value.to_marshal().filter(|_| is_marshalled) {
                    Some(message) => [b"v", message.as_slice()].concat(),
                    None => [b"V", bytes.as_slice()].concat(),
                };
            }
            Err(error) => return [b"U", error.to_string().as_bytes()].concat(),
        },
        CallResult::Unencodable(what) => return [b"U", what.as_bytes()].concat(),
        CallResult::Raised(error) => error,
    };
    let kind = error.kind.as_bytes();
    let length = u8::try_from(kind.len()).unwrap_or(u8::MAX);
    [b"X", &[length][..], &kind[..usize::from(length)], error.message.as_bytes()].concat()
}

type Turn = Result<(TurnEnd, TurnCost), HostFault>;

struct TurnEnd {
    exit: Exit,
    error: Option<GuestError>,
    /// The status by which the program ended its process, where it did.
    exit_code: Option<i32>,
    /// The calls of this turn that ended.
    calls: Vec<CallResult>,
}

impl TurnEnd {
    /// It as a failure, unless it returned, and so did all its calls.
    fn failed(mut self) -> Option<Self> {
        if self.exit != Exit::Returned {
            return Some(self);
        }
        let failed = self.calls.into_iter().find_map(|call| match call {
            CallResult::Returned(_) => None,
            CallResult::Raised(error) => Some(error),
            CallResult::Unencodable(what) => Some(GuestError { kind: "TypeError".to_owned(), message: what }),
        });
        (self.exit, self.error, self.calls) = (Exit::Raised, failed, Vec::new());
        self.error.is_some().then_some(self)
    }

    fn from_trap(stop: &HostTrap) -> Self {
        let (exit, error) = exit_of_trap(stop);
        Self { exit, error, exit_code: stop.exit_code(), calls: Vec::new() }
    }
}

fn exit_of_status(status: i32, channel: &Channel) -> (Exit, Option<GuestError>) {
    match (&channel.failed, channel.done && status == 0) {
        (Some((exit, error)), true) => (exit.clone(), Some(error.clone())),
        (None, true) => (Exit::Returned, None),
        (_, false) => {
            trap_exit("protocol", format!("the harness ended with status {status} and did not say it was done"))
        }
    }
}
