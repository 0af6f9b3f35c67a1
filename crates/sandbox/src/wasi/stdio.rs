//! Standard output and error into capped buffers.

use veriplay_core::LimitKind;

use crate::stop::Stop;

/// What the program writes: the first `cap` bytes are kept, and the byte after them ends the job.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    pub(crate) bytes: Vec<u8>,
    pub(crate) truncated: bool,
    cap: u64,
}

impl Capture {
    pub(crate) fn new(cap: u64) -> Self {
        Self { cap, ..Self::default() }
    }

    /// # Errors
    /// When the cap is exceeded: the bytes that fit are kept, and the job ends.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let room = usize::try_from(self.cap - self.bytes.len() as u64).unwrap_or(usize::MAX);
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() <= room {
            return Ok(());
        }
        Err(self.full((bytes.len() - room) as u64))
    }

    /// The end of a job that wrote `over` bytes more than are kept.
    fn full(&mut self, over: u64) -> Stop {
        self.truncated = true;
        self.bytes.truncate(usize::try_from(self.cap).unwrap_or(usize::MAX));
        Stop::exceeded(LimitKind::OutputBytes, self.cap, self.cap.saturating_add(over))
    }
}
