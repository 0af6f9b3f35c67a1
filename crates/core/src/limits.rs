//! What a job may use.

use serde::{Deserialize, Serialize};

/// What one job may use. There is no `Default`: whoever runs a program says what it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wasm fuel, about one unit an instruction. Fuel decides: it is the same on every machine.
    pub fuel: u64,
    /// Linear memory in bytes, the image's own share included.
    pub memory_bytes: u64,
    /// Bytes of stdout, of stderr, and of encoded values, each on its own.
    pub output_bytes: u64,
    /// Bytes the program may keep in files it writes.
    pub file_bytes: u64,
    /// Wall-clock backstop in nanoseconds, far above what `fuel` allows. It is no part of a verdict unless hit.
    pub deadline_ns: u64,
}

/// Which limit a job hit.
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
