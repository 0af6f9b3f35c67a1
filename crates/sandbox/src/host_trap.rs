//! The error by which a host function ends a job. It travels up through wasm as a trap.
//!
//! The shim, the channel and the memory limiter raise it, and [`crate::guest`] turns it into an `Exit`. A guest cannot catch it, because
//! wasm exception handlers do not see host errors.

use veriplay_core::LimitKind;

/// Why the host ended the job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostTrap {
    /// The guest called `proc_exit`.
    #[error("the program ended its process with code {0}")]
    ProcExit(i32),
    /// The guest asked for more than a limit allows.
    #[error("the program asked for {used} of {limit:?}, and {allowed} are allowed")]
    Exceeded {
        /// Which limit.
        limit: LimitKind,
        /// Its value.
        allowed: u64,
        /// The requested amount.
        used: u64,
    },
    /// The guest broke the protocol of the value channel.
    #[error("{0}")]
    Protocol(&'static str),
    /// The job's callee ended; its own outcome says how.
    #[error("the program under test ended, so the job cannot go on")]
    Callee,
    /// The other side of an interaction failed, or waits for this one, which waits for it.
    #[error("{0}")]
    Interaction(&'static str),
}

impl HostTrap {
    /// The status of a `proc_exit`.
    pub(crate) const fn exit_code(&self) -> Option<i32> {
        match self {
            HostTrap::ProcExit(code) => Some(*code),
            _ => None,
        }
    }

    pub(crate) const fn exceeded(limit: LimitKind, allowed: u64, used: u64) -> Self {
        HostTrap::Exceeded { limit, allowed, used }
    }
}
