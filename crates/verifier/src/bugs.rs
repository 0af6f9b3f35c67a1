//! Bugs in real repositories: made, checked and repaired (SSR, arXiv 2512.18552; SWE-smith's operators, arXiv 2504.21798).
//!
//! [`inject`] makes bugs by operators over the syntax tree, [`validate`] puts a proposal through every check of [`CHECKS`]
//! and makes the [`BugArtifact`], [`grade`] judges a solver's patch. The command line and the game call them. Invariants:
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

mod artifact;
mod bench;
mod checks;
mod grade;
mod guest;
mod injectors;
mod machinery;
mod map;
mod modules;
mod paths;
mod propose;
pub mod tool_env;
mod tree;
mod twins;
mod validate;
mod weaken;

use std::collections::BTreeSet;

use veriplay_core::{Digest, Limits, TextFiles, Trust};

pub use artifact::{BugArtifact, BugProposal};
pub use checks::{CHECKS, Check};
pub use grade::{RepairRequest, grade};
pub use injectors::{Candidate, Family, INJECTORS, Injector, Mutants, Scope, inject};
pub use machinery::OwnNames;
pub use map::{FileMap, TestMap};
pub use modules::own_modules;
pub use propose::{Unfit, propose};
pub use validate::{BugRules, Validated, each_check, validate};
pub use weaken::weakening;

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
