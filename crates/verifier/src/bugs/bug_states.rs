//! The states of a repository: original, buggy, weakened, repaired. A state holds the text files; other files are in the layer.

use std::collections::BTreeSet;

use veriplay_core::{PatchError, TextFiles};

use super::code_scan::SplitLayout;
use super::{BugProposal, RepoContext};
use crate::repository::Repository;

/// The changes of a state relative to the layer: files over the layer's, and deleted files.
#[derive(Default)]
pub(crate) struct Overlay {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) without: Vec<String>,
}

impl Overlay {
    /// The changes from `base` to `now`. Unchanged files are left out, so that equal states make equal jobs.
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

pub(crate) struct BugStates {
    /// With `bug_inject` and the failed repairs applied; the oracle tests are complete.
    pub(crate) buggy: TextFiles,
    /// With `test_weaken` applied too: the solver's view.
    pub(crate) weakened: TextFiles,
}

impl BugStates {
    /// Applies the proposal's patches, strictly.
    pub(crate) fn apply(base: &TextFiles, bug: &BugProposal) -> Result<Self, PatchError> {
        let mut buggy = base.clone();
        for patch in bug.code_patches() {
            buggy = patch.apply(&buggy)?;
        }
        let weakened = bug.test_weaken.apply(&buggy)?;
        Ok(Self { buggy, weakened })
    }
}

/// The modules of `base` that `now` lacks.
pub(crate) fn deleted_modules<'a>(base: &'a TextFiles, now: &TextFiles) -> BTreeSet<&'a str> {
    base.keys().map(String::as_str).filter(|path| path.ends_with(".py") && !now.contains_key(*path)).collect()
}

pub(crate) fn lacks_module(base: &TextFiles, now: &TextFiles) -> bool {
    !deleted_modules(base, now).is_empty()
}

/// Returns `now` with the modules of `base` that it lacks.
pub(crate) fn restore_modules(base: &TextFiles, now: &TextFiles) -> TextFiles {
    let deleted = deleted_modules(base, now);
    restore_files(base, now, |path| deleted.contains(path))
}

/// Returns `now` with every file that `wanted` selects as in `base`.
pub(crate) fn restore_files(base: &TextFiles, now: &TextFiles, wanted: impl Fn(&str) -> bool) -> TextFiles {
    let kept = now.iter().filter(|(path, _)| !wanted(path));
    let back = base.iter().filter(|(path, _)| wanted(path));
    kept.chain(back).map(|(path, text)| (path.clone(), text.clone())).collect()
}
