//! Injects, validates and repairs bugs in real repositories (SSR, arXiv 2512.18552; SWE-smith's operators, arXiv 2504.21798).
//!
//! [`make_mutants`] makes bugs by operators over the syntax tree, [`validate_bug`] runs every check of [`CHECKS`] on a proposal and makes
//! the [`BugArtifact`], and [`grade_repair`] judges a solver's patch. The command line and the game call them.
//!
//! # Invariants
//! - Results come from one record per test, never from a log.
//! - Whenever anything is judged, the oracle tests are the original's.
//! - All tests run of each file that enters code which a patch changes.
//!
//! # Trust
//! Under split trust ([`RepoContext::trust`]), each failing test of a bug must run and fail with the package in an instance of its own,
//! and must pass there after a repair. That instance holds the package's code and the arguments of its calls, and nothing of the tests or of
//! the original, neither in files nor in memory. A repair whose tests all run this way needs no scan.
//!
//! A test that needs more of the package than plain values shares pytest's instance with the package, and the evidence of a verdict that
//! rests on one says `shared`. Code there can forge such a record. Two measures make this harder, and neither makes it impossible: a scan
//! refuses changed code that is not known to be harmless, and a test counts only when its inverted test, changed so that it must fail, has
//! failed. Under split trust such tests can only speak against a repair.

mod bug_states;
mod characters;
mod checks;
mod code_scan;
mod grade;
mod history;
mod injectors;
mod inverted_tests;
mod modules;
mod paths;
mod propose;
mod source_queries;
mod test_command;
mod test_map;
mod test_runner;
pub mod tool_env;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits, Patch, TextFiles, Trust};

pub use checks::{BugCheck, BugRules, BugValidation, CHECKS, check_each, validate_bug};
pub use code_scan::OwnNames;
pub(crate) use code_scan::scan_program;
pub use grade::{RepairRequest, grade_repair};
pub use history::{Commit, History, PastChange};
pub use injectors::{INJECTORS, Injector, InjectorFamily, Mutant, Mutants, make_mutants, mutate_program};
pub use modules::own_modules;
pub use propose::{ProposalRejection, TreeRequest, Weakening, propose_mutant, propose_tree, weaken_tests};
pub use source_queries::has_less_code;
pub use test_command::TestCommand;
pub use test_map::{FileMap, TestMap};

use crate::repository::Baseline;

/// A repository with its baseline, in an image.
#[derive(Debug, Clone, Copy)]
pub struct RepoContext<'a> {
    /// The name of the image where tests and package share an instance, warmed for the repository or not.
    pub image: &'a str,
    /// As [`crate::repository::Repository::split_image`].
    pub split_image: &'a str,
    /// The layer of pytest.
    pub pytest: &'a Digest,
    /// The text files of the package's layer.
    pub texts: &'a TextFiles,
    /// The paths of its other files, which no patch changes.
    pub binaries: &'a BTreeSet<String>,
    /// The tests that pass.
    pub baseline: &'a Baseline,
    /// Which test file enters which function.
    pub map: &'a TestMap,
    /// Limits of each job. Runs of tests get less fuel: what the tests cost in the original and a margin, because a bug may loop.
    pub limits: Limits,
    /// As [`crate::repository::Repository::max_jobs`].
    pub max_jobs: usize,
    /// Whether failing tests must run with the package in an instance of its own.
    pub trust: Trust,
}

impl RepoContext<'_> {
    /// The files to inject bugs into: Python code that tests enter, without the tests.
    #[must_use]
    pub fn code_files(&self) -> BTreeSet<&str> {
        let entered = self.map.files.iter().flat_map(|file| &file.functions).map(|function| function.path.as_str());
        entered.filter(|path| self.texts.contains_key(*path) && !paths::is_test(self, path)).collect()
    }
}

/// A bug as an injector, a model or an operator, proposes it. Nothing in it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugProposal {
    /// Code files only: original → buggy.
    pub bug_inject: Patch,
    /// Test files only: removes the tests that notice the bug. Its reverse is the solver's specification.
    pub test_weaken: Patch,
    /// Oracle test files: restored from the original before grading.
    pub test_files: Vec<String>,
    /// The operator's name, or the model's mode.
    pub injector: String,
    /// The injector's seed.
    pub seed: u64,
    /// How the injector says that the tests are run; `None` where Veriplay says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_command: Option<TestCommand>,
    /// Failed repairs on top of the bug, in order; empty for a first-order bug.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_repairs: Vec<Patch>,
}

impl BugProposal {
    /// A bug in the original, without a test command.
    pub fn first_order(
        bug_inject: Patch,
        test_weaken: Patch,
        test_files: impl IntoIterator<Item = impl Into<String>>,
        injector: &str,
        seed: u64,
    ) -> Self {
        let test_files = test_files.into_iter().map(Into::into).collect();
        let injector = injector.to_owned();
        Self { bug_inject, test_weaken, test_files, injector, seed, test_command: None, failed_repairs: Vec::new() }
    }

    /// 1 for a bug in the original, and 1 more for each failed repair.
    #[must_use]
    pub fn order(&self) -> usize {
        1 + self.failed_repairs.len()
    }

    /// The bug, and the failed repairs on top of it.
    fn code_patches(&self) -> impl Iterator<Item = &Patch> {
        std::iter::once(&self.bug_inject).chain(&self.failed_repairs)
    }
}

/// A bug that passed every check. Names its repository by content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugArtifact {
    /// [`SCHEMA_VERSION`](veriplay_core::SCHEMA_VERSION).
    pub schema_version: u32,
    /// The package's name and version, and a digest of the repository and the proposal's patches.
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
