//! The deadline backstop: a guest runs in slices of fuel, and between two of them the clock is read.
//!
//! Fuel ends programs. This only ends what fuel sees too little of, such as a loop of huge `memory.copy`, and what was given
//! more fuel than time. A slice ends in the check that fuel makes anyway, so a deadline costs a guest nothing while it
//! computes; epochs would add a second check to every loop and function (13 % of a CPU-bound job, measured).
//!
//! Wasmtime suspends a guest only inside an asynchronous call. Nothing here waits for anything: the thread that calls polls
//! until the guest has ended.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use wasmtime::Trap;

/// Fuel of a slice: some 50 µs of computing, beside which reading the clock is nothing. A program that does little but fill
/// large memory gets some thousand times slower by it, and is still seen every few hundred milliseconds.
pub(crate) const FUEL: u64 = 500_000;

/// When the clock ends a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    started: Option<Instant>,
    limit: Duration,
}

impl Deadline {
    /// No end.
    pub(crate) const NEVER: Self = Self { started: None, limit: Duration::MAX };

    /// `ns` nanoseconds from now.
    pub(crate) fn after(ns: u64) -> Self {
        Self { started: Some(Instant::now()), limit: Duration::from_nanos(ns) }
    }

    fn elapsed(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// Nanoseconds since the turn began.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// # Errors
    /// [`Trap::Interrupt`] when the deadline has passed.
    pub(crate) fn check(&self) -> wasmtime::Result<()> {
        if self.elapsed() > self.limit { Err(Trap::Interrupt.into()) } else { Ok(()) }
    }
}

/// Runs a call of the guest to its end, or to the deadline.
///
/// # Errors
/// The call's own, or [`Trap::Interrupt`] for the deadline; the instance must then be dropped.
pub(crate) fn drive<T>(call: impl Future<Output = wasmtime::Result<T>>, deadline: Deadline) -> wasmtime::Result<T> {
    let mut call = pin!(call);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(ended) = call.as_mut().poll(&mut context) {
            return ended;
        }
        deadline.check()?;
    }
}
