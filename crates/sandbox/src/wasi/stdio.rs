//! Standard output and error into capped buffers.

use veriplay_core::LimitKind;

use super::pipe::Pipe;
use crate::host_trap::HostTrap;

/// What becomes of a job that writes more than its cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AtCap {
    /// It goes on, and the rest is dropped: nobody reads the output to its end.
    #[default]
    Cut,
    /// It ends: a part of the output would be taken for the whole.
    End,
}

/// What the program writes: the first `cap` bytes are kept.
#[derive(Debug, Default)]
pub(crate) struct CappedOutput {
    pub(crate) bytes: Vec<u8>,
    pub(crate) truncated: bool,
    /// Where the same bytes go, for another guest to read.
    pub(crate) pipe: Option<Pipe>,
    cap: u64,
    at_cap: AtCap,
}

impl CappedOutput {
    pub(crate) fn new(cap: u64, at_cap: AtCap) -> Self {
        Self { cap, at_cap, ..Self::default() }
    }

    /// Fails when the cap is exceeded, for output at whose cap the job ends.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), HostTrap> {
        let room = usize::try_from(self.cap - self.bytes.len() as u64).unwrap_or(usize::MAX);
        let kept = &bytes[..bytes.len().min(room)];
        self.bytes.extend_from_slice(kept);
        if let Some(pipe) = &self.pipe {
            pipe.write(kept);
        }
        if bytes.len() <= room {
            return Ok(());
        }
        self.truncated = true;
        let over = (bytes.len() - room) as u64;
        match self.at_cap {
            AtCap::Cut => Ok(()),
            AtCap::End => Err(HostTrap::exceeded(LimitKind::OutputBytes, self.cap, self.cap.saturating_add(over))),
        }
    }
}
