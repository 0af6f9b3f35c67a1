//! What the game carries from step to step, and saves: the tasks that challengers made, and what came of all tasks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Digest, content_hash, program_hash};

use crate::advantages::AdvantageMemory;
use crate::anchors::Anchor;
use crate::metrics::SolveCount;

/// One task of the buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The task.
    pub task: CodeTask,
    /// The step that admitted it.
    pub step: u64,
    /// What came of its last turn, if it had one.
    pub last: Option<SolveCount>,
}

/// The tasks made so far, the last solve rates, and the anchor set. Holds no floating point number beside the estimator's memory, so JSON
/// gives it back exactly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameState {
    /// Oldest first; no two with one solution.
    entries: Vec<Entry>,
    /// Last solve counts of the given tasks, by task id.
    given: BTreeMap<String, SolveCount>,
    anchors: Vec<Anchor>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    memory: AdvantageMemory,
}

/// Names what a task asks for: tasks of one environment whose solutions are one program are one task.
pub(super) fn solution_digest(task: &CodeTask) -> Digest {
    content_hash(&(&task.environment, program_hash(&task.solution)))
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

    /// The last solve count of a given task.
    pub(super) fn last_given(&self, task_id: &str) -> Option<SolveCount> {
        self.given.get(task_id).copied()
    }

    pub(super) const fn memory_mut(&mut self) -> &mut AdvantageMemory {
        &mut self.memory
    }

    pub(super) fn add_anchors(&mut self, anchors: impl IntoIterator<Item = Anchor>) {
        self.anchors.extend(anchors);
    }

    /// Adds a task that is known to be new, and forgets the oldest beyond `capacity`.
    pub(super) fn admit(&mut self, task: CodeTask, step: u64, capacity: usize) {
        self.entries.push(Entry { task, step, last: None });
        let excess = self.entries.len().saturating_sub(capacity);
        self.entries.drain(..excess);
    }

    /// Notes what came of a turn on a given task.
    pub(super) fn note_given(&mut self, task_id: &str, count: SolveCount) {
        self.given.insert(task_id.to_owned(), count);
    }

    /// The same of a task of the buffer, if it is still here; it leaves when nobody did it and that is what the config says.
    pub(super) fn note_made(&mut self, task_id: &str, count: SolveCount, drop_unsolved: bool) {
        if drop_unsolved && count.solved == 0 {
            self.entries.retain(|entry| entry.task.task_id != task_id);
        } else if let Some(entry) = self.entries.iter_mut().find(|entry| entry.task.task_id == task_id) {
            entry.last = Some(count);
        }
    }
}
