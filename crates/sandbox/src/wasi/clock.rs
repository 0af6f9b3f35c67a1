//! Virtual time. Nothing here reads a clock of the host's.

use super::errno::Errno;

/// What one reading advances the clock by: a busy wait of a second ends after 20,000 readings.
const STEP_NS: u64 = 50_000;
/// 2026-01-01T00:00:00Z.
const EPOCH_NS: u64 = 1_767_225_600_000_000_000;
const DAY_NS: u64 = 86_400_000_000_000;

#[derive(Debug)]
pub(crate) struct Clock {
    start_ns: u64,
    elapsed_ns: u64,
}

impl Clock {
    /// Starts at an hour of 2026 and later that depends on `seed`: another seed, another time and weekday.
    pub(crate) fn new(seed: u64) -> Self {
        let digest = blake3::hash(&[b"veriplay clock".as_slice(), &seed.to_le_bytes()].concat());
        let draw = u64::from_le_bytes(digest.as_bytes()[..8].try_into().expect("eight bytes"));
        Self { start_ns: EPOCH_NS + draw % (365 * DAY_NS), elapsed_ns: 1_000_000_000 + draw % 1_000_000_007 }
    }

    /// Nanoseconds of clock `id`: 0 is the calendar, 1 to 3 count from a little before the job began.
    pub(crate) fn read(&mut self, id: i32) -> Result<u64, Errno> {
        self.advance(STEP_NS);
        self.peek(id)
    }

    /// The same without time passing.
    pub(crate) fn peek(&self, id: i32) -> Result<u64, Errno> {
        match id {
            0 => Ok(self.start_ns.saturating_add(self.elapsed_ns)),
            1..=3 => Ok(self.elapsed_ns),
            _ => Err(Errno::INVAL),
        }
    }

    /// What a file made now is stamped with.
    pub(crate) fn stamp(&self) -> u64 {
        self.start_ns.saturating_add(self.elapsed_ns)
    }

    /// Lets time pass, as a sleep does.
    pub(crate) fn advance(&mut self, ns: u64) {
        // Kept far from the end of u64 so that sums with a calendar time stay in range.
        self.elapsed_ns = self.elapsed_ns.saturating_add(ns).min(u64::MAX / 4);
    }

    /// The grain every clock claims.
    pub(crate) const fn resolution(id: i32) -> Result<u64, Errno> {
        match id {
            0..=3 => Ok(STEP_NS),
            _ => Err(Errno::INVAL),
        }
    }
}
