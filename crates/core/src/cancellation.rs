//! Cancelling jobs whose outcome nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels the jobs that it was given with. Clones share it, and once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the jobs. They end soon after.
    pub fn cancel(&self) {
        // No other memory is read by it: a job that sees it later ends later.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the jobs are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
