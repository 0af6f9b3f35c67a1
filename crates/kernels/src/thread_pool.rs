//! Threads: those that share the products and the attention of one call, where one thread alone would be slow (a large model with few
//! rows), and those that run whole items side by side.
//!
//! Called by sampling and by the products inside it, and where weights are packed. Where there are rows enough for every thread, each
//! thread samples its own instead, with [`ThreadPool::single`].

use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

/// The calling thread, or several threads that wait for work. A clone shares the threads.
#[derive(Debug, Clone, Default)]
pub struct ThreadPool(Option<Arc<rayon::ThreadPool>>);

/// The system started no threads.
#[derive(Debug, thiserror::Error)]
#[error("a pool of {threads} threads could not be started: {cause}")]
pub struct ThreadPoolError {
    threads: usize,
    /// Shown by the message, so it is no `source()`.
    cause: rayon::ThreadPoolBuildError,
}

/// Multiplications that one more thread is woken for. Of one thread they are some 10 µs of arithmetic (at the 95 G/s a core reached), and
/// 100 µs where each weight comes from memory for one row (at 40 GB/s). Chosen, not tuned.
const MULTIPLICATIONS_PER_THREAD: usize = 1 << 20;

impl ThreadPool {
    /// Only the calling thread.
    pub const fn single() -> Self {
        Self(None)
    }

    /// Starts `threads` threads, which live as long as the pool, unless the system refuses.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("pool-{i}")).build();
        pool.map(|pool| Self(Some(Arc::new(pool)))).map_err(|cause| ThreadPoolError { threads, cause })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// How many threads are worth waking for this many multiplications, or for work that takes as long.
    pub fn threads_worth_waking(&self, multiplications: usize) -> usize {
        (multiplications / MULTIPLICATIONS_PER_THREAD).clamp(1, self.threads())
    }

    /// Runs all of `work` on one of the threads: calls of [`ThreadPool::for_each`] inside need not wait for this one to be woken.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Applies `work` to every item; the results are in the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        match self.threads() {
            1 => items.iter().map(work).collect(),
            _ => self.enter(|| items.par_iter().with_max_len(1).map(work).collect()),
        }
    }

    /// Runs `work` on every item, side by side.
    pub fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
        match items {
            [only] => work(only),
            _ if self.threads() == 1 => items.iter_mut().for_each(work),
            _ => self.enter(|| items.par_iter_mut().with_max_len(1).for_each(work)),
        }
    }
}

/// Runs `work` on every item, one new thread each, and returns the results in the order of the items. The first item runs on the calling
/// thread, whose allocator still holds the pages of the last call.
pub fn run_on_threads<T: Send, R: Send>(mut items: impl Iterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let first = items.next();
        let others: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        let first = first.map(work);
        let join =
            |h: std::thread::ScopedJoinHandle<'_, R>| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        first.into_iter().chain(others.into_iter().map(join)).collect()
    })
}
