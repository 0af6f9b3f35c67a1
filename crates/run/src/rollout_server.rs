//! The table `[rollout_server]` of a configuration: a server that samples in the learner's place, from its newest weights. Called by `play`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_range};
use veriplay_learner::{Learner, RolloutServer, ServerOptions, ServerProtocol};

use crate::model;

/// Attempts at a request before a step is given up: with the waits between them, some five minutes, in which a server can start again.
const ATTEMPTS: usize = 12;
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
}

const fn default_timeout() -> u64 {
    3600
}

const fn default_concurrency() -> usize {
    64
}

impl RolloutServerConfig {
    /// Rejects values that the keys beside it do not allow.
    pub fn check(&self, model: &str, trains_adapters: bool) -> Result<(), Failure> {
        if model::is_external(model) {
            let want = "left out, because `model` is `stdio`: your trainer samples";
            return Err(bad_value("rollout_server.url", &self.url, want));
        }
        check_range("rollout_server.concurrency", self.concurrency as u64, MOST_CONCURRENCY, "")?;
        check_range("rollout_server.timeout_s", self.timeout_s, LONGEST_TIMEOUT, " seconds")?;
        if self.protocol.takes_adapters() && !trains_adapters {
            let want = "`sglang`, or `[learn.lora]` must be there: vLLM takes adapters, and no weights of the model";
            return Err(bad_value("rollout_server.protocol", &self.protocol, want));
        }
        Ok(())
    }

    /// Has it sample for `learner`.
    pub fn attach(&self, learner: &mut Learner) -> Result<(), Failure> {
        let options = ServerOptions {
            concurrency: self.concurrency,
            attempts: ATTEMPTS,
            timeouts: TIMEOUTS,
            timeout: Duration::from_secs(self.timeout_s),
            response_bytes: RESPONSE_BYTES,
            ..model::server_options()?
        };
        let server = RolloutServer::open(&self.url, self.protocol, &self.folder, options).or_fail(ExitCode::Input)?;
        learner.sample_from(server).or_fail(ExitCode::Input)
    }

    /// What differs from a run without it, for people.
    pub fn describe(&self) -> String {
        let given = if self.protocol.takes_adapters() { "adapters" } else { "weights" };
        format!(
            "rollouts and evaluations are sampled by the server at `{}` ({}), which gets the {given} of each step through `{}`",
            self.url,
            self.protocol,
            self.folder.display()
        )
    }
}
