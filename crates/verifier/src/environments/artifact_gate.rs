//! The artifact gate, as configuration: the conditions on a proposed Code-as-Task.

use serde::{Deserialize, Serialize};
use veriplay_core::{Limits, Value};

/// The conditions on a proposed Code-as-Task. There is no default: each run states its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactGate {
    /// The name of the image for all jobs.
    pub image: String,
    /// Limits of each job.
    pub limits: Limits,
    /// All codes run under both seeds of random source and clock. They must differ.
    pub seeds: [u64; 2],
    /// The maximum length of the instruction, in characters.
    pub max_instruction_chars: usize,
    /// The maximum size in bytes of the verification function, the solution, and each failure case.
    pub max_code_bytes: usize,
    /// The exact number of failure cases; three in the paper.
    pub failures: usize,
    /// The minimum number of tool calls of the solution. 0 admits tasks that need no tool.
    pub min_calls: usize,
    /// Answers that the verification function must not accept on an untouched state, in addition to no answer.
    pub canned_answers: Vec<Value>,
    /// Whether failure cases must differ in state or answer, and not only in their text.
    pub distinct_outcomes: bool,
    /// The maximum number of lines, added and removed, in which a failure case differs from the solution. `None` sets no limit.
    #[serde(default)]
    pub max_changed_lines: Option<usize>,
}

/// What is wrong with a gate: a key, its value and what it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArtifactGateError(String);

impl ArtifactGate {
    /// Checks the values. Call it once, where the gate is loaded.
    pub fn check(&self) -> Result<(), ArtifactGateError> {
        let [first, second] = self.seeds;
        // Equal seeds cannot reveal randomness.
        if first == second {
            return Err(ArtifactGateError(format!("`seeds` are both `{first}`: they must differ")));
        }
        let positive = [
            ("max_instruction_chars", self.max_instruction_chars),
            ("max_code_bytes", self.max_code_bytes),
            ("failures", self.failures),
        ];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(ArtifactGateError(format!("`{key}` is `0`: it must be at least 1"))),
            None => Ok(()),
        }
    }
}
