//! Veriplay and the baselines that it is compared with on jobs in Python. To add a baseline, add a line to [`BASELINES`] and a branch to
//! `baseline.py`, or write a [`Worker`]. Those of other languages are commands of [`super::languages`].

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::ProposalGate;

use super::jobs::{BenchJob, JobProgram, numbered};
use super::line_process::LineProcess;
use super::machine::Python;
use super::veriplay::Veriplay;
use super::worker::{Round, RoundError, Worker, time_round};

pub(crate) const VERIPLAY: &str = "veriplay";

const HELPER: &str = include_str!("baseline.py");

/// Everything that workers need to start.
pub struct BaselineSetting {
    /// The native interpreter, or why it is missing.
    pub python: Result<Python, String>,
    /// Shared by Veriplay's workers: it runs as many jobs at once as there are workers.
    pub sandbox: Arc<Sandbox>,
    /// By which Veriplay's workers judge triplets.
    pub gate: ProposalGate,
    /// The number of the next program of Veriplay's workers. A text that one of them has run would not be compiled again.
    pub serial: Arc<AtomicU64>,
}

pub(crate) struct Baseline {
    pub(crate) name: &'static str,
    /// Starts one worker, or returns why that is impossible on this machine.
    pub(crate) open: fn(&BaselineSetting) -> Result<Box<dyn Worker>, String>,
}

/// How to have those that are absent.
pub(crate) const INSTALL: &str = "install CPython 3, so that `python3` is on the PATH";

/// All baselines of Python, in the order of reports.
pub(crate) const BASELINES: &[Baseline] = &[
    Baseline { name: "subprocess", open: |setting| Ok(Box::new(Subprocess::new(setting.python()?))) },
    Baseline { name: "fork", open: |setting| Ok(Box::new(Helper::start(setting.python()?, "fork")?)) },
    Baseline { name: "pool", open: |setting| Ok(Box::new(Helper::start(setting.python()?, "pool")?)) },
    Baseline {
        name: VERIPLAY,
        open: |setting| {
            let (sandbox, serial) = (Arc::clone(&setting.sandbox), Arc::clone(&setting.serial));
            Ok(Box::new(Veriplay::new(sandbox, setting.gate.clone(), serial)))
        },
    },
];

impl BaselineSetting {
    fn python(&self) -> Result<&Python, String> {
        self.python.as_ref().map_err(Clone::clone)
    }
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

/// A way of `baseline.py`, which runs a round and times each job itself.
struct Helper {
    process: LineProcess,
    serial: u64,
}

#[derive(Serialize)]
struct HelperRound<'a> {
    steps: Vec<(&'a str, Option<&'a str>)>,
    ns: u64,
    serial: u64,
}

#[derive(Deserialize)]
struct RoundResponse {
    ns: Vec<u64>,
    elapsed_ns: u64,
    wrong: Option<String>,
}

impl Helper {
    fn start(python: &Python, way: &str) -> Result<Self, String> {
        let mut command = python.command();
        let (process, version) = LineProcess::start(command.args(["-I", "-S", "-c", HELPER, way]), None)?;
        tracing::info!(version, "a bench helper is ready");
        Ok(Self { process, serial: 0 })
    }
}

impl Worker for Helper {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        let steps = work.steps();
        let steps = steps.iter().map(|step| (step.program.as_str(), step.prints.as_deref())).collect();
        let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let round = HelperRound { steps, ns, serial: self.serial };
        let request = serde_json::to_string(&round).expect("strings and numbers are JSON");
        let RoundResponse { ns, elapsed_ns, wrong } = self.process.ask(&request).map_err(RoundError::Failed)?;
        self.serial += ns.len() as u64;
        match wrong {
            Some(wrong) => Err(RoundError::Wrong(wrong)),
            None => Ok(Round { ns, elapsed: Duration::from_nanos(elapsed_ns), ..Round::default() }),
        }
    }
}
