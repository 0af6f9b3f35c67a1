//! Another program in a process of its own, which does the learner's work and times itself. `benches/learner_torch.py` describes the
//! protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use serde::{Deserialize, Serialize};
use veriplay_console::leftovers::ProcessGroup;

use super::machine::clean;

/// PyTorch: everything.
pub(crate) const TORCH: &str = include_str!("../../../../benches/learner_torch.py");
/// llama.cpp: generation, on the CPU.
pub(crate) const LLAMA_CPP: &str = include_str!("../../../../benches/learner_llama_cpp.py");

/// A running process of a peer.
pub(crate) struct Peer {
    group: ProcessGroup,
    /// `None` once its input is closed.
    requests: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
    /// Versions of what it runs.
    pub versions: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
struct PeerStatus {
    ready: Option<String>,
    absent: Option<String>,
}

/// The time of one round.
#[derive(Deserialize)]
pub(crate) struct PeerTiming {
    /// How long the round took.
    pub seconds: f64,
    /// Floating-point operations, where the peer counts them.
    pub flops: Option<f64>,
}

impl Peer {
    /// Starts the process and sends its work.
    ///
    /// # Errors
    /// Why it is absent.
    pub(crate) fn start(python: &Path, script: &str, work: &impl Serialize) -> Result<Self, String> {
        let mut command = clean(python);
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = ProcessGroup::start(&mut command);
        let mut group = started.map_err(|e| format!("`{}` cannot be started: {e}", python.display()))?;
        let (requests, responses) = (group.child.stdin.take(), group.child.stdout.take());
        let responses = BufReader::new(responses.expect("stdout is a pipe"));
        let mut peer = Self { group, requests, responses, versions: String::new() };
        let work = serde_json::to_string(work).map_err(|e| e.to_string())?;
        let status: PeerStatus = peer.request(&work)?;
        peer.versions = status.ready.ok_or_else(|| status.absent.unwrap_or_else(|| "it gave no reason".to_owned()))?;
        Ok(peer)
    }

    /// `train`, `generate` or `gemm`.
    ///
    /// # Errors
    /// The round failed.
    pub(crate) fn time(&mut self, what: &str) -> Result<PeerTiming, String> {
        self.request(what)
    }

    fn request<T: for<'a> Deserialize<'a>>(&mut self, line: &str) -> Result<T, String> {
        let requests = self.requests.as_mut().expect("its input is open");
        writeln!(requests, "{line}").map_err(|e| format!("cannot write a request: {e}"))?;
        let mut response = String::new();
        self.responses.read_line(&mut response).map_err(|e| format!("cannot read a response: {e}"))?;
        serde_json::from_str(&response).map_err(|e| format!("invalid response `{}`: {e}", response.trim()))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends when its input ends.
        drop(self.requests.take());
        let _ = self.group.child.wait();
    }
}
