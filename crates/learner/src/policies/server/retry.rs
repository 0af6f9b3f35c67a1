//! Asking again: what is worth it, how often, and after what wait.

use std::time::Duration;

use super::ServerOptions;
use super::error::ServerError;

/// The patience left with one prompt.
pub(super) struct Patience<'a, F> {
    options: &'a ServerOptions,
    /// A number in (0, 1) for an attempt: spreads those who failed together.
    spread: F,
    failed: usize,
}

impl<'a, F: Fn(u64) -> f64> Patience<'a, F> {
    pub(super) const fn new(options: &'a ServerOptions, spread: F) -> Self {
        Self { options, spread, failed: 0 }
    }

    /// Something has come: the server works.
    pub(super) const fn renew(&mut self) {
        self.failed = 0;
    }

    /// Waits until it is time to ask again, or gives up.
    pub(super) fn bear(&mut self, index: usize, fault: ServerError) -> Result<(), ServerError> {
        self.failed += 1;
        let give_up = |source| Err(ServerError::Prompt { index, attempts: self.failed, source: Box::new(source) });
        if !fault.is_passing() || self.failed >= self.options.attempts {
            return give_up(fault);
        }
        let wait = match fault {
            ServerError::Status { status, retry_after: Some(wait), .. } if wait > self.options.longest_wait => {
                return give_up(ServerError::Wait { status, wait, longest: self.options.longest_wait });
            }
            ServerError::Status { retry_after: Some(wait), .. } => wait,
            _ => self.backoff(),
        };
        tracing::warn!(prompt = index, attempt = self.failed, wait = ?wait, %fault, "asking the server again");
        std::thread::sleep(wait);
        Ok(())
    }

    /// Exponential, between half of the full wait and all of it.
    fn backoff(&self) -> Duration {
        let doublings = (self.failed - 1).min(16) as u32;
        let full = self.options.backoff.saturating_mul(1 << doublings).min(self.options.longest_wait);
        full.mul_f64(f64::midpoint(1.0, (self.spread)(self.failed as u64)))
    }
}
