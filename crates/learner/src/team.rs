//! Threads that share the steps of one call, where one thread alone would be slow: a large model with few rows.
//!
//! Called by sampling and by the products inside it, and where weights are packed. Where there are rows enough for every thread, each
//! samples its own instead, and its team is [`Team::alone`].

use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// One thread, or several that wait for work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Team(Option<Arc<ThreadPool>>);

/// Multiplications that one more thread is woken for. Of one thread they are some 10 µs of arithmetic (at the 95 G/s a core reached), and
/// 100 µs where each weight comes from memory for one row (at 40 GB/s). Chosen, not tuned.
const WORTH: usize = 1 << 20;

impl Team {
    /// The calling thread.
    pub(crate) const fn alone() -> Self {
        Self(None)
    }

    /// Of `threads` threads, which live as long as the team.
    pub(crate) fn new(threads: usize) -> candle_core::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("team-{i}")).build();
        let refused = |e| {
            candle_core::Error::Msg(format!(
                "a team of {threads} threads (`shards`) could not be started: {e}; lower `shards` or raise the limit on threads"
            ))
        };
        pool.map(|pool| Self(Some(Arc::new(pool)))).map_err(refused)
    }

    /// Its threads.
    pub(crate) fn threads(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// How many of its threads are worth waking for so many multiplications, or what takes as long.
    pub(crate) fn share(&self, multiplications: usize) -> usize {
        (multiplications / WORTH).clamp(1, self.threads())
    }

    /// Runs all of `work` as one of its threads: calls of [`Team::each`] inside need not wait for this one to be woken.
    pub(crate) fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// What `work` makes of every item, in their order.
    pub(crate) fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        match self.threads() {
            1 => items.iter().map(work).collect(),
            _ => self.enter(|| items.par_iter().with_max_len(1).map(work).collect()),
        }
    }

    /// Runs `work` on every item, side by side.
    pub(crate) fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
        match items {
            [only] => work(only),
            _ if self.threads() == 1 => items.iter_mut().for_each(work),
            _ => self.enter(|| items.par_iter_mut().with_max_len(1).for_each(work)),
        }
    }
}
