//! What the game carries from step to step, and saves. Called by the cli, which stores it with each checkpoint.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Attempt, Digest, Proposal, Question, Task, TaskType, Value, content_hash, program_hash};

use super::buffer::{Buffer, Entry};
use crate::advantages::AdvantageMemory;
use crate::anchors::Anchor;

/// The buffers with their last solve rates, and the anchor set. Holds no floating point
/// number, so JSON gives it back exactly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameState {
    deduction: Buffer,
    abduction: Buffer,
    induction: Buffer,
    anchors: Vec<Anchor>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    memory: AdvantageMemory,
}

impl GameState {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The buffer of one task type.
    #[must_use]
    pub const fn buffer(&self, task_type: TaskType) -> &Buffer {
        match task_type {
            TaskType::Deduction => &self.deduction,
            TaskType::Abduction => &self.abduction,
            TaskType::Induction => &self.induction,
        }
    }

    pub(super) const fn buffer_mut(&mut self, task_type: TaskType) -> &mut Buffer {
        match task_type {
            TaskType::Deduction => &mut self.deduction,
            TaskType::Abduction => &mut self.abduction,
            TaskType::Induction => &mut self.induction,
        }
    }

    /// Adds seed tasks to the buffers of their types; those that are there already are left out.
    pub fn add_seeds(&mut self, tasks: impl IntoIterator<Item = Task>) {
        let tasks: Vec<Task> = tasks.into_iter().collect();
        for task_type in TaskType::ALL {
            let of_type = tasks.iter().filter(|task| task.question.task_type() == task_type).cloned();
            // Seeds do not count against the capacity, so admitting them evicts nothing.
            self.buffer_mut(task_type).admit(of_type, true, 0, usize::MAX);
        }
    }

    /// Adds responses to imitate.
    pub fn add_anchors(&mut self, anchors: impl IntoIterator<Item = Anchor>) {
        self.anchors.extend(anchors);
    }

    /// The responses that are imitated.
    #[must_use]
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// What the advantage estimator remembers.
    #[must_use]
    pub const fn memory(&self) -> &AdvantageMemory {
        &self.memory
    }

    pub(super) const fn memory_mut(&mut self) -> &mut AdvantageMemory {
        &mut self.memory
    }

    /// Which attempts are proposals that are known already: in a buffer, or earlier in this batch.
    /// One answer for each attempt, in order; what is no proposal is not known.
    pub(super) fn known<'a>(&self, attempts: impl IntoIterator<Item = &'a Attempt>) -> Vec<bool> {
        let buffers = [&self.deduction, &self.abduction, &self.induction];
        let entries = buffers.into_iter().flat_map(Buffer::entries);
        let mut seen: HashSet<Digest> = entries.map(|entry: &Entry| entry.digest.clone()).collect();
        let mut is_known = |attempt: &Attempt| match attempt {
            Attempt::Proposal(proposal) => !seen.insert(proposal_digest(proposal)),
            _ => false,
        };
        attempts.into_iter().map(&mut is_known).collect()
    }
}

/// Names a proposal by its task type, the [`program_hash`] of its program, and its inputs. Two proposals that differ in
/// layout, comments or message alone have the same digest.
#[must_use]
pub fn proposal_digest(proposal: &Proposal) -> Digest {
    match proposal {
        Proposal::Triplet { task_type, program, input } => digest(*task_type, program, &[input]),
        Proposal::Inputs { program, inputs, .. } => {
            digest(TaskType::Induction, program, &inputs.iter().collect::<Vec<_>>())
        }
    }
}

/// [`proposal_digest`] of the proposal that makes `task`.
pub(super) fn task_digest(task: &Task) -> Digest {
    match &task.question {
        Question::Deduction { program, pair } => digest(TaskType::Deduction, program, &[&pair.input]),
        Question::Abduction { program, pair } => digest(TaskType::Abduction, program, &[&pair.input]),
        Question::Induction { visible, hidden, reference, .. } => {
            let inputs: Vec<&Vec<Value>> = visible.iter().chain(hidden).map(|pair| &pair.input).collect();
            digest(TaskType::Induction, reference, &inputs)
        }
    }
}

fn digest(task_type: TaskType, program: &str, inputs: &[&Vec<Value>]) -> Digest {
    content_hash(&(task_type, program_hash(program), inputs))
}
