//! Checks that no repository and no bug of training holds what the policy is evaluated on.

use veriplay_core::TextFiles;
use veriplay_selfplay::environment::JudgedProposalOf;
use veriplay_selfplay::splits::Overlap;
use veriplay_verifier::bugs::BugProposal;

use super::BugRepair;
use super::mutation::judgement;

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
