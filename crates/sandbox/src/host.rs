//! The host's side of a job: what its functions work on, and the functions that the guest calls.
//!
//! A [`Host`] is made anew for every job.

use veriplay_core::LimitKind;
use wasmtime::{Caller, Linker, Memory, TypedFunc};

use crate::callee::CalleeGuest;
use crate::channel::{Answer, Channel};
use crate::deadline::Deadline;
use crate::fuel::{self, Tank};
use crate::stop::Stop;
use crate::wasi::{Wasi, imports};

/// Fuel for a byte of a frame to the host, which copies, decodes and compares what it says.
const FRAME_BYTE: u64 = 16;

/// What host functions work on: everything one job has.
pub(crate) struct Host {
    pub(crate) wasi: Wasi,
    pub(crate) channel: Channel,
    /// When the wall clock ends the job.
    pub(crate) deadline: Deadline,
    /// What the guest may still use.
    pub(crate) fuel: Tank,
    /// The other side of the job, where it has one.
    pub(crate) callee: Option<Box<CalleeGuest>>,
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
            callee: None,
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
    // What is refused below is not read.
    let read_bytes = frame_bytes.min(caller.data().channel.max_frame());
    imports::charge(&mut caller, read_bytes.saturating_mul(FRAME_BYTE))?;
    let (bytes, host) = memory.data_and_store_mut(&mut caller);
    let start = ptr.cast_unsigned() as usize;
    let Some(frame) = bytes.get(start..start.saturating_add(len.cast_unsigned() as usize)) else {
        return Ok(REFUSED);
    };
    if frame_bytes > host.channel.max_frame() {
        return Err(wasmtime::Error::new(host.channel.refuse(frame_bytes)));
    }
    let reply = match host.channel.receive(frame).map_err(wasmtime::Error::new)? {
        Answer::Bytes(reply) => reply,
        Answer::Callee(request) => ask_callee(host, request)?,
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

/// Enters the job's callee, on this thread, and comes back with the frame it answers.
fn ask_callee(host: &mut Host, request: Vec<u8>) -> wasmtime::Result<Vec<u8>> {
    let caps = host.channel.caps();
    let callee = host.callee.as_mut().ok_or(Stop::Protocol("a request to a callee, and the job has none"));
    let answer = callee.map_err(wasmtime::Error::new)?.ask(request, caps).map_err(wasmtime::Error::msg)?;
    answer.ok_or(wasmtime::Error::new(Stop::Callee))
}
