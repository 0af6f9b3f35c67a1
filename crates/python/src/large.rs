//! The permit to have large trees and values in memory, which one thread at a time has.
//!
//! A tree of a program's text takes up to fifty times the memory of the text, and a returned value up to three times what it costs of the limit on
//! output. As many threads as there are workers would have as many of them at once, whatever one request may take. It is asked for where texts are
//! parsed and where the values of calls are decoded and compared; expected values, and those that a checker is given, are not covered. No thread
//! keeps it while a job of its own runs, so whoever waits for it waits for computations of the host alone, and never for a program.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a text or an encoding that make it large.
const LARGE: usize = 64 << 10;

static PERMIT: Mutex<()> = Mutex::new(());

thread_local! {
    static HELD: RefCell<Held> = const { RefCell::new(Held { uses: 0, lock: None }) };
}

/// What a thread has of the permit.
struct Held {
    /// What it needs the permit for at the moment: a tree may be needed while another one is there.
    uses: usize,
    lock: Option<MutexGuard<'static, ()>>,
}

impl Held {
    fn lock(&mut self) {
        // The lock guards no data.
        self.lock.get_or_insert_with(|| PERMIT.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The permit, as long as it is needed. It is this thread's, and does not leave it.
pub struct LargePermit {
    is_taken: bool,
    _of_this_thread: std::marker::PhantomData<*const ()>,
}

impl LargePermit {
    /// Waits for the permit to have what is made of so many bytes, if that is large.
    pub fn wait(bytes: usize) -> Self {
        let is_taken = bytes > LARGE;
        if is_taken {
            HELD.with_borrow_mut(|held| {
                held.lock();
                held.uses += 1;
            });
        }
        Self { is_taken, _of_this_thread: std::marker::PhantomData }
    }
}

impl Drop for LargePermit {
    fn drop(&mut self) {
        if self.is_taken {
            HELD.with_borrow_mut(|held| {
                held.uses -= 1;
                held.lock.take_if(|_| held.uses == 0);
            });
        }
    }
}

/// Gives the permit back while `work` goes on, and waits for it again where it is still needed behind that.
pub fn without_permit<T>(work: impl FnOnce() -> T) -> T {
    HELD.with_borrow_mut(|held| held.lock = None);
    let found = work();
    HELD.with_borrow_mut(|held| {
        if held.uses > 0 {
            held.lock();
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rayon::{ThreadPool, ThreadPoolBuilder};

    use super::*;

    fn other_thread() -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
    }

    #[test]
    fn one_thread_has_the_permit_until_nothing_large_is_left() {
        let other = other_thread();
        let (first, second) = (LargePermit::wait(LARGE + 1), LargePermit::wait(LARGE + 1));
        let is_free = || PERMIT.try_lock().is_ok();
        assert!(!other.install(is_free));
        drop(first);
        assert!(!other.install(is_free));
        without_permit(|| other.install(|| drop(LargePermit::wait(LARGE + 1))));
        assert!(!other.install(is_free));
        let (sender, receiver) = mpsc::channel();
        other.spawn(move || {
            let _permit = LargePermit::wait(LARGE + 1);
            sender.send(()).expect("it is listened to");
        });
        drop(second);
        receiver.recv().expect("it gets the permit");
    }

    #[test]
    fn nothing_small_waits() {
        let _permit = LargePermit::wait(LARGE + 1);
        other_thread().install(|| drop(LargePermit::wait(LARGE)));
    }
}
