//! Where bugs are: repositories as the cli loads them, owned; and that none that trains, nor a bug in it, holds what the policy is evaluated on.

use std::collections::BTreeSet;

use veriplay_core::{Digest, Limits, TextFiles, Trust};
use veriplay_selfplay::environment::JudgedProposalOf;
use veriplay_selfplay::splits::{EvalSet, Guard, Overlap};
use veriplay_verifier::bugs::{BugProposal, PastChange, RepoContext, TestMap};
use veriplay_verifier::repository::Baseline;

use super::BugRepair;
use super::mutation::judgement;

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

    /// The paths of these files.
    pub(super) fn code_paths(&self) -> BTreeSet<&str> {
        self.code_files().map(|(path, _)| path).collect()
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

impl BugRepair {
    /// Checks training repositories and the functions of their code.
    pub(super) fn check_repositories(&self) -> Result<(), Overlap> {
        for repository in self.training_repositories() {
            let item = format!("repository `{}`", repository.baseline.name);
            self.base.guard.check_repository("`repositories.training`", &item, repository.package())?;
            for (path, text) in repository.code_files() {
                let item = format!("`{path}` of {item}");
                self.base.guard.check_program("`repositories.training`", &item, text)?;
            }
        }
        Ok(())
    }

    /// No training bug turns a function into one that the policy is evaluated on.
    pub(super) fn check_training_bugs(&self) -> Result<(), Overlap> {
        for bug in &self.training {
            let Some(repository) = self.repository_of(&bug.package) else { continue };
            for text in self.changed(repository, &self.buggy(repository, &bug.bug)) {
                self.base.guard.check_program("`bugs.training`", &format!("bug `{}`", bug.task_id), text)?;
            }
        }
        Ok(())
    }

    /// The verdict on a tree that holds an evaluation function where the original holds another; `None` for any other tree.
    pub(super) fn refuse_held_out(&self, repository: usize, now: &TextFiles) -> Option<JudgedProposalOf<Self>> {
        let verdict = self.base.guard.refuse_programs(self.changed(repository, now))?;
        Some(judgement(Ok(verdict), None))
    }

    /// The original with a bug and the failed repairs on it; as far as its patches apply, which the checks ask for.
    pub(super) fn buggy(&self, repository: usize, bug: &BugProposal) -> TextFiles {
        let original = TextFiles::clone(&self.originals[repository]);
        let patches = std::iter::once(&bug.bug_inject).chain(&bug.failed_repairs);
        patches.fold(original, |files, patch| patch.apply(&files).unwrap_or(files))
    }

    /// The texts of files that are not as in the original.
    fn changed<'a>(&self, repository: usize, now: &'a TextFiles) -> Vec<&'a str> {
        let original = &self.originals[repository];
        let changed = now.iter().filter(|(path, text)| original.get(*path) != Some(text));
        changed.map(|(_, text)| text.as_str()).collect()
    }
}
