//! Where bugs are: a repository as the cli loads it, owned.

use std::collections::BTreeSet;

use veriplay_core::{Digest, Limits, TextFiles, Trust};
use veriplay_verifier::bugs::{PastChange, RepoContext, TestMap};
use veriplay_verifier::repository::Baseline;

use veriplay_selfplay::splits::{EvalSet, Guard};

/// A repository with its baseline and the map of its tests, in two images.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Name of the image that verdicts are made in: warmed for the repository, or not.
    pub image: String,
    /// Name of the image that a policy's tools run in, and tests with the package in an instance of its own. Nothing of the repository
    /// may have been compiled there ([`veriplay_verifier::bugs::tool_env`] says why): plain, or warmed for pytest and a layer without files.
    pub tool_env_image: String,
    /// The layer of pytest.
    pub pytest: Digest,
    /// The text files of the package's layer.
    pub texts: TextFiles,
    /// The paths of its other files.
    pub binaries: BTreeSet<String>,
    /// Which of its tests pass.
    pub baseline: Baseline,
    /// Which test file enters which function.
    pub map: TestMap,
    /// Past changes of its files, for the injection mode `history`; empty where none are known.
    pub history: Vec<PastChange>,
    /// Of each job.
    pub limits: Limits,
    /// As [`RepoContext::max_jobs`].
    pub max_jobs: usize,
    /// As [`RepoContext::trust`].
    pub trust: Trust,
}

impl Repository {
    /// As the verifier takes it.
    pub const fn context(&self) -> RepoContext<'_> {
        RepoContext {
            image: self.image.as_str(),
            split_image: self.tool_env_image.as_str(),
            pytest: &self.pytest,
            texts: &self.texts,
            binaries: &self.binaries,
            baseline: &self.baseline,
            map: &self.map,
            limits: self.limits,
            max_jobs: self.max_jobs,
            trust: self.trust,
        }
    }

    /// Its code files with their texts: those that bugs are made in.
    pub(super) fn code_files(&self) -> impl Iterator<Item = (&str, &str)> {
        let paths: Vec<String> = self.context().code_files().into_iter().map(str::to_owned).collect();
        paths
            .into_iter()
            .filter_map(|path| self.texts.get_key_value(&path))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The layer that names it in artifacts.
    pub const fn package(&self) -> &Digest {
        &self.baseline.package
    }
}

/// Repositories by what they are for.
#[derive(Debug, Clone, Default)]
pub struct Repositories {
    /// Bugs are made in these.
    pub training: Vec<Repository>,
    /// To tune on.
    pub validation: Vec<Repository>,
    /// To claim by.
    pub held_out: Vec<Repository>,
    /// What the run evaluates on beside the repositories.
    pub eval_guard: Guard,
}

impl Repositories {
    /// The guard of the evaluation repositories, themselves and every function of their code files, and of what else is measured.
    pub fn guard(&self) -> Guard {
        let mut guard = self.eval_guard.clone();
        for (set, repositories) in [(EvalSet::Validation, &self.validation), (EvalSet::HeldOut, &self.held_out)] {
            for repository in repositories {
                guard.add_repository(set, &repository.baseline.name, repository.package(), repository.code_files());
            }
        }
        guard
    }

    /// All of them, those for training first.
    pub(super) fn into_vec(self) -> Vec<Repository> {
        [self.training, self.validation, self.held_out].concat()
    }
}
