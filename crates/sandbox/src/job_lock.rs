//! The lock that jobs share, and that a job which must run alone has for itself. A job that is cancelled stops waiting for it: the locks of the
//! standard library cannot.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use veriplay_core::CancellationToken;

/// How often a wait looks whether the job is cancelled.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Waits on `changed` while `condition` holds. `None`: the job was cancelled first.
pub(crate) fn wait_while<'a, T>(
    mut guard: MutexGuard<'a, T>,
    changed: &Condvar,
    cancellation: &CancellationToken,
    condition: impl Fn(&T) -> bool,
) -> Option<MutexGuard<'a, T>> {
    // In this order: who was woken takes what there is, so that no other waits for it.
    while condition(&guard) {
        if cancellation.is_cancelled() {
            return None;
        }
        guard = changed.wait_timeout(guard, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
    Some(guard)
}

/// The lock. It guards no data.
#[derive(Default)]
pub(crate) struct JobLock {
    holders: Mutex<Holders>,
    freed: Condvar,
}

#[derive(Default)]
struct Holders {
    shared: usize,
    alone: bool,
    /// Jobs that wait to run alone. None begins to share the lock before them.
    waiting: usize,
}

impl JobLock {
    /// Shares the lock with others; `None` if the job is cancelled first.
    pub(crate) fn share(&self, cancellation: &CancellationToken) -> Option<SharedGuard<'_>> {
        let taken = |holders: &Holders| holders.alone || holders.waiting > 0;
        wait_while(self.lock(), &self.freed, cancellation, taken)?.shared += 1;
        Some(SharedGuard(self))
    }

    /// Holds the lock alone; `None` if the job is cancelled first.
    pub(crate) fn hold_alone(&self, cancellation: &CancellationToken) -> Option<AloneGuard<'_>> {
        let mut holders = self.lock();
        holders.waiting += 1;
        let taken = |holders: &Holders| holders.alone || holders.shared > 0;
        let Some(mut holders) = wait_while(holders, &self.freed, cancellation, taken) else {
            self.lock().waiting -= 1;
            self.freed.notify_all();
            return None;
        };
        holders.waiting -= 1;
        holders.alone = true;
        Some(AloneGuard(self))
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        // No code under this lock can leave the counts inconsistent.
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct SharedGuard<'a>(&'a JobLock);

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        let mut holders = self.0.lock();
        holders.shared -= 1;
        // A wake-up is a system call, and nearly always nobody waits.
        if holders.shared == 0 && holders.waiting > 0 {
            self.0.freed.notify_all();
        }
    }
}

pub(crate) struct AloneGuard<'a>(&'a JobLock);

impl Drop for AloneGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().alone = false;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn cancelled() -> CancellationToken {
        let token = CancellationToken::new();
        token.cancel();
        token
    }

    #[test]
    fn a_cancelled_job_stops_waiting_and_leaves_the_lock_as_it_was() {
        let (lock, never) = (JobLock::default(), CancellationToken::new());
        let share = lock.share(&never).unwrap();
        assert!(lock.hold_alone(&cancelled()).is_none());
        // Nobody waits to be alone any more.
        drop((share, lock.share(&never).unwrap()));
        let alone = lock.hold_alone(&never).unwrap();
        assert!(lock.share(&cancelled()).is_none() && lock.hold_alone(&cancelled()).is_none());
        drop(alone);
        assert!(lock.hold_alone(&never).is_some());
    }

    #[test]
    fn what_is_free_is_taken_by_a_cancelled_job_too() {
        let lock = JobLock::default();
        assert!(lock.share(&cancelled()).is_some());
        assert!(lock.hold_alone(&cancelled()).is_some());
    }

    #[test]
    fn a_job_that_runs_alone_has_none_beside_it() {
        const ALONE: usize = 1000;
        let (lock, never, inside) = (JobLock::default(), CancellationToken::new(), AtomicUsize::new(0));
        let run_alone = || {
            let _guard = lock.hold_alone(&never).unwrap();
            assert_eq!(inside.fetch_add(ALONE, Ordering::SeqCst), 0);
            inside.fetch_sub(ALONE, Ordering::SeqCst);
        };
        let run_beside = || {
            let _guard = lock.share(&never).unwrap();
            assert!(inside.fetch_add(1, Ordering::SeqCst) < ALONE);
            inside.fetch_sub(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200).for_each(|_| run_alone()));
            scope.spawn(|| (0..200).for_each(|_| run_alone()));
            scope.spawn(|| (0..200).for_each(|_| run_beside()));
            scope.spawn(|| (0..200).for_each(|_| run_beside()));
        });
        assert_eq!(inside.into_inner(), 0);
    }
}
