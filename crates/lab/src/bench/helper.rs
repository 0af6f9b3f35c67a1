//! Baselines in a process of their own, which runs a round and times each job itself, so that the request adds nothing to a measured time.
//! The protocol is described in `baseline.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use veriplay_console::leftovers::ProcessGroup;

use super::jobs::BenchJob;
use super::machine::{Python, clean};
use super::worker::{Round, RoundError, Worker};

const PYTHON: &str = include_str!("baseline.py");
const NODE: &str = include_str!("baseline.js");

/// One helper process.
pub(crate) struct Helper {
    group: ProcessGroup,
    /// `None` once the helper has been asked to end.
    requests: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
    serial: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum HelperStatus {
    Ready(String),
    Absent(String),
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
    /// A baseline of `baseline.py` that needs nothing but the standard library.
    ///
    /// # Errors
    /// Why the baseline is absent.
    pub(crate) fn bare_python(python: &Python, baseline: &str) -> Result<Self, String> {
        Self::start(python.command().args(["-I", "-S", "-c", PYTHON, baseline]))
    }

    /// A baseline of `baseline.py` that needs an installed package.
    ///
    /// # Errors
    /// Why the baseline is absent.
    pub(crate) fn python(python: &Python, baseline: &str) -> Result<Self, String> {
        Self::start(python.command().args(["-c", PYTHON, baseline]))
    }

    /// Pyodide on Node.
    ///
    /// # Errors
    /// Why the baseline is absent.
    pub(crate) fn pyodide(node: &Path) -> Result<Self, String> {
        Self::start(clean(node).args(["-e", NODE]))
    }

    fn start(command: &mut Command) -> Result<Self, String> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut group = ProcessGroup::start(command).map_err(|error| format!("cannot be started: {error}"))?;
        let (requests, responses) = (group.child.stdin.take(), group.child.stdout.take());
        let responses = BufReader::new(responses.expect("stdout is a pipe"));
        let mut helper = Self { group, requests, responses, serial: 0 };
        let status = helper.read_response().map_err(|error| match error {
            RoundError::Wrong(what) | RoundError::Failed(what) => what,
        })?;
        match status {
            HelperStatus::Ready(version) => tracing::info!(version, "a bench helper is ready"),
            HelperStatus::Absent(why) => return Err(why),
        }
        Ok(helper)
    }

    fn read_response<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, RoundError> {
        let mut line = String::new();
        let read = self.responses.read_line(&mut line);
        read.map_err(|error| RoundError::Failed(format!("cannot read from its helper: {error}")))?;
        serde_json::from_str(&line).map_err(|error| RoundError::Failed(format!("its helper printed `{line}`: {error}")))
    }

    fn send_request(&mut self, request: &HelperRound<'_>) -> Result<(), RoundError> {
        let line = serde_json::to_string(request).expect("strings and numbers are JSON");
        let requests = self.requests.as_mut().expect("the helper has not been told to end");
        writeln!(requests, "{line}").map_err(|error| RoundError::Failed(format!("cannot write to its helper: {error}")))
    }
}

impl Worker for Helper {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        let steps = work.steps();
        let steps = steps.iter().map(|step| (step.program.as_str(), step.prints.as_deref())).collect();
        let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        self.send_request(&HelperRound { steps, ns, serial: self.serial })?;
        let response: RoundResponse = self.read_response()?;
        self.serial += response.ns.len() as u64;
        match response.wrong {
            Some(wrong) => Err(RoundError::Wrong(wrong)),
            None => {
                Ok(Round { ns: response.ns, elapsed: Duration::from_nanos(response.elapsed_ns), ..Round::default() })
            }
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // A helper, and everything it started, ends when its input ends.
        drop(self.requests.take());
        let _ = self.group.child.wait();
    }
}
