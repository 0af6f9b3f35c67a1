//! An executor that runs equal jobs once: equal jobs have equal outcomes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::{Cache, GuardResult};
use veriplay_core::{Digest, Execute, ExecuteError, Job, Outcome};

/// Wraps an executor with a bounded cache of outcomes, by job digest. A thread that asks for a job that another one runs waits for its
/// outcome. Outcomes that met the wall-clock deadline and host faults are not cached.
#[derive(Debug)]
pub struct OutcomeCache<E> {
    inner: E,
    outcomes: Cache<Digest, Arc<Outcome>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl<E> OutcomeCache<E> {
    /// Caches at most `capacity` outcomes of `inner`; 0 disables the cache.
    pub fn new(inner: E, capacity: usize) -> Self {
        Self { inner, outcomes: Cache::new(capacity), hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The number of cache hits.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The number of cache misses.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// The wrapped executor.
    pub const fn inner(&self) -> &E {
        &self.inner
    }
}

impl<E: Execute> Execute for OutcomeCache<E> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let place = match self.outcomes.get_value_or_guard(&job.digest(), None) {
            GuardResult::Value(outcome) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return Ok(outcome.as_ref().clone());
            }
            GuardResult::Guard(place) => Some(place),
            // It comes after a limit of time alone, and there is none.
            GuardResult::Timeout => None,
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let outcome = self.inner.execute(job)?;
        if !outcome.met_deadline()
            && let Some(place) = place
        {
            // It fails where the entry was evicted meanwhile, and then the outcome is not kept.
            place.insert(Arc::new(outcome.clone())).ok();
        }
        Ok(outcome)
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}
