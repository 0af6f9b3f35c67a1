//! How many processors this process may use.

use std::num::NonZeroUsize;

use crate::progress::{self, counted};

/// The processors of the control group and the affinity mask; 1 where they are unknown.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The given number of threads, else one for each processor.
pub fn threads_or_processors(threads: Option<NonZeroUsize>) -> usize {
    threads.map_or_else(processors, usize::from)
}

/// The attempts that are judged at once where `asked` are to be: at most one for each processor. Judging only computes, so more of them gain
/// nothing, and each has an instance to start and to reset. The verdicts and their order do not depend on it.
pub fn attempts_at_once(asked: Option<NonZeroUsize>) -> usize {
    let (wanted, most) = (threads_or_processors(asked), processors());
    if wanted > most {
        progress::say(format!(
            "`--jobs {wanted}`: at most {} at once, one for each processor",
            counted(most, "attempt")
        ));
    }
    wanted.min(most)
}
