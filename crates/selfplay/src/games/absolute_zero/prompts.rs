//! What the policy is shown, and what an ideal response looks like. Called by the games for prompts and by the cli's
//! warm-up for supervised examples; names are values of the config key `format`.
//!
//! One file a format; each is in [`PROMPT_FORMATS`] under its file's name. The verifier has a format of the same name that
//! extracts attempts from responses; a test holds that it reads back what `answer_text` and `proposal_text` write.
//! Invariant: a solver prompt never contains what only the judge may see.

mod compact;
mod fenced;

pub use compact::solver_text_parts;

use veriplay_core::{Prompt, Proposal, Question, Role, TaskType};

use crate::registry::registry;

/// A request to a proposer.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposerRequest<'a> {
    /// The kind of task to invent.
    pub task_type: TaskType,
    /// Tasks of that kind to be different from; may be empty.
    pub references: Vec<&'a Question>,
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

    /// The text of a solver's prompt.
    fn solver_text(&self, question: &Question) -> String;

    /// The text of a proposer's prompt.
    fn proposer_text(&self, request: &ProposerRequest<'_>) -> String;

    /// The right response: the output, the witness input, or the reference program.
    fn answer_text(&self, question: &Question) -> String;

    /// The response that makes this proposal.
    fn proposal_text(&self, proposal: &Proposal) -> String;

    /// A solver's prompt.
    fn solver_prompt(&self, question: &Question) -> Prompt {
        Prompt { role: Role::Solver, task_type: Some(question.task_type()), text: self.solver_text(question) }
    }

    /// A proposer's prompt.
    fn proposer_prompt(&self, request: &ProposerRequest<'_>) -> Prompt {
        Prompt { role: Role::Proposer, task_type: Some(request.task_type), text: self.proposer_text(request) }
    }
}

registry! {
    /// Every prompt format.
    PROMPT_FORMATS: [PromptFormat] = [&compact::Compact, &fenced::Fenced]
}
