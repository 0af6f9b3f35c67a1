//! The judge of Code-as-Task (Self-Challenging Agents, arXiv 2506.01716): executors' code in environments of tools, and
//! challengers' artifacts.
//!
//! # What it decides
//! Whether code did what a task asks: its verification function says so of the state before, the state after and the
//! answer. Whether an artifact is a task worth asking: [`rules`] names what may be wrong with it.
//!
//! # How it is judged
//! Three parties, never two of them in one instance:
//! 1. **The code** is a job. The environment is its callee, in another instance; calls of tools cross through the host as
//!    plain values, checked against the tools' declared types. The code has no way to the state but these calls.
//! 2. **The state** is made again by a second job in which nothing of the code runs: a fresh environment, and the calls
//!    that the first job named, one after another. Tools are deterministic, so honest code gets the state it saw. Code
//!    that names calls it did not make gets the state of these calls, which it could as well have made: there is nothing
//!    to gain by a forged trace, and the trace is the only thing of the first job, beside the answer, that counts.
//! 3. **The verification function** is a third job. It gets both states and the answer as plain values that the host has
//!    decoded. No source of code, solution or environment is there to be read; no object of the code's reaches it, so
//!    none can lie about what it equals. The code never sees the verification function.
//!
//! The environment is compiled by a job before these, in which nothing untrusted is. Every job starts from the image's state, and every environment from its source's: each attempt from the same bytes.
//!
//! # How it can be gamed
//! A task is only as strict as its verification function. The gate's failure cases bound its leniency, and canned answers
//! on an untouched state find tasks that guessing solves; what is between them is the challenger's to weigh. A function that
//! accepts the solution's state and, say, every tenth other by a hash of it passes the gate: no sample of states tells.

mod artifact;
mod artifact_gate;
mod attempt;
pub mod compact;
mod complete;
mod facts;
mod response;
pub mod rules;
mod trace;

use rayon::prelude::*;
use veriplay_core::{Dropped, Execute, Verdict};

pub use artifact::{ArtifactRequest, Examined, Finding, examine_artifact, inspect_artifact, judge_artifact};
pub use artifact_gate::{ArtifactGate, ArtifactGateError};
pub(crate) use attempt::judge_code;
pub use attempt::{EpisodeRequest, judge_episode};
pub use complete::{CompleteRequest, complete, complete_with_failures};
pub use response::{ChallengerResponse, read_challenger, read_executor};
pub use trace::{About, CodeOutcome, CodeRequest, Tool, describe, run_code};

/// [`judge_artifact`] for each request, every core busy, in the order of the requests.
pub fn judge_artifacts(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[ArtifactRequest<'_>],
) -> Vec<Result<Verdict, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_artifact(execute, gate, request)).collect()
}

/// [`judge_episode`] for each request, every core busy, in the order of the requests.
pub fn judge_episodes(execute: &dyn Execute, requests: &[EpisodeRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| judge_episode(execute, request)).collect()
}

/// [`examine_artifact`] for each request, every core busy, in the order of the requests.
pub fn examine_artifacts(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[ArtifactRequest<'_>],
) -> Vec<Result<Examined, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| examine_artifact(execute, gate, request)).collect()
}

/// [`run_code`] for each request, every core busy, in the order of the requests.
pub fn run_codes(execute: &dyn Execute, requests: &[CodeRequest<'_>]) -> Vec<Result<CodeOutcome, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| run_code(execute, request)).collect()
}
