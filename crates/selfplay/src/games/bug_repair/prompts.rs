//! How episodes are put into words and read back: one file a prompt format, each in [`PROMPT_FORMATS`] under its file's name.
//!
//! Invariant: a prompt holds what its [`RepoGoal`] says and what the policy itself wrote and was shown, and nothing else.

mod compact;
mod think;

use serde::{Deserialize, Serialize};
use veriplay_verifier::bugs::tool_env::{FunctionSource, RepoToolCall};

use crate::multi_turn::Turn;
use crate::registry::registry;

pub use compact::{BUG, CODE, FIX, INJECT, TEST, injection_prompt, repair_prompt};

/// How a model makes a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectionMode {
    /// It changes code as it likes. The paper's naive way, which tends to one-line edits.
    Direct,
    /// It takes code out, and changes what is left only so that it still runs: more lines go than come.
    Removal,
    /// It gets the repository with one function's body taken out, and writes that anew. It never sees the original's.
    Rewrite,
}

impl InjectionMode {
    /// All of them, in the order of reports.
    pub const ALL: [InjectionMode; 3] = [InjectionMode::Direct, InjectionMode::Removal, InjectionMode::Rewrite];

    /// Its name in configs.
    pub const fn name(self) -> &'static str {
        match self {
            InjectionMode::Direct => "direct",
            InjectionMode::Removal => "removal",
            InjectionMode::Rewrite => "rewrite",
        }
    }

    /// [`veriplay_verifier::bugs::BugProposal::injector`] of its bugs.
    pub(super) const fn injector(self) -> &'static str {
        match self {
            InjectionMode::Direct => "model_direct",
            InjectionMode::Removal => "model_removal",
            InjectionMode::Rewrite => "model_rewrite",
        }
    }
}

/// The goal of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoGoal {
    /// Repair a bug.
    Repair {
        /// The weakening reversed, as a unified diff: the specification.
        spec: String,
        /// The one function that the bug is in; `None` when it is in more, or elsewhere.
        function: Option<FunctionSource>,
    },
    /// Make a bug.
    Inject {
        /// How.
        mode: InjectionMode,
        /// Where to begin; in [`InjectionMode::Rewrite`] the function whose body is gone. Its text is the original's, which a prompt of that
        /// mode must not show.
        function: FunctionSource,
    },
}

/// The rest of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoBudgetLeft {
    /// Turns.
    pub turns: usize,
    /// Runs of tests.
    pub test_runs: usize,
    /// Characters of a result that are shown.
    pub shown_chars: usize,
}

/// A parsed response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoResponse {
    /// Call this tool.
    Call(RepoToolCall),
    /// Nothing more: it is done.
    Submit,
    /// Put this in the place of the goal's function, and nothing more.
    Replace(String),
}

/// A named way to ask and to answer.
pub trait RepairFormat: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Whether an episode is one response, whatever its budget says.
    fn is_single_turn(&self) -> bool;

    /// Whether it can ask for this.
    fn can_ask(&self, goal: &RepoGoal) -> bool;

    /// The prompt of an episode's next turn.
    fn prompt_text(&self, goal: &RepoGoal, turns: &[Turn], left: RepoBudgetLeft) -> String;

    /// Reads a response without its end token.
    ///
    /// # Errors
    /// Why nothing is done, for people and for the next prompt.
    fn parse_response(&self, goal: &RepoGoal, response: &str) -> Result<RepoResponse, String>;
}

registry! {
    /// Every prompt format.
    PROMPT_FORMATS: [RepairFormat] = [&compact::Compact, &think::Think]
}
