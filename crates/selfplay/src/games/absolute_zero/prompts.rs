//! What the policy is shown, and what an ideal response looks like. Called by the games for prompts and by the cli's
//! warm-up for supervised examples; names are values of the config key `format`.
//!
//! One file a format; each is in [`PROMPT_FORMATS`] under its file's name. The verifier has a format of the same name that
//! extracts attempts from responses; a test holds that it reads back what `answer_text` and `proposal_text` write.
//! Invariant: a solver prompt never contains what only the judge may see.

mod compact;
mod fenced;

use veriplay_core::{Prompt, Proposal, Role, Task, TaskType};

/// What a proposer is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposerRequest<'a> {
    /// The kind of task to invent.
    pub task_type: TaskType,
    /// Tasks of that kind to be different from; may be empty.
    pub references: Vec<&'a Task>,
    /// The program to find inputs for: `Some` exactly for induction.
    pub given: Option<&'a str>,
    /// How many inputs an induction proposal must have.
    pub inputs: usize,
}

impl ProposerRequest<'_> {
    /// The given program; empty where a caller broke the rule on [`ProposerRequest::given`].
    fn given_program(&self) -> &str {
        self.given.unwrap_or_default()
    }
}

/// A named way to write prompts and ideal responses.
pub trait PromptFormat: Sync {
    /// Its name in the config; the verifier's format of this name reads the responses.
    fn name(&self) -> &'static str;

    /// The text that asks a solver for `task`.
    fn solver_text(&self, task: &Task) -> String;

    /// The text that asks a proposer for a task.
    fn proposer_text(&self, request: &ProposerRequest<'_>) -> String;

    /// The response that solves `task`: its output, its witness input, or its reference program.
    fn answer_text(&self, task: &Task) -> String;

    /// The response that makes this proposal.
    fn proposal_text(&self, proposal: &Proposal) -> String;

    /// The prompt that asks a solver for `task`.
    fn solver_prompt(&self, task: &Task) -> Prompt {
        Prompt::new(Role::Solver, self.solver_text(task)).with_task_type(task.question.task_type())
    }

    /// The prompt that asks a proposer for a task.
    fn proposer_prompt(&self, request: &ProposerRequest<'_>) -> Prompt {
        Prompt::new(Role::Proposer, self.proposer_text(request)).with_task_type(request.task_type)
    }
}

/// Every prompt format.
pub const PROMPT_FORMATS: &[&dyn PromptFormat] = &[&compact::Compact, &fenced::Fenced];

/// The format of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn PromptFormat> {
    PROMPT_FORMATS.iter().copied().find(|format| format.name() == name)
}

/// All names, in the order of [`PROMPT_FORMATS`].
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROMPT_FORMATS.iter().map(|format| format.name()).collect()
}
