//! What the game carries from step to step, and saves: the bugs that were made, and what came of all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, content_hash};
use veriplay_verifier::bugs::{BugArtifact, BugProposal};

use super::place::Place;
use crate::advantages::AdvantageMemory;
use crate::anchors::Anchor;
use crate::metrics::SolveCount;

/// A validated bug, without what its repository says already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// As [`BugArtifact::task_id`].
    pub task_id: String,
    /// The repository's layer.
    pub package: Digest,
    /// What was proposed.
    pub bug: BugProposal,
    /// Tests that fail with it.
    pub fail_to_pass: Vec<String>,
}

impl Kept {
    /// The artifact in its repository: the other tests of the map pass with the bug.
    #[must_use]
    pub fn artifact(&self, place: &Place) -> BugArtifact {
        let failing: BTreeSet<&String> = self.fail_to_pass.iter().collect();
        BugArtifact {
            schema_version: BugArtifact::SCHEMA_VERSION,
            task_id: self.task_id.clone(),
            name: place.baseline.name.clone(),
            version: place.baseline.version.clone(),
            package: self.package.clone(),
            bug: self.bug.clone(),
            fail_to_pass: self.fail_to_pass.clone(),
            pass_to_pass: place.map.tests().filter(|id| !failing.contains(id)).cloned().collect(),
        }
    }

    /// Names the bug by what it changes, whoever made it and however its tests were weakened.
    #[must_use]
    pub fn code_digest(&self) -> Digest {
        code_digest(&self.package, &self.bug)
    }
}

impl From<&BugArtifact> for Kept {
    fn from(artifact: &BugArtifact) -> Self {
        Self {
            task_id: artifact.task_id.clone(),
            package: artifact.package.clone(),
            bug: artifact.bug.clone(),
            fail_to_pass: artifact.fail_to_pass.clone(),
        }
    }
}

/// As [`Kept::code_digest`].
pub(super) fn code_digest(package: &Digest, bug: &BugProposal) -> Digest {
    content_hash(&(package, &bug.bug_inject, &bug.failed_repairs))
}

/// Where a bug comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The training set that the game was set up with.
    Training,
    /// An operator.
    Mutant,
    /// The model.
    Model,
    /// A failed repair.
    HigherOrder,
}

/// One bug of the buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The bug.
    pub bug: Kept,
    /// Where it comes from; never [`Source::Training`].
    pub source: Source,
    /// The step that admitted it.
    pub step: u64,
    /// What came of its last turn, if it had one.
    pub last: Option<SolveCount>,
}

/// The bugs made so far, the last solve rates, and the anchor set. Holds no floating point number, so JSON gives it back exactly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameState {
    /// Oldest first; no two change the same.
    entries: Vec<Entry>,
    /// Last solve counts of the training set, by task id.
    training: BTreeMap<String, SolveCount>,
    anchors: Vec<Anchor>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    memory: AdvantageMemory,
}

impl GameState {
    /// The buffer, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The responses that are imitated.
    #[must_use]
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// The last solve count of a bug.
    #[must_use]
    pub fn last(&self, task_id: &str) -> Option<SolveCount> {
        let entry = self.entries.iter().find(|entry| entry.bug.task_id == task_id);
        self.training.get(task_id).copied().or_else(|| entry?.last)
    }

    pub(super) const fn memory_mut(&mut self) -> &mut AdvantageMemory {
        &mut self.memory
    }

    pub(super) fn add_anchors(&mut self, anchors: impl IntoIterator<Item = Anchor>) {
        self.anchors.extend(anchors);
    }

    /// Adds a bug that is known to be new, and forgets the oldest beyond `capacity`.
    pub(super) fn admit(&mut self, bug: Kept, source: Source, step: u64, capacity: usize) {
        self.entries.push(Entry { bug, source, step, last: None });
        let excess = self.entries.len().saturating_sub(capacity);
        self.entries.drain(..excess);
    }

    /// Forgets the bugs that `wanted` does not hold of.
    pub(super) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.entries.retain(|entry| wanted(&entry.bug.task_id));
    }

    /// Notes what came of a turn on a bug, if it is still here.
    pub(super) fn note(&mut self, source: Source, task_id: &str, count: SolveCount) {
        if source == Source::Training {
            self.training.insert(task_id.to_owned(), count);
        } else if let Some(entry) = self.entries.iter_mut().find(|entry| entry.bug.task_id == task_id) {
            entry.last = Some(count);
        }
    }
}
