//! A bug as the pool keeps it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, SCHEMA_VERSION, content_hash};
use veriplay_selfplay::task_pool::{PoolTask, Source};
use veriplay_verifier::bugs::{BugArtifact, BugProposal, INJECTORS, InjectorFamily};

use super::repositories::Repository;

/// The one kind of task.
pub(super) const KIND: &str = "bug";

/// A validated bug, without what its repository says already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugTask {
    /// As [`BugArtifact::task_id`].
    pub task_id: String,
    /// The repository's layer.
    pub package: Digest,
    /// What was proposed.
    pub bug: BugProposal,
    /// Tests that fail with it.
    pub fail_to_pass: Vec<String>,
}

/// Who made a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BugOrigin {
    /// Somebody before the run: it is of the training set.
    Training,
    /// An operator.
    Mutant,
    /// The model.
    Model,
    /// A failed repair.
    HigherOrder,
}

impl BugTask {
    /// The artifact in its repository: the other tests of the map pass with the bug.
    pub fn artifact(&self, repository: &Repository) -> BugArtifact {
        let failing: BTreeSet<&String> = self.fail_to_pass.iter().collect();
        BugArtifact {
            schema_version: SCHEMA_VERSION,
            task_id: self.task_id.clone(),
            name: repository.baseline.name.clone(),
            version: repository.baseline.version.clone(),
            package: self.package.clone(),
            bug: self.bug.clone(),
            fail_to_pass: self.fail_to_pass.clone(),
            pass_to_pass: repository.map.tests().filter(|id| !failing.contains(id)).cloned().collect(),
        }
    }

    /// Who made it, if it came from there.
    pub fn maker(&self, source: Source) -> BugOrigin {
        match source {
            Source::Seed => BugOrigin::Training,
            Source::Fresh | Source::Pool if self.is_higher_order() => BugOrigin::HigherOrder,
            Source::Fresh | Source::Pool if self.is_of_model() => BugOrigin::Model,
            Source::Fresh | Source::Pool => BugOrigin::Mutant,
        }
    }

    /// Whether it is made of failed repairs.
    pub fn is_higher_order(&self) -> bool {
        self.bug.order() > 1
    }

    /// Whether an injector's episode made it.
    pub fn is_of_model(&self) -> bool {
        self.bug.injector.starts_with("model_")
    }

    /// The family of its maker: `swe_smith` and `classic` are operators', `model` is a model's, `other` anybody else's.
    pub fn family(&self) -> &'static str {
        match INJECTORS.iter().find(|found| found.name == self.bug.injector).map(|found| found.family) {
            Some(InjectorFamily::SweSmith) => "swe_smith",
            Some(InjectorFamily::Classic) => "classic",
            None if self.is_of_model() => "model",
            None => "other",
        }
    }
}

impl From<&BugArtifact> for BugTask {
    fn from(artifact: &BugArtifact) -> Self {
        Self {
            task_id: artifact.task_id.clone(),
            package: artifact.package.clone(),
            bug: artifact.bug.clone(),
            fail_to_pass: artifact.fail_to_pass.clone(),
        }
    }
}

impl PoolTask for BugTask {
    fn id(&self) -> Digest {
        content_hash(self)
    }

    /// Names what it changes, whatever its origin and however its tests were weakened.
    fn key(&self) -> Digest {
        change_digest(&self.package, &self.bug)
    }

    fn kind(&self) -> &'static str {
        KIND
    }
}

/// Names what a bug changes.
pub(super) fn change_digest(package: &Digest, bug: &BugProposal) -> Digest {
    content_hash(&(package, &bug.bug_inject, &bug.failed_repairs))
}
