//! Runs work on many threads and returns the results in order.
//!
//! Each worker takes the next piece itself and passes on what is finished itself: a thread between them would be woken for each piece, which takes
//! as long as a tenth of a short job.
//!
//! Invariants: at most `window` pieces are under way or wait for an earlier one, which bounds memory; a worker's panic is passed on; after an error
//! of the work what came before it is finished, and after one of the results no new piece starts.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Runs `judge` over `work` and `done` over its results, in the order of `work`, all on `workers` threads. One thread at a time is in `work`, and one in `done`.
///
/// # Errors
/// The first error of `done`, after which pieces that have started are finished and dropped; else that of `work`, once the results of all pieces
/// before it are done.
pub(crate) fn run_in_order<W, V: Send, E: Send>(
    work: impl Iterator<Item = Result<W, E>> + Send,
    workers: usize,
    window: usize,
    judge: impl Fn(W) -> V + Sync,
    done: impl FnMut(V) -> Result<(), E> + Send,
) -> Result<(), E> {
    let stream = Stream {
        work: Mutex::new(Work { pieces: work, taken: 0, end: None }),
        results: Mutex::new(Results {
            next: 0,
            early: BTreeMap::new(),
            done,
            waiting: false,
            stopped: false,
            failed: None,
        }),
        room: Condvar::new(),
        window: window.max(1),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(|| stream.run_worker(&judge))).collect();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let failed = into_inner(stream.results).failed;
    failed.map_or_else(|| into_inner(stream.work).end.unwrap_or(Ok(())), Err)
}

/// What the workers share. A worker that has both locks took that of `work` first.
struct Stream<I, V, D, E> {
    work: Mutex<Work<I, E>>,
    results: Mutex<Results<V, D, E>>,
    /// Notified when a piece is done, or no new one is to start.
    room: Condvar,
    window: usize,
}

struct Work<I, E> {
    pieces: I,
    taken: usize,
    /// Set when there are no more pieces.
    end: Option<Result<(), E>>,
}

/// Results in the order of their pieces.
struct Results<V, D, E> {
    /// Index of the first unfinished piece.
    next: usize,
    /// Results that came before their turn.
    early: BTreeMap<usize, V>,
    done: D,
    /// Whether a worker waits for room. It alone may take pieces, so there is one at most.
    waiting: bool,
    /// No new piece is to start, and no result to be passed on.
    stopped: bool,
    failed: Option<E>,
}

impl<W, V, E, I: Iterator<Item = Result<W, E>>, D: FnMut(V) -> Result<(), E>> Stream<I, V, D, E> {
    fn run_worker(&self, judge: impl Fn(W) -> V) {
        let run = || {
            while let Some((index, piece)) = self.take() {
                self.finish(index, judge(piece));
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            // Its piece never comes back: nobody may wait for it.
            lock(&self.results).stopped = true;
            self.room.notify_one();
            resume_unwind(panic);
        }
    }

    /// The next piece and its index, once the window has room for it.
    fn take(&self) -> Option<(usize, W)> {
        let mut work = lock(&self.work);
        if work.end.is_some() {
            return None;
        }
        let index = work.taken;
        let full = |results: &mut Results<V, D, E>| {
            results.waiting = !results.stopped && index - results.next >= self.window;
            results.waiting
        };
        let results = self.room.wait_while(lock(&self.results), full).unwrap_or_else(PoisonError::into_inner);
        if results.stopped {
            return None;
        }
        // Results are passed on while the next piece is read.
        drop(results);
        match work.pieces.next() {
            Some(Ok(piece)) => {
                work.taken += 1;
                Some((index, piece))
            }
            end => {
                work.end = Some(end.map_or(Ok(()), |failed| failed.map(drop)));
                None
            }
        }
    }

    /// Passes on the result of piece `index`, and those that waited for it.
    fn finish(&self, index: usize, result: V) {
        let mut results = lock(&self.results);
        results.early.insert(index, result);
        if let Err(error) = results.pass_on() {
            results.stopped = true;
            results.failed = Some(error);
        }
        // Without the question this would be a system call for each piece.
        let waiting = results.waiting;
        drop(results);
        if waiting {
            self.room.notify_one();
        }
    }
}

impl<V, E, D: FnMut(V) -> Result<(), E>> Results<V, D, E> {
    fn pass_on(&mut self) -> Result<(), E> {
        while !self.stopped
            && let Some(result) = self.early.remove(&self.next)
        {
            self.next += 1;
            (self.done)(result)?;
        }
        Ok(())
    }
}

/// A panic under a lock is passed on, and stops the workers: until then they may see what is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex};

    use super::run_in_order;

    fn numbers(count: usize) -> impl Iterator<Item = Result<usize, Infallible>> {
        (0..count).map(Ok)
    }

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for (workers, window) in [(1, 1), (2, 3), (4, 64), (8, 2)] {
            let mut seen = Vec::new();
            // Every third piece takes longer, so results finish out of order.
            let judge =
                |n: usize| (0..if n.is_multiple_of(3) { 20_000 } else { 1 }).fold(n, |n, _| std::hint::black_box(n));
            let push = |n| {
                seen.push(n);
                Ok::<_, Infallible>(())
            };
            assert_eq!(run_in_order(numbers(200), workers, window, judge, push), Ok(()));
            assert_eq!(seen, (0..200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_more_than_the_window_is_ahead_of_the_first_piece_that_is_not_done() {
        const WINDOW: usize = 5;
        // Every tenth piece holds back what is behind it, until the last piece is pulled that the window has room for.
        let (pulled, changed, done) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
        let judge = |n: usize| {
            let mut seen = pulled.lock().expect("nobody panics");
            while n.is_multiple_of(10) && *seen < n + WINDOW - 1 {
                seen = changed.wait(seen).expect("nobody panics");
            }
        };
        let work = numbers(96).inspect(|n| {
            let n = n.as_ref().expect("numbers do not fail");
            let done = done.load(Ordering::SeqCst);
            assert!(n - done < WINDOW, "piece {n} is pulled when {done} are done");
            *pulled.lock().expect("nobody panics") = *n;
            changed.notify_all();
        });
        let count = |()| {
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        assert_eq!(run_in_order(work, 3, WINDOW, judge, count), Ok(()));
        assert_eq!(done.into_inner(), 96);
    }

    #[test]
    fn an_error_of_the_work_ends_it_after_what_came_before_is_done() {
        let work = (0..10).map(|n| if n == 4 { Err("bad") } else { Ok(n) });
        let mut seen = Vec::new();
        let push = |n| {
            seen.push(n);
            Ok(())
        };
        assert_eq!(run_in_order(work, 2, 8, |n| n, push), Err("bad"));
        assert_eq!(seen, [0, 1, 2, 3]);
    }

    #[test]
    fn an_error_of_the_writer_ends_it() {
        let mut taken = 0;
        let done = |_| {
            taken += 1;
            if taken == 3 { Err("full") } else { Ok(()) }
        };
        assert_eq!(run_in_order((0..1000).map(Ok), 2, 4, |n: i32| n, done), Err("full"));
        assert_eq!(taken, 3);
    }

    #[test]
    fn a_panic_of_a_worker_is_passed_on() {
        let judge = |n: usize| if n == 7 { panic!("seven") } else { n };
        let run = || run_in_order(numbers(100), 3, 8, judge, |_| Ok(()));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"seven"));
    }
    #[test]
    fn a_panic_of_the_work_or_of_the_writer_is_passed_on() {
        let work = numbers(100).inspect(|n| assert_ne!(*n, Ok(7), "the work"));
        let run = || run_in_order(work, 3, 8, |n| n, |_| Ok(()));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panicked");
        let done = |n| {
            assert_ne!(n, 7, "the writer");
            Ok(())
        };
        let run = || run_in_order(numbers(100), 3, 8, |n| n, done);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panicked");
    }
}
