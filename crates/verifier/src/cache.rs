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
    shards: [Mutex<Generations<Outcome>>; SHARDS],
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A bounded cache of two generations: a full young generation becomes the old one, which is dropped.
#[derive(Debug)]
pub(crate) struct Generations<V> {
    young: HashMap<Digest, Entry<V>>,
    old: HashMap<Digest, Entry<V>>,
    /// The most weight of a generation.
    most: usize,
    /// That of the young one.
    weight: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    weight: usize,
}

impl<E> OutcomeCache<E> {
    /// Caches at most about `capacity` outcomes of `inner`; 0 disables the cache.
    pub fn new(inner: E, capacity: usize) -> Self {
        let half = capacity.div_ceil(2 * SHARDS);
        let shards = std::array::from_fn(|_| Mutex::new(Generations::new(half)));
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

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, Generations<Outcome>> {
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
        let kept = self.shard(&digest).insert(digest, Arc::new(outcome), 1);
        Ok(kept.as_ref().clone())
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}

impl<V> Generations<V> {
    /// Keeps values of `most` weight at most in each generation.
    pub(crate) fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), most, weight: 0 }
    }

    pub(crate) fn get(&mut self, digest: &Digest) -> Option<Arc<V>> {
        if let Some(entry) = self.young.get(digest) {
            return Some(Arc::clone(&entry.value));
        }
        let (digest, Entry { value, weight }) = self.old.remove_entry(digest)?;
        Some(self.insert(digest, value, weight))
    }

    /// Keeps the first value of a digest, unless it is heavier than a generation, and returns it.
    pub(crate) fn insert(&mut self, digest: Digest, value: Arc<V>, weight: usize) -> Arc<V> {
        if weight > self.most {
            return value;
        }
        if let Some(kept) = self.young.get(&digest).or_else(|| self.old.get(&digest)) {
            return Arc::clone(&kept.value);
        }
        if self.weight + weight > self.most {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(digest, Entry { value: Arc::clone(&value), weight });
        value
    }
}
