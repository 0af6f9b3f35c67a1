//! Ctrl-C and SIGTERM: the first one asks the command to stop and keep what it has, the second one ends the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::progress;

/// Set by the first signal.
static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// Listens from now on; `notice` is said at the first signal. Where no handler can be set, a signal kills the process.
pub(crate) fn listen(notice: &'static str) {
    INSTALLED.get_or_init(|| {
        let handler = move || {
            if REQUESTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            progress::say(notice);
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            tracing::warn!("Ctrl-C will not be handled: {error}");
        }
    });
}

/// Whether there was a signal.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
