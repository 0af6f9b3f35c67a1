//! The tasks of one type that the solver may be asked again and the proposer is shown. Called by the state and the turns.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Task};

use super::state::task_digest;
use crate::metrics::SolveCount;

/// One task in a buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The task's id, kept because hashing it again costs.
    pub id: Digest,
    /// [`super::proposal_digest`] of the proposal that makes this task.
    pub digest: Digest,
    /// The task.
    pub task: Task,
    /// Whether it is a seed: seeds are never lost.
    pub seed: bool,
    /// The step that admitted it.
    pub step: u64,
    /// What came of its last turn, if it had one.
    pub last: Option<SolveCount>,
}

/// Tasks of one type, oldest first; no two with the same id or the same proposal digest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buffer {
    entries: Vec<Entry>,
}

impl Buffer {
    /// Its entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds what is new of `tasks`, and then forgets the oldest accepted proposals beyond `capacity`.
    pub(super) fn admit(&mut self, tasks: impl IntoIterator<Item = Task>, seed: bool, step: u64, capacity: usize) {
        let mut ids: BTreeSet<Digest> = self.entries.iter().map(|entry| entry.id.clone()).collect();
        let mut digests: BTreeSet<Digest> = self.entries.iter().map(|entry| entry.digest.clone()).collect();
        for task in tasks {
            let (id, digest) = (task.id(), task_digest(&task));
            if !ids.contains(&id) && digests.insert(digest.clone()) {
                ids.insert(id.clone());
                self.entries.push(Entry { id, digest, task, seed, step, last: None });
            }
        }
        self.evict(capacity);
    }

    fn evict(&mut self, capacity: usize) {
        let accepted = self.entries.iter().filter(|entry| !entry.seed).count();
        let mut excess = accepted.saturating_sub(capacity);
        self.entries.retain(|entry| {
            let evicted = !entry.seed && excess > 0;
            excess -= usize::from(evicted);
            !evicted
        });
    }

    /// Notes what came of a turn on the task with this id, if it is still here.
    pub(super) fn note(&mut self, id: &Digest, count: SolveCount) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == *id) {
            entry.last = Some(count);
        }
    }
}
