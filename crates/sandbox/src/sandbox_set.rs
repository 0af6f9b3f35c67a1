//! Sandboxes on several images.

use veriplay_core::{Execute, ExecuteError, Job, Outcome};

use crate::Sandbox;

/// Sandboxes on images of different names. Each job runs in the one on its image.
#[derive(Debug)]
pub struct SandboxSet {
    sandboxes: Vec<Sandbox>,
}

impl SandboxSet {
    /// The set of these. Of two on images of one name the first has all jobs.
    #[must_use]
    pub const fn new(sandboxes: Vec<Sandbox>) -> Self {
        Self { sandboxes }
    }
}

impl Execute for SandboxSet {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        match self.sandboxes.iter().find(|sandbox| sandbox.image().name() == job.image) {
            Some(sandbox) => sandbox.execute(job),
            None => Err(ExecuteError::UnknownImage(job.image.clone())),
        }
    }
}
