//! Ctrl-C and SIGTERM: the first one asks the command to stop and keep what it has, the second one ends the process. A command that has nothing
//! to keep ends at the first. Whatever ends the process here removes its [`leftovers`] before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::exit::ExitCode;
use crate::{leftovers, progress};

/// The exit code of a process that a signal ends.
const CODE: i32 = ExitCode::Interrupted as i32;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();
/// What is said at the first signal.
static NOTICE: Mutex<&str> = Mutex::new("");
/// What is done before the first signal ends the process, while the command has nothing to keep.
static CLEAN_UP: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Listens from now on; `notice` is said at the first signal. Where no handler can be set, a signal kills the process.
pub fn listen(notice: &'static str) {
    set_notice(notice);
    *lock(&CLEAN_UP) = None;
    install();
}

/// Has the first signal say `notice` from now on: something else is under way.
pub fn set_notice(notice: &'static str) {
    *lock(&NOTICE) = notice;
}

/// From now on the first signal ends the process, after `clean_up`.
pub fn end_after(clean_up: impl FnOnce() + Send + 'static) {
    *lock(&CLEAN_UP) = Some(Box::new(clean_up));
    install();
}

/// From now on the first signal ends the process. Without a handler it would, too, and leave the [`leftovers`].
pub fn end_without_leftovers() {
    end_after(|| ());
}

fn install() {
    INSTALLED.get_or_init(|| {
        if let Err(error) = ctrlc::set_handler(on_signal) {
            tracing::warn!("Ctrl-C will not be handled: {error}");
        }
    });
}

fn on_signal() {
    let clean_up = lock(&CLEAN_UP).take();
    if let Some(clean_up) = clean_up {
        clean_up();
        end();
    }
    if REQUESTED.swap(true, Ordering::SeqCst) {
        end();
    }
    let notice = *lock(&NOTICE);
    progress::say(notice);
}

fn end() -> ! {
    leftovers::remove_all();
    std::process::exit(CODE)
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there was a signal.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
