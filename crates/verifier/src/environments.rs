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
//!    to gain by a forged jobs, and the jobs is the only thing of the first job, beside the answer, that counts.
//! 3. **The verification function** is a third job. It gets both states and the answer as plain values that the host has
//!    decoded. No source of code, solution or environment is there to be read; no object of the code's reaches it, so
//!    none can lie about what it equals. The code never sees the verification function.
//!
//! Responses are read as fenced blocks, taken as text. An executor's turn is its last closed block fenced as `python`. A challenger's turn
//! is the same, or, when it holds a block fenced as `instruction`, a proposal: `instruction`, `verify`, `solution` once each, and `failure`
//! several times.
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
mod case_runs;
pub mod compact_proposal;
mod complete;
mod jobs;
pub mod rules;

use rayon::prelude::*;
use veriplay_core::{CodeTask, Dropped, Execute, Verdict};

use crate::formats::fenced::FENCE;
use artifact::examine_artifact;
pub use artifact::{ArtifactReport, ArtifactRequest, RuleViolation, inspect_artifact, judge_artifact};
pub use artifact_gate::{ArtifactGate, ArtifactGateError};
pub(crate) use attempt::judge_code;
pub use attempt::{EpisodeRequest, judge_episode};
pub use complete::{CompleteRequest, complete, complete_with_failures};
pub use jobs::{CodeOutcome, CodeRequest, EnvironmentDescription, ToolDescription, describe_environment, run_code};

/// What a challenger does in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengerResponse {
    /// Code that explores the environment.
    Explore(String),
    /// The artifact it proposes.
    Propose(CodeTask),
}

/// The code of an executor's turn.
///
/// # Errors
/// What is missing, for people and for the next prompt.
pub fn read_executor(text: &str) -> Result<String, String> {
    let code = blocks(text).into_iter().rfind(|block| is_python(&block.label));
    code.map(|block| block.text).ok_or_else(|| "there is no closed block fenced as `python`".to_owned())
}

/// A challenger's turn. The artifact is named `task_id` and is about `environment`: that is not the challenger's to say.
///
/// # Errors
/// What is missing or there twice, for people and for the next prompt.
pub fn read_challenger(text: &str, task_id: &str, environment: &str) -> Result<ChallengerResponse, String> {
    let blocks = blocks(text);
    if !blocks.iter().any(|block| block.label == "instruction") {
        return read_executor(text).map(ChallengerResponse::Explore);
    }
    let one = |label: &str| {
        let mut found = blocks.iter().filter(|block| block.label == label);
        match (found.next(), found.next()) {
            (Some(block), None) => Ok(block.text.clone()),
            (None, _) => Err(format!("there is no closed block fenced as `{label}`")),
            (Some(_), Some(_)) => Err(format!("there are two blocks fenced as `{label}`")),
        }
    };
    let failures = blocks.iter().filter(|block| block.label == "failure").map(|block| block.text.clone());
    Ok(ChallengerResponse::Propose(CodeTask {
        task_id: task_id.to_owned(),
        environment: environment.to_owned(),
        instruction: one("instruction")?.trim().to_owned(),
        verify: one("verify")?,
        solution: one("solution")?,
        failures: failures.collect(),
    }))
}

fn is_python(label: &str) -> bool {
    ["python", "py", "python3"].contains(&label)
}

struct Block {
    label: String,
    text: String,
}

/// The closed blocks, with the ends of lines that were written. A fence opens and closes on lines of its own.
fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for line in text.split_inclusive('\n') {
        match (&mut open, line.trim_end().strip_prefix(FENCE)) {
            (None, Some(label)) => {
                open = Some(Block { label: label.trim().to_ascii_lowercase(), text: String::new() });
            }
            (Some(_), Some("")) => found.extend(open.take()),
            (Some(block), _) => block.text.push_str(line),
            (None, None) => {}
        }
    }
    found
}

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

/// What is found on each artifact, every rule asked; every core busy, in the order of the requests.
pub fn examine_artifacts(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[ArtifactRequest<'_>],
) -> Vec<Result<ArtifactReport, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| examine_artifact(execute, gate, request)).collect()
}

/// [`run_code`] for each request, every core busy, in the order of the requests.
pub fn run_codes(execute: &dyn Execute, requests: &[CodeRequest<'_>]) -> Vec<Result<CodeOutcome, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| run_code(execute, request)).collect()
}
