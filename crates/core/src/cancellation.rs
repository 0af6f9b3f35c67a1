//! Cancelling jobs whose outcome nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Cancels the jobs that it was given with. Clones share it, and once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken {
    cancelled: Arc<AtomicBool>,
    /// When the jobs are cancelled by the clock.
    until: Option<Instant>,
}

impl CancellationToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and at `deadline` by itself.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        let until = Some(self.until.map_or(deadline, |own| own.min(deadline)));
        Self { cancelled: Arc::clone(&self.cancelled), until }
    }

    /// Cancels the jobs. They end soon after.
    pub fn cancel(&self) {
        // No other memory is read by it: a job that sees it later ends later.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the jobs are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_token_with_a_deadline_ends_alone_or_with_the_one_that_it_is_of() {
        let (all, now) = (CancellationToken::new(), Instant::now());
        let (over, open) = (all.until(now), all.until(now + Duration::from_secs(3600)));
        assert!(over.is_cancelled() && over.until(now + Duration::from_secs(3600)).is_cancelled());
        assert!(!open.is_cancelled() && !all.is_cancelled());
        all.cancel();
        assert!(open.is_cancelled() && all.is_cancelled());
    }
}
