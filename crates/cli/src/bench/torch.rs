//! PyTorch in a process of its own, which does the learner's work and times itself: `benches/learner_torch.py` is its protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde::{Deserialize, Serialize};

use super::machine::clean;

const SCRIPT: &str = include_str!("../../../../benches/learner_torch.py");

/// A running peer.
pub(crate) struct Torch {
    child: Child,
    /// `None` once it has been told to end.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// What it is.
    pub(crate) versions: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
struct Hello {
    ready: Option<String>,
    absent: Option<String>,
}

/// What one thing took.
#[derive(Deserialize)]
pub(crate) struct Took {
    pub(crate) seconds: f64,
    pub(crate) flops: Option<f64>,
}

impl Torch {
    /// Starts it with its work.
    ///
    /// # Errors
    /// Why it is absent.
    pub(crate) fn start(python: &Path, work: &impl Serialize) -> Result<Self, String> {
        let mut command = clean(python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = command.spawn();
        let mut child = started.map_err(|e| format!("`{}` cannot be started: {e}", python.display()))?;
        let (asks, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("stdout was asked for as a pipe"));
        let mut torch = Self { child, asks, answers, versions: String::new() };
        let work = serde_json::to_string(work).map_err(|e| e.to_string())?;
        let hello: Hello = torch.ask(&work)?;
        torch.versions = hello.ready.ok_or_else(|| hello.absent.unwrap_or_else(|| "it gives no reason".to_owned()))?;
        Ok(torch)
    }

    /// `train`, `generate` or `gemm`.
    ///
    /// # Errors
    /// What went wrong with it.
    pub(crate) fn time(&mut self, what: &str) -> Result<Took, String> {
        self.ask(what)
    }

    fn ask<T: for<'a> Deserialize<'a>>(&mut self, line: &str) -> Result<T, String> {
        let asks = self.asks.as_mut().expect("it has not been told to end");
        writeln!(asks, "{line}").map_err(|e| format!("it cannot be asked: {e}"))?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|e| format!("it cannot be heard: {e}"))?;
        serde_json::from_str(&answer).map_err(|e| format!("it said `{}`: {e}", answer.trim()))
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.asks.take());
        let _ = self.child.wait();
    }
}
