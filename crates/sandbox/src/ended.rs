//! How a turn of the harness ended: by itself, by a trap, or by the host.

use veriplay_core::{CallResult, Exit, GuestError, LimitKind, Limits};
use wasmtime::Trap;

use crate::channel::Channel;
use crate::guest::Fault;
use crate::stop::Stop;

/// How one turn of the harness ended.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) error: Option<GuestError>,
    /// The calls of this turn that ended.
    pub(crate) calls: Vec<CallResult>,
}

impl Ended {
    pub(crate) fn by(stop: &Stop) -> Self {
        let (exit, error) = stop_exit(stop);
        Self { exit, error, calls: Vec::new() }
    }
}

/// How a job ended whose `turn` came back with `status`.
pub(crate) fn finished(status: i32, channel: &Channel) -> (Exit, Option<GuestError>) {
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
pub(crate) fn stopped(
    error: &wasmtime::Error,
    limits: &Limits,
    elapsed_ns: u64,
) -> Result<(Exit, Option<GuestError>), Fault> {
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
