//! What goes out of the game to be generated, and what comes back judged. Called by the cli, which fills the records.

use veriplay_core::{Attempt, Dropped, Judged, Prompt, Rollout, Task, TaskType, Verdict};

/// A prompt for the proposer.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposerTurn {
    /// The kind of task it asks for.
    pub task_type: TaskType,
    /// The prompt.
    pub prompt: Prompt,
    /// The program an induction proposer is given; the extractor needs it.
    pub given: Option<String>,
    /// How many rollouts to draw.
    pub rollouts: usize,
}

/// One rollout of the proposer, extracted and judged. In the order of the turns, then of their rollouts.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalRecord {
    /// Index into the step's proposer turns.
    pub turn: usize,
    /// The kind of task that was asked for.
    pub task_type: TaskType,
    /// What the policy generated.
    pub rollout: Rollout,
    /// What was extracted.
    pub attempt: Attempt,
    /// What [`super::AbsoluteZero::known`] said of it.
    pub known: bool,
    /// The verdict, and the task it became.
    pub judged: Result<Judged, Dropped>,
}

/// Where a solver task comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This step's proposal.
    Fresh {
        /// Index into the step's proposal records.
        proposal: usize,
    },
    /// The buffer of its type.
    Buffer {
        /// Whether it is a seed.
        seed: bool,
    },
}

/// A prompt for the solver; [`super::GameConfig::group`] rollouts are drawn for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverTurn {
    /// The task.
    pub task: Task,
    /// The prompt.
    pub prompt: Prompt,
    /// Where the task comes from.
    pub origin: Origin,
}

impl SolverTurn {
    /// The kind of its task.
    #[must_use]
    pub const fn task_type(&self) -> TaskType {
        self.task.question.task_type()
    }
}

/// One rollout of the solver, extracted and judged. In the order of the turns, then of their rollouts.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverRecord {
    /// Index into the step's solver turns.
    pub turn: usize,
    /// What the policy generated.
    pub rollout: Rollout,
    /// What was extracted.
    pub attempt: Attempt,
    /// The verdict.
    pub judged: Result<Verdict, Dropped>,
}
