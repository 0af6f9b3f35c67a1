//! Our own sandbox as the target of probes. Each probe gets a sandbox of its own, except that sandboxes of one worker process, which are
//! slow to start, are reused: what one probe leaves behind, the next would find.

use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{Execute, ExecuteError, Exit, Job, Outcome};
use veriplay_corpus::probes::ProbeLanguage;
use veriplay_corpus::probes::run::{BoxedExecutor, ExecutorFactory};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::isolation::{self, Isolation};

/// Makes the sandboxes that probes attack.
pub struct OwnSandbox {
    image: Arc<Image>,
    workers: Isolation,
    /// Idle sandboxes of one worker process.
    idle: Mutex<Vec<Sandbox>>,
}

/// A sandbox that returns to its pool when it is dropped.
struct PooledSandbox<'a> {
    sandbox: Option<Sandbox>,
    pool: &'a Mutex<Vec<Sandbox>>,
}

impl Execute for PooledSandbox<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.sandbox.as_ref().map_or_else(
            || Err(ExecuteError::Host("the sandbox was returned to its pool".to_owned())),
            |own| own.execute(job),
        )
    }
}

impl Drop for PooledSandbox<'_> {
    fn drop(&mut self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).extend(self.sandbox.take());
    }
}

impl OwnSandbox {
    /// Sandboxes that run a plain program: of others, no probe would say anything.
    pub fn new(image: Arc<Image>, language: ProbeLanguage, workers: Isolation) -> Result<Self, Failure> {
        let this = Self { image, workers, idle: Mutex::default() };
        this.check_plain_program(language).map_err(|why| {
            let what = format!("the sandbox does not run a plain program, so nothing was attacked: {why}");
            Failure::message(ExitCode::Host, what).hint("`veriplay doctor` checks what it needs; see `ulimit -v`, too")
        })?;
        Ok(this)
    }

    fn check_plain_program(&self, language: ProbeLanguage) -> Result<(), String> {
        let job = Job {
            image: self.image.name().to_owned(),
            limits: self.image.default_limits(),
            ..Job::script(language.plain_program())
        };
        let outcome = self.make_sandbox(1)?.execute(&job).map_err(|error| error.to_string())?;
        if outcome.exit == Exit::Returned && outcome.stdout == b"42\n" {
            Ok(())
        } else {
            Err(format!("it ended with {:?}", outcome.exit))
        }
    }
}

fn options(parallel: u32) -> SandboxOptions {
    SandboxOptions { max_parallel: parallel as usize, ..SandboxOptions::fastest() }
}

impl ExecutorFactory for OwnSandbox {
    fn make_sandbox(&self, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let new = || {
            let sandbox = isolation::open_sandbox(Arc::clone(&self.image), options(parallel), self.workers);
            sandbox.map_err(|failure| failure.to_string())
        };
        if self.workers == Isolation::Thread || parallel > 1 {
            return Ok(Box::new(new()?));
        }
        let known = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let sandbox = Some(known.map_or_else(new, Ok)?);
        Ok(Box::new(PooledSandbox { sandbox, pool: &self.idle }))
    }

    fn make_module(&self, id: &str, text: &str, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let image = self.image.from_module(id, text).map_err(|error| error.to_string())?;
        let sandbox =
            isolation::open_sandbox(image, options(parallel), self.workers).map_err(|failure| failure.to_string())?;
        Ok(Box::new(sandbox))
    }
}
