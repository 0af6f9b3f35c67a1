//! The deadline backstop. The host reads the clock whenever a guest asks it for more [fuel](crate::fuel).
//!
//! Fuel ends programs. The deadline only ends work that fuel underestimates, and jobs with more fuel than time. It costs a guest nothing
//! while it computes; epochs would add a second check to every loop and function (measured: 13 % of a CPU-bound job).

use std::time::{Duration, Instant};

use wasmtime::Trap;

/// The time at which a turn ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    started: Option<Instant>,
    limit: Duration,
}

impl Deadline {
    /// No deadline.
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
