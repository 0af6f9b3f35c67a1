//! Our own sandbox as a range for probes: each gets one of its own. A worker process takes long to start, so those with one
//! worker are handed on from probe to probe; what one leaves behind, another would meet.

use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{Execute, ExecuteError, Job, Outcome};
use veriplay_corpus::probes::run::{BoxedExecutor, ExecutorFactory};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

use crate::workers::{self, Workers};

/// What the probes attack.
pub(crate) struct Ours {
    image: Arc<Image>,
    /// Where guests run.
    workers: Workers,
    /// Idle sandboxes of one worker process.
    idle: Mutex<Vec<Sandbox>>,
}

/// A sandbox that goes back when it is no longer used.
struct Lent<'a> {
    sandbox: Option<Sandbox>,
    home: &'a Mutex<Vec<Sandbox>>,
}

impl Execute for Lent<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.sandbox
            .as_ref()
            .map_or_else(|| Err(ExecuteError::Host("it was given back".to_owned())), |own| own.execute(job))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.home.lock().unwrap_or_else(PoisonError::into_inner).extend(self.sandbox.take());
    }
}

impl Ours {
    pub(crate) fn new(image: Arc<Image>, workers: Workers) -> Self {
        Self { image, workers, idle: Mutex::default() }
    }
}

fn options(parallel: u32) -> SandboxOptions {
    SandboxOptions { max_parallel: parallel as usize, ..SandboxOptions::fastest() }
}

impl ExecutorFactory for Ours {
    fn make_python(&self, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let new = || {
            let sandbox = workers::sandbox(Arc::clone(&self.image), options(parallel), self.workers);
            sandbox.map_err(|failure| failure.to_string())
        };
        if self.workers == Workers::Thread || parallel > 1 {
            return Ok(Box::new(new()?));
        }
        let known = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let sandbox = Some(known.map_or_else(new, Ok)?);
        Ok(Box::new(Lent { sandbox, home: &self.idle }))
    }

    fn make_module(&self, id: &str, text: &str, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let image = self.image.from_module(id, text).map_err(|error| error.to_string())?;
        let sandbox =
            workers::sandbox(image, options(parallel), self.workers).map_err(|failure| failure.to_string())?;
        Ok(Box::new(sandbox))
    }
}
