//! The clock behind the deadline backstop: a thread that advances the engine's epoch.
//!
//! Fuel ends programs; this only ends what fuel does not see, such as a loop of huge `memory.copy`. Held by
//! every sandbox of an engine; stops when the last one is dropped.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nanoseconds an epoch lasts, and so the grain of a deadline.
pub(crate) const TICK_NS: u64 = 20_000_000;

#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// # Errors
    /// When the thread cannot be started.
    pub(crate) fn start(engine: wasmtime::Engine) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("veriplay-ticker".to_owned()).spawn(move || {
            while stopped.recv_timeout(Duration::from_nanos(TICK_NS)) == Err(RecvTimeoutError::Timeout) {
                engine.increment_epoch();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Epochs that are at least `deadline_ns` long.
    pub(crate) fn ticks(deadline_ns: u64) -> u64 {
        // One more, because the running epoch is partly over; capped, because the engine adds it to its counter.
        (deadline_ns.div_ceil(TICK_NS) + 1).min(u64::MAX / 4)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It only sleeps and counts: a panic in it cannot be, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}
