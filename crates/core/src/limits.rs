//! Resource limits of a job.

use serde::{Deserialize, Serialize};

/// The resources one job may use. There is no `Default`: the caller states the cost, in numbers or with [`Limits::small`] and
/// [`Limits::large`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wasm fuel, about one unit per instruction. Fuel ends programs, because it is the same on every machine.
    pub fuel: u64,
    /// Linear memory in bytes, including the image's own.
    pub memory_bytes: u64,
    /// Bytes of stdout, of stderr and of encoded values. The limit holds for each of the three on its own.
    pub output_bytes: u64,
    /// Bytes the program may keep in files it writes.
    pub file_bytes: u64,
    /// Wall-clock backstop in nanoseconds, far above the time that `fuel` allows. It affects a verdict only when it is hit.
    pub deadline_ns: u64,
}

impl Limits {
    /// For a function of a few lines: 10⁹ units of fuel (about 0.1 s of one core), 256 MiB of memory, 64 KiB of output, 1 MiB of files,
    /// a deadline of 60 s.
    #[must_use]
    pub const fn small() -> Self {
        Self {
            fuel: 1_000_000_000,
            memory_bytes: 256 << 20,
            output_bytes: 64 << 10,
            file_bytes: 1 << 20,
            deadline_ns: 60_000_000_000,
        }
    }

    /// For a task of a public set: 2·10¹⁰ units of fuel (about 2 s of one core), 256 MiB of memory, 1 MiB of output, 16 MiB of files, a
    /// deadline of 180 s.
    #[must_use]
    pub const fn large() -> Self {
        Self {
            fuel: 20_000_000_000,
            memory_bytes: 256 << 20,
            output_bytes: 1 << 20,
            file_bytes: 16 << 20,
            deadline_ns: 180_000_000_000,
        }
    }
}

/// The limit that a job hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// [`Limits::fuel`].
    Fuel,
    /// [`Limits::memory_bytes`].
    MemoryBytes,
    /// [`Limits::output_bytes`].
    OutputBytes,
    /// [`Limits::file_bytes`].
    FileBytes,
    /// [`Limits::deadline_ns`].
    DeadlineNs,
}
