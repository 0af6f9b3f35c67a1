//! A process that answers a line with a line of JSON, and says first whether it is ready: the ways of `baseline.py`, and the peers of the learner, whose
//! protocol `benches/learner_torch.py` describes. They time what they do themselves, so that a request adds nothing to a measured time.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use veriplay_console::leftovers::ProcessGroup;

/// The process. Dropping it waits for its end.
pub(crate) struct LineProcess {
    group: ProcessGroup,
    /// `None` once its input is closed.
    requests: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct ProcessStatus {
    /// The version of what it runs.
    ready: Option<String>,
    absent: Option<String>,
}

impl LineProcess {
    /// Starts the process, and sends the first line where it waits for one. Returns the version of what it runs, too.
    ///
    /// # Errors
    /// It cannot be started, or why it is absent.
    pub(crate) fn start(command: &mut Command, first: Option<&str>) -> Result<(Self, String), String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let started = ProcessGroup::start(command);
        let mut group = started.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let (requests, responses) = (group.child.stdin.take(), group.child.stdout.take());
        let responses = BufReader::new(responses.expect("stdout is a pipe"));
        let mut process = Self { group, requests, responses };
        if let Some(first) = first {
            process.send(first)?;
        }
        let ProcessStatus { ready, absent } = process.read()?;
        let version = ready.ok_or_else(|| absent.unwrap_or_else(|| "it gave no reason".to_owned()))?;
        Ok((process, version))
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, String> {
        self.send(line)?;
        self.read()
    }

    fn send(&mut self, line: &str) -> Result<(), String> {
        let requests = self.requests.as_mut().expect("its input is open");
        writeln!(requests, "{line}").map_err(|error| format!("cannot write a request: {error}"))
    }

    fn read<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let mut line = String::new();
        self.responses.read_line(&mut line).map_err(|error| format!("cannot read a response: {error}"))?;
        serde_json::from_str(&line).map_err(|error| format!("invalid response `{}`: {error}", line.trim()))
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        // It ends, and everything that it started, when its input ends.
        drop(self.requests.take());
        let _ = self.group.child.wait();
    }
}
