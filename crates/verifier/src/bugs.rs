//! Bugs in real repositories: made, checked and repaired (SSR, arXiv 2512.18552; SWE-smith's operators, arXiv 2504.21798).
//!
//! [`make_mutants`] makes bugs by operators over the syntax tree, [`validate_bug`] puts a proposal through every check of [`CHECKS`]
//! and makes the [`BugArtifact`], [`grade_repair`] judges a solver's patch. The command line and the game call them. Invariants:
//! results come from records a test, never from a log; oracle tests are the original's whenever anything is judged; every test of a
//! file runs that enters what a patch changes.
//!
//! Under split trust, [`RepoContext::trust`], each failing test of a bug must be one that runs with the package in an instance of its
//! own and fails there, and a repair must pass it there. That instance has the package's code and the arguments of its calls, and nothing of
//! the tests or of the original, neither in files nor in memory, so a repair may do there what it likes: it is not scanned where all tests
//! that it concerns run so.
//!
//! A test that needs more of the package than plain values shares pytest's instance with it, and the evidence of a verdict that
//! needs one says `shared`. Such a record can be forged. A scan refuses changed code that has anything beyond the original that is not
//! known to be harmless, and a test must have passed while its twin, the same test made to fail, failed: both make it harder, and
//! neither makes it impossible. Under split trust such tests can only speak against a repair.

mod bug_states;
mod checks;
mod code_scan;
mod grade;
mod injectors;
mod inverted_tests;
mod modules;
mod paths;
mod propose;
mod source_queries;
mod test_map;
mod test_runner;
pub mod tool_env;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits, Patch, SCHEMA_VERSION, TextFiles, Trust};

pub use checks::{BugCheck, BugRules, BugValidation, CHECKS, check_each, validate_bug};
pub use code_scan::OwnNames;
pub use grade::{RepairRequest, grade_repair};
pub use injectors::{INJECTORS, Injector, InjectorFamily, InjectorScope, Mutant, Mutants, make_mutants};
pub use modules::own_modules;
pub use propose::{ProposalRejection, TreeRequest, Weakening, propose_mutant, weaken_tests};
pub use test_map::{FileMap, TestMap};

use crate::repository::Baseline;

/// Where bugs are made: a repository with its baseline, in an image.
#[derive(Debug, Clone, Copy)]
pub struct RepoContext<'a> {
    /// The name of the image where tests run beside the package: warmed for the repository, or not.
    pub image: &'a str,
    /// As [`crate::repository::Repository::split_image`].
    pub split_image: &'a str,
    /// The layer of pytest.
    pub pytest: &'a Digest,
    /// The text files of the package's layer.
    pub texts: &'a TextFiles,
    /// Which of its tests pass.
    pub baseline: &'a Baseline,
    /// Which test file enters which function.
    pub map: &'a TestMap,
    /// Of each job. Runs of tests get less fuel: what the tests cost in the original, and some more, since a bug may loop.
    pub limits: Limits,
    /// As [`crate::repository::Repository::max_jobs`].
    pub max_jobs: usize,
    /// Where the tests run that a bug fails: apart from the package, or beside it where they need that.
    pub trust: Trust,
}

impl RepoContext<'_> {
    /// The files that bugs are made in: Python code that tests enter and that is no test itself.
    #[must_use]
    pub fn code_files(&self) -> BTreeSet<&str> {
        let entered = self.map.files.iter().flat_map(|file| &file.functions).map(|function| function.path.as_str());
        entered.filter(|path| self.texts.contains_key(*path) && !paths::is_test(self, path)).collect()
    }
}

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
    /// The seed of its making.
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
