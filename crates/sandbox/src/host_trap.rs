//! The error by which a host function ends a job. It travels up through wasm as a trap.
//!
//! The shim, the channel and the memory limiter raise it, and [`crate::guest`] turns it into an `Exit`. A guest cannot catch it, because
//! wasm exception handlers do not see host errors.

use veriplay_core::LimitKind;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostTrap {
    #[error("the program ended its process with code {0}")]
    ProcExit(i32),
    #[error("the program asked for {used} of {limit:?}, and {allowed} are allowed")]
    Exceeded { limit: LimitKind, allowed: u64, used: u64 },
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
