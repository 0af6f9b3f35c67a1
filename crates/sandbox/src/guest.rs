//! One instance of an image: its store, its exports, and the run of one job in it.
//!
//! An instance is reused only when nothing is in doubt: the last job ended without a trap, memory did not grow, and
//! memory and globals were put back ([`Guest::reset`]). The reset is complete because a module's state is its memory, its
//! mutable globals, and its tables and segments; the instrumentation refuses modules that write to tables or drop
//! segments, and exports every mutable global.

use std::sync::Arc;

use veriplay_core::{Callee, Exit, Job, Limits, Outcome};
use wasmtime::Store;

use crate::callee::CalleeGuest;
use crate::channel::Channel;
use crate::deadline::Deadline;
use crate::ended::{Ended, finished, stopped};
use crate::exports::Exports;
use crate::fuel;
use crate::host::Host;
use crate::image::{Image, Snapshot};
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
    /// A fault of ours; the instances must be dropped.
    pub(crate) fn run(&mut self, job: &Job, callee: Option<Guest>) -> Result<(Outcome, Option<Guest>), Fault> {
        self.prepare(job, &job.files, job.seed, request::encode(job), request::expected_calls(job))?;
        let (Some(program), Some(guest)) = (&job.callee, callee) else {
            let ended = self.enter(&job.limits)?;
            return Ok((self.outcome(&job.limits, ended)?, None));
        };
        let callee = CalleeGuest::start(guest, job, program)?;
        let alive = callee.is_alive();
        self.store.data_mut().callee = Some(Box::new(callee));
        let ended = if alive { self.enter(&job.limits)? } else { Ended::by(&Stop::Callee) };
        let callee = self.store.data_mut().callee.take().ok_or("the callee is gone")?;
        let (guest, callee) = callee.end()?;
        let outcome = self.outcome(&job.limits, ended)?;
        Ok((Outcome { callee: Some(Box::new(callee)), ..outcome }, Some(guest)))
    }

    /// Runs the module level of a callee's program and leaves it ready to [serve](Self::serve).
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn load_callee(&mut self, job: &Job, callee: &Callee) -> Result<Ended, Fault> {
        self.prepare(job, &callee.files_in(job), callee.seed, request::encode_callee(job, callee), 0)?;
        self.enter(&job.limits)
    }

    /// Runs the module level of `job`'s program, and ends as what it has become: how that went, and the state.
    ///
    /// # Errors
    /// A fault of ours.
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
    /// A fault of ours.
    pub(crate) fn serve(&mut self, limits: &Limits, request: Vec<u8>) -> Result<Ended, Fault> {
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
    /// A fault of ours.
    pub(crate) fn outcome(&mut self, limits: &Limits, ended: Ended) -> Result<Outcome, Fault> {
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
