//! Code-as-Task (Self-Challenging Agents, arXiv 2506.01716): tasks in an environment of tools, with their own verification.
//!
//! Made by the corpus and by challengers, judged by the verifier, asked by the game `self_challenge`.

use serde::{Deserialize, Serialize};

use crate::Value;

/// A world with a state that only its tools change. Ours, and trusted; `task-corpus/environments/README.md` says what its
/// source holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Its name, such as `orders`.
    pub name: String,
    /// Python source: `TOOLS`, `dump()`, `check()`, and its initial state in module variables.
    pub source: String,
}

/// A task with what proves it: the artifact of a challenger. All of its code is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeTask {
    /// Its name, unique in a file.
    pub task_id: String,
    /// Name of the environment it is about.
    pub environment: String,
    /// What an executor is asked, in words.
    pub instruction: String,
    /// Source that defines `verify(before, after, answer)`: two states as plain values, and what was answered (`None` when
    /// nothing was). It returns a `bool`.
    pub verify: String,
    /// Code that solves the task.
    pub solution: String,
    /// Codes that do something near it and must not be accepted; three in the paper.
    pub failures: Vec<String>,
}

/// One call of a tool, as it crossed to the environment.
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

/// What of a [`CodeTask`] judges an executor's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentChecks {
    /// Where the code acts.
    pub environment: Environment,
    /// As [`CodeTask::verify`]. The code never sees it, and it never sees the code.
    pub verify: String,
}
