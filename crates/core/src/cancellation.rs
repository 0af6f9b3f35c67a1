//! Cancelling jobs whose outcome nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels the jobs that it was given with. Clones share it, and once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken {
    cancelled: Arc<AtomicBool>,
    /// The token that cancels this one, too.
    above: Option<Arc<CancellationToken>>,
}

impl CancellationToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and may be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { cancelled: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Cancels the jobs. They end soon after.
    pub fn cancel(&self) {
        // No other memory is read by it: a job that sees it later ends later.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the jobs are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.above.as_ref().is_some_and(|above| above.is_cancelled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_cancelled_alone_or_with_the_token_that_it_is_of() {
        let all = CancellationToken::new();
        let (ended, open) = (all.child(), all.child());
        ended.cancel();
        assert!(ended.is_cancelled() && ended.child().is_cancelled());
        assert!(!open.is_cancelled() && !all.is_cancelled());
        all.cancel();
        assert!(open.is_cancelled() && open.child().is_cancelled());
    }
}
