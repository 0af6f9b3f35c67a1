//! Bugs with their repairs, which prompts show: training bugs that are in one function, the first one of each function.

use std::collections::BTreeSet;

use veriplay_core::Execute;
use veriplay_selfplay::play::PlayError;
use veriplay_verifier::bugs::tool_env::{FunctionSource, SolverView, ViewRequest, solver_view};

use super::BugRepair;
use super::prompts::{AnsweredBug, RepoGoal};

/// An example, and where it is.
pub(super) struct PlacedExample {
    repository: usize,
    function: FunctionSource,
    bug: AnsweredBug,
}

impl PlacedExample {
    fn is_in(&self, repository: usize, function: &FunctionSource) -> bool {
        self.repository == repository && self.function.path == function.path && self.function.name == function.name
    }
}

impl BugRepair {
    /// Finds the answered examples of prompts, as many as [`veriplay_selfplay::settings::SharedSettings::examples`] needs.
    ///
    /// # Errors
    /// Too few training bugs in functions of their own, or a host fault.
    pub fn with_examples(mut self, execute: &dyn Execute) -> Result<Self, PlayError> {
        let count = self.base.settings.example_count();
        let mut found: Vec<PlacedExample> = Vec::new();
        for task in &self.training {
            if found.len() == count {
                break;
            }
            let Some(repository) = self.repository_of(&task.package) else { continue };
            let (repo, artifact) =
                (self.repositories[repository].context(), task.artifact(&self.repositories[repository]));
            let request =
                ViewRequest { repo: &repo, artifact: &artifact, hidden: &BTreeSet::new(), with_function: true };
            let SolverView { spec, function: Some((right, wrong)), .. } = solver_view(execute, &request)? else {
                continue;
            };
            if found.iter().any(|one| one.is_in(repository, &right) || one.bug.right == right.source) {
                continue;
            }
            let bug = AnsweredBug { spec: spec.to_string(), wrong: wrong.source, right: right.source.clone() };
            if self.format.can_ask(&RepoGoal::Repair { spec: bug.spec.clone(), function: Some(right.clone()) }) {
                found.push(PlacedExample { repository, function: right, bug });
            }
        }
        self.base.settings.check_examples(found.len(), "functions with a training bug")?;
        self.examples = found;
        Ok(self)
    }

    /// The examples of a prompt. Another bug of its own function would show what the function is without its bug.
    pub(super) fn examples_beside(&self, repository: usize, goal: &RepoGoal) -> Vec<&AnsweredBug> {
        let function = goal.function();
        let shows_it = |one: &&PlacedExample| {
            function.is_some_and(|function| one.is_in(repository, function) || one.bug.right == function.source)
        };
        let others = self.examples.iter().filter(|one| !shows_it(one));
        others.map(|one| &one.bug).take(self.base.settings.examples).collect()
    }
}
