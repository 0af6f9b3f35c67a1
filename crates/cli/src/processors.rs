//! How many processors this process may use.

use std::num::NonZeroUsize;

/// The processors of the control group and the affinity mask; 1 where they are unknown.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The given number of threads, else one for each processor.
pub(crate) fn threads_or_processors(threads: Option<NonZeroUsize>) -> usize {
    threads.map_or_else(processors, usize::from)
}
