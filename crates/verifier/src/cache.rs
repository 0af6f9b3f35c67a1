//! An executor that caches outcomes: equal jobs have equal outcomes.
//!
//! Eviction is by two generations per shard. Which outcomes are kept depends only on the order of the jobs, unlike in caches with randomly
//! seeded hashes, and some thirty lines need no dependency.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use veriplay_core::{Digest, Execute, ExecuteError, Job, Outcome};

use crate::runner::met_deadline;

const SHARDS: usize = 16;

/// Wraps an executor with a bounded cache of outcomes, by job digest. Two threads that ask for one job at once may both run it, and get the
/// same outcome. Outcomes that met the wall-clock deadline and host faults are not cached.
#[derive(Debug)]
pub struct OutcomeCache<E> {
    inner: E,
    shards: [Mutex<CacheShard>; SHARDS],
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Two generations: a full young generation becomes the old one, which is dropped.
#[derive(Debug, Default)]
struct CacheShard {
    young: HashMap<Digest, Arc<Outcome>>,
    old: HashMap<Digest, Arc<Outcome>>,
    half: usize,
}

impl<E> OutcomeCache<E> {
    /// Caches at most about `capacity` outcomes of `inner`; 0 disables the cache.
    pub fn new(inner: E, capacity: usize) -> Self {
        let half = capacity.div_ceil(2 * SHARDS);
        let shards = std::array::from_fn(|_| Mutex::new(CacheShard { half, ..CacheShard::default() }));
        Self { inner, shards, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
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

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, CacheShard> {
        let first = digest.as_str().bytes().next().unwrap_or(b'0');
        let shard = &self.shards[usize::from(first) % SHARDS];
        // A shard is consistent between any two statements, so a panic of another thread does not corrupt it.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Execute> Execute for OutcomeCache<E> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let digest = job.digest();
        let known = self.shard(&digest).get(&digest);
        if let Some(outcome) = known {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(outcome.as_ref().clone());
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let outcome = self.inner.execute(job)?;
        if met_deadline(&outcome) {
            return Ok(outcome);
        }
        let kept = self.shard(&digest).insert(digest, Arc::new(outcome));
        Ok(kept.as_ref().clone())
    }
}

impl CacheShard {
    fn get(&mut self, digest: &Digest) -> Option<Arc<Outcome>> {
        if let Some(outcome) = self.young.get(digest) {
            return Some(outcome.clone());
        }
        let (digest, outcome) = self.old.remove_entry(digest)?;
        Some(self.insert(digest, outcome))
    }

    /// Keeps the first outcome of a job and returns it.
    fn insert(&mut self, digest: Digest, outcome: Arc<Outcome>) -> Arc<Outcome> {
        if self.half == 0 {
            return outcome;
        }
        if let Some(kept) = self.young.get(&digest).or_else(|| self.old.get(&digest)) {
            return kept.clone();
        }
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, outcome.clone());
        outcome
    }
}
