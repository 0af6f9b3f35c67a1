//! The referee: the sandbox on the Python image, with repeated jobs run once, and a count of what was asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use veriplay_core::{Execute, ExecuteError, Job, Outcome};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};
use veriplay_verifier::Memo;

use crate::exit::Failure;
use crate::image;
use crate::workers::{self, Workers};

/// Outcomes remembered: about what a quickstart asks twice, some tens of megabytes.
const REMEMBERED: usize = 1 << 16;

/// Runs jobs in the Python image.
pub(crate) struct Referee {
    memo: Memo<Sandbox>,
    jobs: AtomicU64,
}

impl Referee {
    /// Loads the image, building it first where it is missing.
    pub(crate) fn open(workers: Workers) -> Result<Self, Failure> {
        let image: Arc<Image> = image::python()?;
        let sandbox = workers::sandbox(image, SandboxOptions::fastest(), workers)?;
        Ok(Self { memo: Memo::new(sandbox, REMEMBERED), jobs: AtomicU64::new(0) })
    }

    /// Jobs asked for so far, those answered from memory included.
    pub(crate) fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }
}

impl Execute for Referee {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.memo.execute(job)
    }
}
