//! The deadline backstop: now and then a guest comes to the host for [fuel](crate::fuel), and there the clock is read.
//!
//! Fuel ends programs. This only ends what fuel sees too little of, and what was given more fuel than time. It costs a guest
//! nothing while it computes; epochs would add a second check to every loop and function (13 % of a CPU-bound job, measured).

use std::time::{Duration, Instant};

use wasmtime::Trap;

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
