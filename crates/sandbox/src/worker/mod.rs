//! Worker processes: a second wall around the guests.
//!
//! A [`Processes`] pool hands each job to a child process over one socket. The child ([`serve`]) has no environment, no
//! descriptor but that socket and its image, and gives up everything it will not need ([`lockdown`]) before it sees the
//! first job. What it answers is as little trusted as a guest: size, shape and numbers are checked ([`parent`]).
//!
//! Its death is a fault of the host. [`crate::Sandbox`] runs the job once more, alone, in a new process.

mod child;
mod frames;
#[cfg(feature = "fuzzing")]
mod fuzzing;
mod lockdown;
mod parent;

pub use child::serve;
#[cfg(feature = "fuzzing")]
pub(crate) use fuzzing::read_any_frames;
pub(crate) use parent::Processes;
pub use parent::WorkerProgram;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use veriplay_core::{Layer, Outcome};

use crate::exports::State;
use crate::image::Named;
use crate::memory::ResetMode;

/// The first frame to a worker: what it is to load. Every further one is a [`veriplay_core::Job`].
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Hello {
    cache_dir: PathBuf,
    /// The image as the parent has it.
    image: Named,
    /// Where it is from.
    from: Origin,
    reset: Reset,
    /// What a job's base may name.
    layers: Vec<Layer>,
}

/// Where a worker has its image from.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Origin {
    /// It is a built-in one, in the cache.
    Cache,
    /// It is a module of its own, of this text.
    Module(String),
    /// It was warmed in the parent: this built-in one with this state, and the memory that is the worker's standard output.
    Warmed { of: Named, state: State },
}

/// [`ResetMode`] on the wire.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Reset {
    Scan,
    Remap,
    Fresh,
}

impl From<ResetMode> for Reset {
    fn from(mode: ResetMode) -> Self {
        match mode {
            ResetMode::Scan => Self::Scan,
            ResetMode::Remap => Self::Remap,
            ResetMode::Fresh => Self::Fresh,
        }
    }
}

impl From<Reset> for ResetMode {
    fn from(mode: Reset) -> Self {
        match mode {
            Reset::Scan => Self::Scan,
            Reset::Remap => Self::Remap,
            Reset::Fresh => Self::Fresh,
        }
    }
}

/// What a worker answers to each frame; to the first one, `Ready`.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Ready,
    Outcome(Box<Outcome>),
    Fault(String),
}
