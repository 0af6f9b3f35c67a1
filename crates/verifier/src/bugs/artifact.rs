//! The records of a bug: what an injector proposes, and what it is once every check has passed.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Patch, SCHEMA_VERSION};

/// What an injector makes, a model or an operator: nothing of it is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugProposal {
    /// Code files alone: original → buggy.
    pub bug_inject: Patch,
    /// Test files alone: takes out what notices the bug. Its reverse is what the solver is asked for.
    pub test_weaken: Patch,
    /// Oracle test files: restored from the original before grading.
    pub test_files: Vec<String>,
    /// Who made it: an operator's name, or a model's way.
    pub injector: String,
    /// Of its making.
    pub seed: u64,
    /// Failed repairs on top of the bug, the first one first: none for a first-order bug.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_repairs: Vec<Patch>,
}

impl BugProposal {
    /// 1 for a bug made on the original, one more for each failed repair on it.
    #[must_use]
    pub fn order(&self) -> usize {
        1 + self.failed_repairs.len()
    }
}

/// A bug that passed every check, in a repository named by content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugArtifact {
    /// Of this record.
    pub schema_version: u32,
    /// Names the bug: a digest of the repository and the proposal's patches.
    pub task_id: String,
    /// The package's name, for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The layer of its files.
    pub package: Digest,
    /// The proposal.
    pub bug: BugProposal,
    /// Tests that pass in the original and fail with the bug, by both seeds.
    pub fail_to_pass: Vec<String>,
    /// Tests of the baseline that pass with the bug too.
    pub pass_to_pass: Vec<String>,
}

impl BugArtifact {
    /// The version written.
    pub const SCHEMA_VERSION: u32 = SCHEMA_VERSION;
}
