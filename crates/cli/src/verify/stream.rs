//! Runs work on many threads and returns the results in order.
//!
//! Invariants: at most `window` pieces are under way or wait for an earlier one, which bounds memory; a worker's panic
//! is passed on; after an error of the work what came before it is finished, and after one of the results no new piece starts.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

/// The index of a piece, and its result or the worker's panic.
type Finished<V> = (usize, std::thread::Result<V>);

/// Runs `judge` over `work` on `workers` threads and `done` over its results on this one, in the order of `work`.
///
/// # Errors
/// The first error of `done`, after which pieces that have started are finished and dropped; else that of `work`, once the results of all pieces
/// before it are done.
pub(crate) fn run_in_order<W: Send, V: Send, E>(
    work: impl Iterator<Item = Result<W, E>>,
    workers: usize,
    window: usize,
    judge: impl Fn(W) -> V + Sync,
    done: impl FnMut(V) -> Result<(), E>,
) -> Result<(), E> {
    let stop = AtomicBool::new(false);
    let (give, taken) = mpsc::sync_channel(window.max(1));
    let (finish, finished) = mpsc::channel();
    let taken = Mutex::new(taken);
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            let (finish, taken, stop, judge) = (finish.clone(), &taken, &stop, &judge);
            scope.spawn(move || run_worker(taken, stop, judge, finish));
        }
        let mut order = OrderedResults { next: 0, early: BTreeMap::new(), finished, done };
        let fed = feed(work, window.max(1), give, &mut order);
        stop.store(fed.is_err(), Ordering::Relaxed);
        fed
    })
}

fn run_worker<W, V>(
    taken: &Mutex<mpsc::Receiver<(usize, W)>>,
    stop: &AtomicBool,
    judge: &(impl Fn(W) -> V + Sync),
    finish: mpsc::Sender<Finished<V>>,
) {
    loop {
        // A receiver is consistent between any two statements, so it stays usable after another thread's panic.
        let next = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, work)) = next else { return };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| judge(work)));
        if finish.send((index, result)).is_err() {
            return;
        }
    }
}

/// Distributes `work`, at most `window` pieces ahead of the first unfinished one.
fn feed<W, V, E, D: FnMut(V) -> Result<(), E>>(
    work: impl Iterator<Item = Result<W, E>>,
    window: usize,
    give: mpsc::SyncSender<(usize, W)>,
    order: &mut OrderedResults<V, D>,
) -> Result<(), E> {
    let (mut given, mut read) = (0, Ok(()));
    for piece in work {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                read = Err(error);
                break;
            }
        };
        order.take_ready()?;
        order.wait_until(given + 1 - window.min(given + 1))?;
        give.send((given, piece)).expect("the receiver outlives the scope");
        given += 1;
    }
    drop(give);
    order.wait_until(given)?;
    read
}

/// Results in the order of their pieces.
struct OrderedResults<V, D> {
    /// Index of the first unfinished piece.
    next: usize,
    /// Results that came before their turn.
    early: BTreeMap<usize, V>,
    finished: mpsc::Receiver<Finished<V>>,
    done: D,
}

impl<V, D> OrderedResults<V, D> {
    /// Waits until `count` pieces are done.
    fn wait_until<E>(&mut self, count: usize) -> Result<(), E>
    where
        D: FnMut(V) -> Result<(), E>,
    {
        while self.next < count {
            let finished = self.finished.recv().expect("a piece that was given out comes back");
            self.take(finished)?;
        }
        Ok(())
    }

    /// Takes finished results without waiting.
    fn take_ready<E>(&mut self) -> Result<(), E>
    where
        D: FnMut(V) -> Result<(), E>,
    {
        while let Ok(finished) = self.finished.try_recv() {
            self.take(finished)?;
        }
        Ok(())
    }

    fn take<E>(&mut self, (index, result): Finished<V>) -> Result<(), E>
    where
        D: FnMut(V) -> Result<(), E>,
    {
        let result = result.unwrap_or_else(|panic| resume_unwind(panic));
        self.early.insert(index, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            (self.done)(result)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;
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
        // Every tenth piece holds back what is behind it, until a piece is pulled that the window has no room for.
        let (pulled, changed, done) = (Mutex::new(0), Condvar::new(), Cell::new(0));
        let judge = |n: usize| {
            let mut seen = pulled.lock().expect("nobody panics");
            while n.is_multiple_of(10) && *seen < n + WINDOW {
                seen = changed.wait(seen).expect("nobody panics");
            }
        };
        let work = numbers(96).inspect(|n| {
            let n = n.as_ref().expect("numbers do not fail");
            assert!(n - done.get() <= WINDOW, "piece {n} is pulled when {} are done", done.get());
            *pulled.lock().expect("nobody panics") = *n;
            changed.notify_all();
        });
        let count = |()| {
            done.set(done.get() + 1);
            Ok(())
        };
        assert_eq!(run_in_order(work, 3, WINDOW, judge, count), Ok(()));
        assert_eq!(done.get(), 96);
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
}
