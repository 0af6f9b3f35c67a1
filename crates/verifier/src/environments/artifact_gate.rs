//! The artifact gate as data: what a Code-as-Task must be to be worth asking.

use serde::{Deserialize, Serialize};
use veriplay_core::{Limits, Value};

/// When a Code-as-Task is worth asking. There is no default: a run says what it lets through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactGate {
    /// Name of the image everything runs in.
    pub image: String,
    /// What each job may use.
    pub limits: Limits,
    /// Everything is run under both: random source and clock. They must differ.
    pub seeds: [u64; 2],
    /// Characters of the instruction at most.
    pub max_instruction_chars: usize,
    /// Bytes of each code at most: verification function, solution, failure cases.
    pub max_code_bytes: usize,
    /// Failure cases, exactly; three in the paper.
    pub failures: usize,
    /// ToolDescription calls of the solution at least. 0 lets tasks through that need no tool.
    pub min_calls: usize,
    /// Answers that must not satisfy the verification function on an untouched state, beside giving none.
    pub canned_answers: Vec<Value>,
    /// Whether failure cases must differ in what they leave and answer too, not in their text alone.
    pub distinct_outcomes: bool,
    /// Lines in which a failure case may differ from the solution, removed and added ones together. None is no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_changed_lines: Option<usize>,
}

/// Why a gate cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactGateError {
    /// One seed twice finds no randomness.
    #[error("`seeds` are both `{0}`: they must differ")]
    SameSeeds(u64),
    /// Nothing would pass, or nothing would be asked.
    #[error("`{key}` is `0`: it must be at least 1")]
    Zero {
        /// The key, below the gate's.
        key: &'static str,
    },
}

impl ArtifactGate {
    /// Checks what types cannot. Call it once, where the gate is read.
    ///
    /// # Errors
    /// The first value that has no meaning.
    pub fn check(&self) -> Result<(), ArtifactGateError> {
        if self.seeds[0] == self.seeds[1] {
            return Err(ArtifactGateError::SameSeeds(self.seeds[0]));
        }
        let positive = [
            ("max_instruction_chars", self.max_instruction_chars),
            ("max_code_bytes", self.max_code_bytes),
            ("failures", self.failures),
        ];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(ArtifactGateError::Zero { key }),
            None => Ok(()),
        }
    }
}
