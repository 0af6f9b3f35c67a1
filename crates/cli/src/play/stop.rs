//! Ctrl-C: the first one ends the run after this step with everything saved; the second one ends the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::progress;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// Listens for Ctrl-C from now on. Where no handler can be set, Ctrl-C just kills, and the run can be resumed too.
pub(super) fn listen() {
    INSTALLED.get_or_init(|| {
        let handler = || {
            if REQUESTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            progress::say("stopping after this step; press Ctrl-C again to stop at once");
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            tracing::warn!("Ctrl-C will not be handled: {error}");
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(super) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
