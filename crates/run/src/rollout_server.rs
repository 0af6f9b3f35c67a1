//! The table `[rollout_server]` of a configuration: a server that samples in the learner's place, from its newest weights. Called by `play`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_range};
use veriplay_core::Digest;
use veriplay_learner::{RolloutServer, ServerOptions, ServerProtocol};

use crate::model;

/// Attempts at a request before a step is given up: with the waits between them, some ten minutes, in which a server can start again. vLLM takes two
/// to four of them on a busy machine.
const ATTEMPTS: usize = 20;
/// Of them, those that may end without an answer: a server that does not answer in an hour seldom does in the next.
const TIMEOUTS: usize = 2;
/// Bytes of an answer: a group of long responses, each token with its text and log-probability.
const RESPONSE_BYTES: u64 = 1 << 30;
/// A week, in seconds.
const LONGEST_TIMEOUT: u64 = 604_800;
/// Most requests in flight.
const MOST_CONCURRENCY: u64 = 4096;

/// A server that samples in the learner's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RolloutServerConfig {
    /// Its address, such as `http://127.0.0.1:8000`.
    url: String,
    /// How it is asked for samples, and given weights.
    protocol: ServerProtocol,
    /// The folder in which the weights are handed over. The server reads it by the same path.
    folder: PathBuf,
    /// Most requests in flight, one for each prompt. Absent means 64.
    #[serde(default = "default_concurrency")]
    concurrency: usize,
    /// Seconds that a request may take, its wait at the server included. Absent means an hour.
    #[serde(default = "default_timeout")]
    timeout_s: u64,
    /// Whether it gives its memory back while the learner trains.
    #[serde(default)]
    sleep: bool,
}

/// Stands for the directory of a run in the names of folders: the first digits of its path's digest.
fn run_label(run: &Path) -> String {
    let path = run.canonicalize().unwrap_or_else(|_| run.to_owned());
    Digest::of(path.as_os_str().as_encoded_bytes()).short().to_owned()
}

const fn default_timeout() -> u64 {
    3600
}

const fn default_concurrency() -> usize {
    64
}

impl RolloutServerConfig {
    /// Rejects values that the keys beside it do not allow.
    pub fn check(&self, model: &str) -> Result<(), Failure> {
        if model::is_external(model) {
            let want = "left out, because `model` is `stdio`: your trainer samples";
            return Err(bad_value("rollout_server.url", &self.url, want));
        }
        check_range("rollout_server.concurrency", self.concurrency as u64, MOST_CONCURRENCY, "")?;
        check_range("rollout_server.timeout_s", self.timeout_s, LONGEST_TIMEOUT, " seconds")?;
        if self.sleep && self.protocol != ServerProtocol::Vllm {
            return Err(bad_value(
                "rollout_server.sleep",
                &true,
                "false, or the protocol `vllm`: its `/sleep` is asked for",
            ));
        }
        Ok(())
    }

    /// How it is asked for samples.
    pub const fn protocol(&self) -> ServerProtocol {
        self.protocol
    }

    /// Opens it to sample for the run in this directory, and removes what a killed process of the run has left in its folder.
    pub fn open(&self, run: &Path) -> Result<RolloutServer, Failure> {
        self.open_for(Some(run_label(run)))
    }

    fn open_for(&self, run: Option<String>) -> Result<RolloutServer, Failure> {
        let options = ServerOptions {
            run,
            concurrency: self.concurrency,
            attempts: ATTEMPTS,
            timeouts: TIMEOUTS,
            timeout: Duration::from_secs(self.timeout_s),
            response_bytes: RESPONSE_BYTES,
            sleep: self.sleep,
            ..model::server_options()?
        };
        RolloutServer::open(&self.url, self.protocol, &self.folder, options).or_fail(ExitCode::Input)
    }

    /// Has a server that sleeps while the learner trains give its memory back: what is free then is what training may take. Returns what `free`
    /// says before, of a server that is awake; `None` of one that never sleeps.
    pub fn make_room(&self, free: impl FnOnce() -> Option<u64>) -> Result<Option<u64>, Failure> {
        if !self.sleep {
            return Ok(None);
        }
        let server = self.open_for(None)?;
        server.wake_up(|| ()).or_fail(ExitCode::Input)?;
        let beside = free();
        server.sleep();
        Ok(beside)
    }

    /// Whether it gives its memory back while the learner trains.
    pub const fn sleeps(&self) -> bool {
        self.sleep
    }

    /// What differs from a run without it, for people.
    pub fn describe(&self, trains_adapters: bool) -> String {
        let given = if trains_adapters && self.protocol.takes_adapters() { "adapters" } else { "weights" };
        let sleeps = if self.sleep { ", and sleeps while the model trains" } else { "" };
        format!(
            "rollouts and evaluations are sampled by the server at `{}` ({}), which gets the {given} of each step through `{}`{sleeps}",
            self.url,
            self.protocol,
            self.folder.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::run_label;

    #[test]
    fn a_run_has_one_label_however_its_directory_is_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let label = run_label(dir.path());
        assert_eq!(label, run_label(&dir.path().join(".")));
        assert_ne!(label, run_label(&dir.path().join("other")));
    }
}
