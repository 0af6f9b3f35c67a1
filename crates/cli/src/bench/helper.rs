//! Contenders in a process of their own, which runs a round and times each job itself: asking for a round costs no contender anything.
//! The protocol is described in `contender.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::jobs::Work;
use super::machine::{Python, clean};
use super::worker::{ContenderError, Round, Worker};

const PYTHON: &str = include_str!("contender.py");
const NODE: &str = include_str!("contender.js");

/// One helper process.
pub(crate) struct Helper {
    child: Child,
    /// `None` once the helper has been told to end.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    serial: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Hello {
    Ready(String),
    Absent(String),
}

#[derive(Serialize)]
struct Ask<'a> {
    steps: Vec<(&'a str, Option<&'a str>)>,
    ns: u64,
    serial: u64,
}

#[derive(Deserialize)]
struct Answer {
    ns: Vec<u64>,
    elapsed_ns: u64,
    wrong: Option<String>,
}

impl Helper {
    /// A contender of `contender.py` that needs nothing but the standard library.
    ///
    /// # Errors
    /// Why the contender is absent.
    pub(crate) fn bare_python(python: &Python, contender: &str) -> Result<Self, String> {
        Self::start(python.command().args(["-I", "-S", "-c", PYTHON, contender]))
    }

    /// A contender of `contender.py` that needs an installed package.
    ///
    /// # Errors
    /// Why the contender is absent.
    pub(crate) fn python(python: &Python, contender: &str) -> Result<Self, String> {
        Self::start(python.command().args(["-c", PYTHON, contender]))
    }

    /// Pyodide on Node.
    ///
    /// # Errors
    /// Why the contender is absent.
    pub(crate) fn pyodide(node: &Path) -> Result<Self, String> {
        Self::start(clean(node).args(["-e", NODE]))
    }

    fn start(command: &mut Command) -> Result<Self, String> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = started.map_err(|error| format!("cannot be started: {error}"))?;
        let (asks, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("stdout was asked for as a pipe"));
        let mut helper = Self { child, asks, answers, serial: 0 };
        let hello = helper.read().map_err(|error| match error {
            ContenderError::Wrong(what) | ContenderError::Failed(what) => what,
        })?;
        match hello {
            Hello::Ready(version) => tracing::info!(version, "a bench helper is ready"),
            Hello::Absent(why) => return Err(why),
        }
        Ok(helper)
    }

    fn read<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, ContenderError> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        read.map_err(|error| ContenderError::Failed(format!("cannot hear its helper: {error}")))?;
        serde_json::from_str(&line)
            .map_err(|error| ContenderError::Failed(format!("its helper said `{line}`: {error}")))
    }

    fn ask(&mut self, ask: &Ask<'_>) -> Result<(), ContenderError> {
        let line = serde_json::to_string(ask).expect("strings and numbers are JSON");
        let asks = self.asks.as_mut().expect("the helper has not been told to end");
        writeln!(asks, "{line}").map_err(|error| ContenderError::Failed(format!("cannot ask its helper: {error}")))
    }
}

impl Worker for Helper {
    fn round(&mut self, work: &Work, span: Duration) -> Result<Round, ContenderError> {
        let steps = work.steps();
        let steps = steps.iter().map(|step| (step.program.as_str(), step.prints.as_deref())).collect();
        let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        self.ask(&Ask { steps, ns, serial: self.serial })?;
        let answer: Answer = self.read()?;
        self.serial += answer.ns.len() as u64;
        match answer.wrong {
            Some(wrong) => Err(ContenderError::Wrong(wrong)),
            None => Ok(Round { ns: answer.ns, elapsed: Duration::from_nanos(answer.elapsed_ns), fuel: None }),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // The end of its input is the end of a helper, and of what it started.
        drop(self.asks.take());
        let _ = self.child.wait();
    }
}
