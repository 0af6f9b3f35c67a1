//! The states a repository passes through: original, buggy, weakened, repaired. Text files alone; the rest is in the layer.

use veriplay_core::{PatchError, TextFiles};

use super::code_scan::SplitLayout;
use super::{BugProposal, RepoContext};
use crate::repository::Repository;

/// Files over those of the layer, and files of the layer that are gone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Overlay {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) without: Vec<String>,
}

impl Overlay {
    /// What makes `now` of `base`. Files that are equal are no part of it, so that equal states are equal jobs.
    pub(crate) fn between(base: &TextFiles, now: &TextFiles) -> Self {
        let changed = now.iter().filter(|(path, text)| base.get(*path) != Some(text));
        Self {
            files: changed.map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect(),
            without: base.keys().filter(|path| !now.contains_key(*path)).cloned().collect(),
        }
    }

    /// The repository in this state.
    pub(crate) fn repository<'a>(
        &'a self,
        repo: &'a RepoContext<'a>,
        layout: &'a SplitLayout,
        seed: u64,
    ) -> Repository<'a> {
        Repository {
            image: repo.image,
            split_image: repo.split_image,
            pytest: repo.pytest,
            package: &repo.baseline.package,
            dependencies: repo.baseline.dependencies.as_ref().map(|dependencies| &dependencies.layer),
            roots: &repo.baseline.roots,
            own: &layout.own,
            tests: &layout.tests,
            settings: &repo.baseline.settings,
            files: &self.files,
            without: &self.without,
            limits: repo.limits,
            seed,
            max_jobs: repo.max_jobs,
        }
    }
}

/// The states of a bug.
#[derive(Debug, Clone)]
pub(crate) struct BugStates {
    /// With `bug_inject` and the failed repairs: the oracle tests are whole.
    pub(crate) buggy: TextFiles,
    /// With `test_weaken` too: what a solver sees.
    pub(crate) weakened: TextFiles,
}

impl BugStates {
    /// Applies the proposal's patches, strictly.
    pub(crate) fn apply(base: &TextFiles, bug: &BugProposal) -> Result<Self, PatchError> {
        let mut buggy = bug.bug_inject.apply(base)?;
        for repair in &bug.failed_repairs {
            buggy = repair.apply(&buggy)?;
        }
        let weakened = bug.test_weaken.apply(&buggy)?;
        Ok(Self { buggy, weakened })
    }
}

/// `now` with every file for which `wanted` holds as it is in `base`.
pub(crate) fn restore_files(base: &TextFiles, now: &TextFiles, wanted: impl Fn(&str) -> bool) -> TextFiles {
    let kept = now.iter().filter(|(path, _)| !wanted(path));
    let back = base.iter().filter(|(path, _)| wanted(path));
    kept.chain(back).map(|(path, text)| (path.clone(), text.clone())).collect()
}
