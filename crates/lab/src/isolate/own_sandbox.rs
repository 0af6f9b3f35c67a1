//! Our own sandbox as the target of probes. Each probe gets a sandbox of its own, except that sandboxes of one worker process, which are
//! slow to start, are reused: what one probe leaves behind, the next would find.

use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{Execute, ExecuteError, Exit, Job, Limits, Outcome};
use veriplay_corpus::probes::ProbeLanguage;
use veriplay_corpus::probes::run::{BoxedExecutor, ExecutorFactory};
use veriplay_sandbox::{Image, SandboxOptions, TextModules, Toolchain};

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};

/// What programs of the probes' language run in.
pub enum Attacked {
    /// An image of an interpreter.
    Image(Arc<Image>),
    /// What this toolchain compiles.
    Compiled(Arc<Toolchain>),
    /// Modules, which need nothing.
    Modules,
}

impl Attacked {
    /// Opens the image of this name, and builds it first where the cache lacks it.
    pub fn open(name: &str, language: ProbeLanguage) -> Result<Self, Failure> {
        match language {
            ProbeLanguage::Python | ProbeLanguage::JavaScript => image::open(name).map(Self::Image),
            ProbeLanguage::Cpp => image::open_toolchain().map(Self::Compiled),
            ProbeLanguage::Wasm => Ok(Self::Modules),
        }
    }

    /// Its name and digest, for reports.
    pub fn describe(&self, name: &str) -> String {
        match self {
            Self::Image(image) => format!("the image `{name}` {}", image.digest().short()),
            Self::Compiled(toolchain) => format!("the image `{name}` {}", toolchain.digest().short()),
            Self::Modules => format!("the image `{name}`"),
        }
    }

    fn default_limits(&self) -> Limits {
        match self {
            Self::Image(image) => image.default_limits(),
            Self::Compiled(_) | Self::Modules => Toolchain::default_limits(),
        }
    }
}

/// An executor that may wait in a pool.
type IdleExecutor = Box<dyn Execute + Send>;

/// Makes the sandboxes that probes attack.
pub struct OwnSandbox {
    attacked: Attacked,
    workers: Isolation,
    /// Idle sandboxes of one worker process.
    idle: Mutex<Vec<IdleExecutor>>,
}

/// A sandbox that returns to its pool when it is dropped.
struct PooledSandbox<'a> {
    sandbox: Option<IdleExecutor>,
    pool: &'a Mutex<Vec<IdleExecutor>>,
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
    /// Sandboxes that run a plain program, whose jobs have the image `name`: of others, no probe would say anything.
    pub fn new(attacked: Attacked, name: &str, language: ProbeLanguage, workers: Isolation) -> Result<Self, Failure> {
        let this = Self { attacked, workers, idle: Mutex::default() };
        this.check_plain_program(name, language).map_err(|why| {
            let what = format!("the sandbox does not run a plain program, so nothing was attacked: {why}");
            Failure::message(ExitCode::Host, what).hint("`veriplay doctor` checks what it needs; see `ulimit -v`, too")
        })?;
        Ok(this)
    }

    fn check_plain_program(&self, name: &str, language: ProbeLanguage) -> Result<(), String> {
        let (image, limits) = (name.to_owned(), self.attacked.default_limits());
        let job = Job { image, limits, ..Job::script(language.plain_program()) };
        let outcome = self.make_sandbox(1)?.execute(&job).map_err(|error| error.to_string())?;
        if outcome.exit == Exit::Returned && outcome.stdout == b"42\n" {
            Ok(())
        } else {
            Err(format!("it ended with {:?}", outcome.exit))
        }
    }

    fn open(&self, parallel: u32) -> Result<IdleExecutor, Failure> {
        let (options, workers) = (options(parallel), self.workers);
        Ok(match &self.attacked {
            Attacked::Image(image) => Box::new(isolation::open_sandbox(Arc::clone(image), options, workers)?),
            Attacked::Compiled(chain) => Box::new(isolation::open_compiled(Arc::clone(chain), options, workers)?),
            Attacked::Modules => Box::new(TextModules::new(isolation::open_modules(options, workers)?)),
        })
    }
}

fn options(parallel: u32) -> SandboxOptions {
    SandboxOptions { max_parallel: parallel as usize, ..SandboxOptions::fastest() }
}

impl ExecutorFactory for OwnSandbox {
    fn make_sandbox(&self, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let new = || self.open(parallel).map_err(|failure| failure.to_string());
        if self.workers == Isolation::Thread || parallel > 1 {
            let sandbox: BoxedExecutor<'_> = new()?;
            return Ok(sandbox);
        }
        let known = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let sandbox = Some(known.map_or_else(new, Ok)?);
        Ok(Box::new(PooledSandbox { sandbox, pool: &self.idle }))
    }

    fn make_module(&self, id: &str, text: &str, parallel: u32) -> Result<BoxedExecutor<'_>, String> {
        let Attacked::Image(image) = &self.attacked else {
            return Err("a module that stands in for an interpreter attacks an image".to_owned());
        };
        let image = image.from_module(id, text).map_err(|error| error.to_string())?;
        let sandbox =
            isolation::open_sandbox(image, options(parallel), self.workers).map_err(|failure| failure.to_string())?;
        Ok(Box::new(sandbox))
    }
}
