//! One call of a guest under its limits of fuel and time, and how that ended.

use veriplay_core::{Exit, GuestError, LimitKind, Limits};
use wasmtime::Trap;

use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::watchdog::{self, Deadline, EndReason, Watch};

/// A fault of the engine or the host, in words.
pub(crate) type HostFault = String;

/// A call that is under way, and ends at its deadline or when its job is cancelled.
pub(crate) struct WatchedCall {
    watch: Watch,
    deadline: Deadline,
    fuel: u64,
}

pub(crate) struct EndedCall<T> {
    pub(crate) result: wasmtime::Result<T>,
    pub(crate) ns: u64,
    pub(crate) fuel: u64,
}

impl WatchedCall {
    /// Begins to watch the guest of `host`, which has its fuel already.
    ///
    /// # Safety
    /// The store of `host` outlives this.
    pub(crate) unsafe fn start(host: &Host, limits: &Limits) -> Result<Self, HostFault> {
        let fuel = remaining_fuel(host)?;
        let gauge = *host.fuel.gauge().map_err(|error| error.to_string())?;
        let deadline = Deadline::after(limits.deadline_ns);
        // SAFETY: as the caller promises.
        let watch = unsafe { watchdog::watch(gauge, deadline, host.cancellation.clone()) }?;
        Ok(Self { watch, deadline, fuel })
    }

    /// Ends the watch over a call that has ended with `result`.
    pub(crate) fn end<T>(self, host: &Host, result: wasmtime::Result<T>) -> Result<EndedCall<T>, HostFault> {
        let reason = self.watch.end();
        let ns = self.deadline.elapsed_ns();
        host.fuel.end_interruption();
        // The last thing that it does may be charged without a look at what is left.
        let result =
            result.and_then(|value| if host.fuel.is_used_up() { Err(Trap::OutOfFuel.into()) } else { Ok(value) });
        let result = result.map_err(|error| name_trap(error, reason, host));
        let fuel = self.fuel.saturating_sub(remaining_fuel(host)?);
        Ok(EndedCall { result, ns, fuel })
    }
}

fn remaining_fuel(host: &Host) -> Result<u64, HostFault> {
    host.fuel.remaining().map_err(|error| error.to_string())
}

/// Where no fuel is left, or the watchdog interrupts it, the guest ends by the trap of an unreachable instruction, see [`crate::meter`].
fn name_trap(error: wasmtime::Error, reason: Option<EndReason>, host: &Host) -> wasmtime::Error {
    let by_fuel = matches!(error.downcast_ref(), Some(Trap::UnreachableCodeReached | Trap::OutOfFuel));
    match reason {
        _ if !by_fuel => error,
        _ if host.fuel.is_used_up() => Trap::OutOfFuel.into(),
        Some(EndReason::Deadline) => Trap::Interrupt.into(),
        // No traps: such a job has no outcome. A worker ends when it cannot tell its parent so.
        Some(EndReason::Cancelled) => wasmtime::Error::msg("the job was cancelled"),
        Some(EndReason::Orphaned) => wasmtime::Error::msg("the process that asked for the job has died"),
        None => error,
    }
}

pub(crate) fn trap_exit(kind: &str, message: String) -> (Exit, Option<GuestError>) {
    (Exit::Trapped, Some(GuestError { kind: kind.to_owned(), message }))
}

/// The exit of a job that a trap or the host ended.
pub(crate) fn exit_of_error(
    error: &wasmtime::Error,
    limits: &Limits,
    elapsed_ns: u64,
) -> Result<(Exit, Option<GuestError>), HostFault> {
    if let Some(stop) = error.downcast_ref::<HostTrap>() {
        return Ok(exit_of_trap(stop));
    }
    let exceeded = |limit, allowed, used| Ok((Exit::Exceeded { limit, allowed, used }, None));
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => exceeded(LimitKind::Fuel, limits.fuel, limits.fuel),
        Some(Trap::Interrupt) => exceeded(LimitKind::DeadlineNs, limits.deadline_ns, elapsed_ns),
        Some(Trap::StackOverflow) => Ok(trap_exit("stack_overflow", "the wasm stack is used up".to_owned())),
        Some(trap) => Ok(trap_exit("trap", trap.to_string())),
        None if error.is::<wasmtime::ThrownException>() => {
            Ok(trap_exit("uncaught_exception", "a native exception left the interpreter".to_owned()))
        }
        None => Err(format!("{error:#}")),
    }
}

pub(crate) fn exit_of_trap(stop: &HostTrap) -> (Exit, Option<GuestError>) {
    match stop {
        HostTrap::ProcExit(_) => trap_exit("proc_exit", stop.to_string()),
        HostTrap::Protocol(_) => trap_exit("protocol", stop.to_string()),
        HostTrap::Callee => trap_exit("callee", stop.to_string()),
        HostTrap::Interaction(_) => trap_exit("interaction", stop.to_string()),
        HostTrap::Exceeded { limit, allowed, used } => {
            (Exit::Exceeded { limit: *limit, allowed: *allowed, used: *used }, None)
        }
    }
}
