//! The host's state for one guest, which the functions of [`crate::imports`] work on.

use std::sync::Arc;

use veriplay_core::{CancellationToken, EncodeCaps, LimitKind};
use wasmtime::{Memory, TypedFunc};

use crate::channel::Channel;
use crate::fuel::FuelTank;
use crate::host_trap::HostTrap;
use crate::quickjs::{Promises, QuickJs};
use crate::wasi::Wasi;

/// Sends an encoded request to a job's callee. It returns the frame for the other side, `None` when the callee ended during it, or a host
/// fault.
pub(crate) type AskCallee = Box<dyn FnMut(Vec<u8>, EncodeCaps) -> Result<Option<Vec<u8>>, String> + Send>;

/// The data of a guest's store: everything a job has on the host.
pub(crate) struct Host {
    pub(crate) wasi: Wasi,
    pub(crate) channel: Channel,
    pub(crate) cancellation: CancellationToken,
    pub(crate) fuel: FuelTank,
    pub(crate) ask_callee: Option<AskCallee>,
    pub(crate) memory: Option<Memory>,
    pub(crate) alloc: Option<TypedFunc<i32, i32>>,
    /// The interpreter of a JavaScript guest.
    pub(crate) quickjs: Option<Arc<QuickJs>>,
    pub(crate) promises: Promises,
    /// The most bytes of linear memory; a request for more ends the job.
    pub(crate) memory_limit: u64,
    /// Whether anything grew since the last reset.
    pub(crate) grew: bool,
    /// Whether the guest has made a system call since this was last cleared.
    pub(crate) called_system: bool,
}

impl Host {
    pub(crate) fn new(wasi: Wasi, channel: Channel, memory_limit: u64) -> Self {
        Self {
            wasi,
            channel,
            cancellation: CancellationToken::new(),
            fuel: FuelTank::default(),
            ask_callee: None,
            memory: None,
            alloc: None,
            quickjs: None,
            promises: Promises::default(),
            memory_limit,
            grew: false,
            called_system: false,
        }
    }

    /// The guest's linear memory. Fails when the guest calls the host before it is instantiated, as a start function would.
    pub(crate) fn memory(&self) -> wasmtime::Result<Memory> {
        self.memory.ok_or_else(|| wasmtime::Error::msg("the module calls its host while it is being instantiated"))
    }
}

impl wasmtime::ResourceLimiter for Host {
    /// A request beyond the limit ends the job: the same on every machine, whatever memory that has.
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grew = true;
        let (current, desired) = (current as u64, desired as u64);
        // A request for more than wasm can address is the program's fault too, whatever the limit.
        if desired > self.memory_limit.min(1 << 32) {
            let stop = HostTrap::exceeded(LimitKind::MemoryBytes, self.memory_limit, desired);
            return Err(wasmtime::Error::new(stop));
        }
        // The kernel clears each page when it is first touched, as `memory.fill` does, which costs a unit per byte.
        self.fuel.take_off(desired.saturating_sub(current));
        Ok(true)
    }

    /// The host has no memory left. That is a fault of the host, not of the program.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error.context("the host could not provide guest memory"))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grew = true;
        Ok(desired <= 1 << 20)
    }
}
