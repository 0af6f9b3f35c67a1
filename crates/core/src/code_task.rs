//! Code-as-Task (Self-Challenging Agents, arXiv 2506.01716): tasks in a tool environment that carry their own verification code.
//!
//! The corpus and challengers write them, the verifier judges them, and the game `self_challenge` plays them.

use serde::{Deserialize, Serialize};

use crate::Value;

/// A tool environment, whose state only its tools change. Its source is ours and trusted; `task-corpus/environments/README.md`
/// describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Its name, such as `orders`.
    pub name: String,
    /// Python source: `TOOLS`, `dump()`, `check()`, and its initial state in module variables.
    pub source: String,
}

/// A task with its verification code: the artifact of a challenger. All of its code is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeTask {
    /// Its name, unique in a file.
    pub task_id: String,
    /// Name of its environment.
    pub environment: String,
    /// The instruction for the executor, in words.
    pub instruction: String,
    /// Source that defines `verify(before, after, answer)`, which returns a `bool`. The states are plain values; the answer is `None`
    /// when there was none.
    pub verify: String,
    /// Code that solves the task.
    pub solution: String,
    /// Near misses of the solution, which `verify` must not accept; three in the paper.
    pub failures: Vec<String>,
}

/// One tool call, as the environment received it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Positional arguments.
    pub arguments: Vec<Value>,
    /// Keyword arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<(String, Value)>,
}

/// The part of a [`CodeTask`] that judges an executor's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentChecks {
    /// The environment in which the code runs.
    pub environment: Environment,
    /// As [`CodeTask::verify`]. Neither this code nor the executor's sees the other.
    pub verify: String,
    /// As [`CodeTask::solution`]: a task that does not accept it cannot refuse an attempt. Without one the attempt is to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}
