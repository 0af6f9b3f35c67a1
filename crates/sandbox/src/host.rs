//! The host's side of a job: what the functions of [`crate::imports`] work on. A [`Host`] is made anew for every job.

use veriplay_core::{EncodeCaps, LimitKind};
use wasmtime::{Memory, TypedFunc};

use crate::channel::Channel;
use crate::deadline::Deadline;
use crate::fuel::Tank;
use crate::stop::Stop;
use crate::wasi::Wasi;

/// Hands a job's callee an encoded request: the frame that goes to the other side, `None` when the callee ended over it, or a host fault.
pub(crate) type AskCallee = Box<dyn FnMut(Vec<u8>, EncodeCaps) -> Result<Option<Vec<u8>>, String> + Send>;

/// What host functions work on: everything one job has.
pub(crate) struct Host {
    pub(crate) wasi: Wasi,
    pub(crate) channel: Channel,
    /// When the wall clock ends the job.
    pub(crate) deadline: Deadline,
    /// What the guest may still use.
    pub(crate) fuel: Tank,
    /// The other side of the job, where it has one.
    pub(crate) ask_callee: Option<AskCallee>,
    pub(crate) memory: Option<Memory>,
    pub(crate) alloc: Option<TypedFunc<i32, i32>>,
    /// Bytes linear memory may have; a request for more ends the job.
    pub(crate) memory_limit: u64,
    /// Whether anything grew since the last reset.
    pub(crate) grew: bool,
}

impl Host {
    pub(crate) fn new(wasi: Wasi, channel: Channel, memory_limit: u64) -> Self {
        Self {
            wasi,
            channel,
            deadline: Deadline::NEVER,
            fuel: Tank::default(),
            ask_callee: None,
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

impl AsMut<Tank> for Host {
    fn as_mut(&mut self) -> &mut Tank {
        &mut self.fuel
    }
}

impl wasmtime::ResourceLimiter for Host {
    /// A request beyond the limit ends the job: the same on every machine, whatever memory that has.
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grew = true;
        let (current, desired) = (current as u64, desired as u64);
        // More than wasm can address is the program's doing too, whatever the limit.
        if desired > self.memory_limit.min(1 << 32) {
            let stop = Stop::exceeded(LimitKind::MemoryBytes, self.memory_limit, desired);
            return Err(wasmtime::Error::new(stop));
        }
        // The kernel clears each page when it is first touched, as `memory.fill` does, which pays a unit a byte.
        self.fuel.owe(desired.saturating_sub(current));
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
