//! Judges Code-as-Task (Self-Challenging Agents, arXiv 2506.01716): executors' code in tool environments, and challengers' artifacts.
//!
//! # What it decides
//! Whether code did what a task asks: the task's verification function decides, from the state before, the state after and the answer.
//! Whether an artifact is a useful task: [`rules`] lists what can be wrong with it.
//!
//! # How it is judged
//! Three parties, each in an instance of its own:
//! 1. **The code** is a job. The environment is its callee, in another instance. Calls of tools cross through the host as plain values,
//!    checked against the tools' declared types. Code can reach the state only by these calls.
//! 2. **The state** comes from a second job that runs nothing of the code: a fresh environment replays the calls that the first job
//!    reported. Tools are deterministic, so honest code gets the state it saw. Code that reports calls it did not make gets their state,
//!    which it could have reached by making them. Forging the trace gains nothing, and only the trace and the answer of the first job
//!    count.
//! 3. **The verification function** is a third job. It gets both states and the answer as plain values that the host has decoded. Its
//!    instance holds no source of code, solution or environment, and no object of the code's that could lie about equality. The code never
//!    sees the verification function.
//!
//! Responses are fenced blocks, parsed as text. An executor's turn is its last closed block fenced as `python`. So is a challenger's turn,
//! unless it has a block fenced as `instruction`: then it is a proposal, with one block each of `instruction`, `verify` and `solution`, and
//! several of `failure`.
//!
//! A trusted job compiles the environment first. Every job starts from the image's state and every environment from its source, so all
//! attempts start from the same bytes.
//!
//! # How it can be gamed
//! A task is only as strict as its verification function. The gate's failure cases bound its leniency. Canned answers on an untouched
//! state find tasks that guessing solves, and the solution's answer there finds one that looks at the answer alone. Nothing bounds what is
//! between them: a function that accepts the solution's state and, say, every tenth other state by its hash passes the gate.

mod artifact;
mod artifact_gate;
mod attempt;
mod case_runs;
pub mod compact_proposal;
mod complete;
mod jobs;
pub mod rules;

use veriplay_core::CodeTask;

use crate::extraction::FENCE;
pub use artifact::{ArtifactReport, ArtifactRequest, examine_artifact};
pub use artifact_gate::{ArtifactGate, ArtifactGateError};
pub(crate) use attempt::judge_code;
pub use attempt::{EpisodeRequest, judge_episode};
pub use complete::{complete, complete_with_failures, try_code};
pub use jobs::{
    CodeOutcome, CodeRequest, DescribeError, EnvironmentDescription, ToolDescription, describe_environment, run_code,
};

/// A turn of a challenger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengerResponse {
    /// Code that explores the environment.
    Explore(String),
    /// The artifact it proposes.
    Propose(CodeTask),
}

/// Parses the code of an executor's turn.
///
/// # Errors
/// What is missing, for logs and for the next prompt.
pub fn read_executor(text: &str) -> Result<String, String> {
    let code = blocks(text).into_iter().rfind(|block| is_python(&block.label));
    code.map(|block| block.text).ok_or_else(|| "there is no closed block fenced as `python`".to_owned())
}

/// Parses a challenger's turn. The caller sets the artifact's `task_id` and `environment`.
///
/// # Errors
/// What is missing or repeated, for logs and for the next prompt.
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

/// Parses the closed blocks and keeps their line ends. Fences are on lines of their own.
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
