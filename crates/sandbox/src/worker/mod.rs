//! Worker processes: a second wall around the guests.
//!
//! A [`ProcessRunner`] hands each job to a child process over one socket. The child ([`serve`]) has no environment and no descriptors but that
//! socket and its image, and gives up every right it does not need ([`lockdown`]) before the first job. Its replies are as untrusted as a
//! guest: the parent checks size, shape and numbers ([`parent`]).
//!
//! The death of a worker is a fault of the host. [`crate::Sandbox`] runs the job once more, alone, in a new process. A job that is cancelled
//! is not run again: the worker is told to end it, and is killed if it does not.

mod child;
mod frames;
#[cfg(feature = "fuzzing")]
mod fuzzing;
mod lockdown;
mod parent;

pub use child::serve;
#[cfg(feature = "fuzzing")]
pub(crate) use fuzzing::read_any_frames;
pub use parent::WorkerProgram;
pub(crate) use parent::{ModuleProcesses, ProcessRunner};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Job, Layer, Outcome, WasmModule};

use crate::exports::GlobalState;
use crate::image::ImageId;
use crate::memory::ResetMode;

/// The frame that ends the job which a worker runs. It may come too late, when there is none.
const END_JOB: Option<Job> = None;

/// The first frame to a worker: the image to load. Every further frame is a [`Job`], or [`END_JOB`].
#[derive(Debug, Clone, Serialize, Deserialize)]
struct WorkerSetup {
    cache_dir: PathBuf,
    image: ImageId,
    from: ImageSource,
    reset: ResetMode,
    /// The layers that a job's base may name.
    layers: Vec<Layer>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum ImageSource {
    Cache,
    /// A guest for tests, in WebAssembly text.
    Text(String),
    /// The toolchain of the cache: jobs are to compile their programs.
    Toolchain,
    /// What the program of all jobs is run from, and their interactor if they have one.
    Parts(Vec<WorkerPart>),
    /// A warm image of the parent: this image of the cache with this state, and the memory that is the worker's standard output.
    Warmed {
        of: ImageId,
        state: GlobalState,
    },
}

/// A module, or an image of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum WorkerPart {
    Module(WasmModule),
    Image(ImageId),
}

impl WorkerPart {
    fn digest(&self) -> Digest {
        match self {
            Self::Module(module) => module.digest(),
            Self::Image(named) => named.digest.clone(),
        }
    }
}

/// A worker's reply to a frame; to the first one, `Ready`.
#[derive(Debug, Serialize, Deserialize)]
enum WorkerReply {
    /// Of a worker for parts, which has given up its rights, before it is `Ready`.
    Compiling,
    Ready,
    Outcome(Box<Outcome>),
    Fault(String),
}
