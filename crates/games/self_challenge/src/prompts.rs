//! How episodes are put into words and read back: one file a prompt format, each in [`PROMPT_FORMATS`] under its file's name.
//!
//! Invariant: a prompt holds what its [`ToolGoal`] says, what the environment says of itself, and what the policy itself wrote and was shown.

mod compact;
mod direct;
mod think;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, PromptContent, Role};
use veriplay_verifier::environments::{ChallengerResponse, CodeOutcome, EnvironmentDescription, ToolDescription};

use veriplay_selfplay::registry::registry;

pub use compact::{challenger_prompt, executor_prompt};

/// A request to a challenger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeRequest {
    /// The task gets this [`veriplay_core::CodeTask::task_id`].
    pub task_id: String,
    /// Name of the environment that it is about.
    pub environment: String,
    /// A tool that the task may be about, drawn by the game: where one turn must do, it stands for what exploring would find. The
    /// `think` format does not say it.
    pub tool: String,
}

/// The goal of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolGoal {
    /// Make a task.
    Challenge(ChallengeRequest),
    /// Do what the instruction says.
    Execute {
        /// The environment's name.
        environment: String,
        /// In words.
        instruction: String,
    },
}

impl ToolGoal {
    /// The role that has it.
    pub const fn role(&self) -> Role {
        match self {
            ToolGoal::Challenge(_) => Role::PROPOSER,
            ToolGoal::Execute { .. } => Role::SOLVER,
        }
    }

    /// Name of the environment that it is about.
    pub fn environment(&self) -> &str {
        match self {
            ToolGoal::Challenge(ChallengeRequest { environment, .. }) | ToolGoal::Execute { environment, .. } => {
                environment
            }
        }
    }
}

/// The rest of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolBudgetLeft {
    /// Turns.
    pub turns: usize,
    /// Characters of a turn's output that are shown.
    pub shown_chars: usize,
}

/// A named way to ask and to answer.
pub trait ChallengeFormat: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Whether an episode is one response, whatever its budget says. A challenger's is then a proposal without a verification function,
    /// which [`veriplay_verifier::environments::complete`] adds.
    fn is_single_turn(&self) -> bool;

    /// The prompt of an episode's first turn, which ends with a request. `examples` are tasks in the same environment, shown with their
    /// solutions by a format that shows any.
    fn first_prompt(
        &self,
        goal: &ToolGoal,
        about: &EnvironmentDescription,
        examples: &[&CodeTask],
        left: ToolBudgetLeft,
    ) -> PromptContent;

    /// The message that answers a response: what came of it, and what is left.
    fn next_message(&self, _goal: &ToolGoal, shown: &str, _left: ToolBudgetLeft) -> String {
        shown.to_owned()
    }

    /// Text that ends a response, where the model's end token alone does not.
    fn stop(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads a response without its end token: an executor's is code.
    ///
    /// # Errors
    /// Why nothing is done, for people and for the next prompt.
    fn parse_response(&self, goal: &ToolGoal, response: &str) -> Result<ChallengerResponse, String>;

    /// The response that runs this code.
    fn code_response(&self, code: &str) -> String;
}

registry! {
    /// Every prompt format.
    PROMPT_FORMATS: [ChallengeFormat] = [&compact::Compact, &direct::Direct, &think::Think]
}

/// What an environment says of itself, and its tools.
fn environment_text(about: &EnvironmentDescription) -> String {
    let tool = |tool: &ToolDescription| {
        let documentation = tool.documentation.replace('\n', "\n    ");
        format!("{}\n    {documentation}\n", tool.signature)
    };
    let tools: String = about.tools.iter().map(tool).collect();
    format!("The world:\n{}\n\nTools:\n{tools}", about.text)
}

/// What the policy sees of what became of its code, at most `chars` characters of each part.
pub(super) fn outcome_text(outcome: &CodeOutcome, chars: usize) -> String {
    let printed = outcome.stdout.trim_end();
    let mut parts = Vec::new();
    if !printed.is_empty() {
        parts.push(format!("Output:\n{}", veriplay_verifier::truncate_output(printed, chars)));
    }
    if let Some((status, detail)) = &outcome.failure {
        let word = if outcome.calls.is_empty() { format!("{status:?}: ") } else { String::new() };
        parts.push(format!(
            "The code did not come to its end: {word}{}",
            veriplay_verifier::truncate_output(detail, chars)
        ));
    }
    if parts.is_empty() { "The code printed nothing.".to_owned() } else { parts.join("\n") }
}
