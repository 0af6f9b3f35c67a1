//! The table `[rollout_server]` of a configuration: a server that samples in the learner's place, from its newest weights. Called by `play`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use veriplay_learner::{Learner, RolloutServer, ServerOptions, ServerProtocol};

use crate::exit::{ExitCode, Failure, ResultExt, bad_value};
use crate::model;

/// Attempts at a request before a step is given up: with the waits between them, some five minutes, in which a server can start again.
const ATTEMPTS: usize = 12;
/// Most requests in flight.
const MOST_CONCURRENCY: usize = 4096;

/// A server that samples in the learner's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RolloutServerConfig {
    /// Its address, such as `http://127.0.0.1:8000`.
    url: String,
    /// How it is asked for samples, and given weights.
    protocol: ServerProtocol,
    /// The folder in which the weights are handed over. The server reads it by the same path.
    folder: PathBuf,
    /// Most requests in flight, one for each prompt. Absent means 64.
    #[serde(default = "default_concurrency")]
    concurrency: usize,
}

const fn default_concurrency() -> usize {
    64
}

impl RolloutServerConfig {
    /// Rejects values that the keys beside it do not allow.
    pub(crate) fn check(&self, model: &str, trains_adapters: bool) -> Result<(), Failure> {
        if model::is_external(model) {
            return Err(bad_value(
                "rollout_server.url",
                &self.url,
                "left out, because `model` is `stdio`: your trainer samples",
            ));
        }
        if !(1..=MOST_CONCURRENCY).contains(&self.concurrency) {
            let want = format!("from 1 to {MOST_CONCURRENCY}");
            return Err(bad_value("rollout_server.concurrency", &self.concurrency, &want));
        }
        if self.protocol.takes_adapters() && !trains_adapters {
            let want = "`sglang`, or `[learn.lora]` must be there: vLLM takes adapters, and no weights of the model";
            return Err(bad_value("rollout_server.protocol", &self.protocol, want));
        }
        Ok(())
    }

    /// Has it sample for `learner`.
    pub(crate) fn attach(&self, learner: &mut Learner) -> Result<(), Failure> {
        let options = ServerOptions { concurrency: self.concurrency, attempts: ATTEMPTS, ..model::server_options()? };
        let server = RolloutServer::open(&self.url, self.protocol, &self.folder, options).or_fail(ExitCode::Input)?;
        learner.sample_from(server).or_fail(ExitCode::Input)
    }

    /// What differs from a run without it, for people.
    pub(crate) fn describe(&self) -> String {
        let given = if self.protocol.takes_adapters() { "adapters" } else { "weights" };
        format!(
            "rollouts and evaluations are sampled by the server at `{}` ({}), which gets the {given} of each step through `{}`",
            self.url,
            self.protocol,
            self.folder.display()
        )
    }
}
