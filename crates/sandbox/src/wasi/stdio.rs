//! Standard output and error into capped buffers.

use veriplay_core::LimitKind;

use crate::host_trap::HostTrap;

/// What the program writes: the first `cap` bytes are kept, and the byte after them ends the job.
#[derive(Debug, Default)]
pub(crate) struct CappedOutput {
    pub(crate) bytes: Vec<u8>,
    pub(crate) truncated: bool,
    cap: u64,
}

impl CappedOutput {
    pub(crate) fn new(cap: u64) -> Self {
        Self { cap, ..Self::default() }
    }

    /// # Errors
    /// When the cap is exceeded: the bytes that fit are kept, and the job ends.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), HostTrap> {
        let room = usize::try_from(self.cap - self.bytes.len() as u64).unwrap_or(usize::MAX);
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() <= room {
            return Ok(());
        }
        Err(self.stop_at_cap((bytes.len() - room) as u64))
    }

    /// The end of a job that wrote `over` bytes more than are kept.
    fn stop_at_cap(&mut self, over: u64) -> HostTrap {
        self.truncated = true;
        self.bytes.truncate(usize::try_from(self.cap).unwrap_or(usize::MAX));
        HostTrap::exceeded(LimitKind::OutputBytes, self.cap, self.cap.saturating_add(over))
    }
}
