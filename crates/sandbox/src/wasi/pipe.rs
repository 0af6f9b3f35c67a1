//! One direction of an interaction: what one guest writes to standard output and another reads as standard input.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// A pipe, which both of its ends hold. The writer's cap of output bounds what is in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipe(Arc<Mutex<PipeState>>);

#[derive(Debug, Default)]
struct PipeState {
    bytes: VecDeque<u8>,
    /// Whether nothing more will be written.
    is_closed: bool,
    /// Whether the reader waits until there is something to read.
    is_awaited: bool,
}

impl PipeState {
    fn is_ready(&self) -> bool {
        !self.bytes.is_empty() || self.is_closed
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        // No code under this lock can leave the state inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        self.lock().bytes.extend(bytes);
    }

    /// Reads up to the length of `out`; 0 at the end.
    pub(crate) fn read(&self, out: &mut [u8]) -> usize {
        let bytes = &mut self.lock().bytes;
        let count = out.len().min(bytes.len());
        out.iter_mut().zip(bytes.drain(..count)).for_each(|(place, byte)| *place = byte);
        count
    }

    /// Notes that nothing more will be written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Bytes that can be read at once, if a read need not wait.
    pub(crate) fn available(&self) -> Option<u64> {
        let state = self.lock();
        state.is_ready().then_some(state.bytes.len() as u64)
    }

    /// Waits until a read need not wait.
    pub(crate) async fn wait(&self) {
        poll_fn(|_| {
            let mut state = self.lock();
            state.is_awaited = !state.is_ready();
            if state.is_awaited { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Whether the reader waits, and goes on waiting unless the writer does something.
    pub(crate) fn is_awaited(&self) -> bool {
        let state = self.lock();
        state.is_awaited && !state.is_ready()
    }
}

/// Lets the other guest run until it waits or ends.
pub(crate) async fn pass_turn() {
    let mut has_passed = false;
    poll_fn(|_| if std::mem::replace(&mut has_passed, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
