//! How episodes are put into words and read back: one file a prompt format, each in [`PROMPT_FORMATS`] under its file's name.
//!
//! Invariant: a prompt holds what its [`RepoGoal`] says and what the policy itself wrote and was shown, and nothing else.

mod compact;
mod direct;
mod think;

use serde::{Deserialize, Serialize};
use veriplay_core::PromptContent;
use veriplay_verifier::bugs::tool_env::{FunctionSource, RepoToolCall};
use veriplay_verifier::bugs::{PastChange, TestCommand};

use veriplay_selfplay::registry::registry;

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
    /// It undoes a past change of the repository, or a part of it, and changes what is left only so that it still runs. The paper mixes this
    /// with removal.
    History,
}

impl InjectionMode {
    /// All of them, in the order of reports.
    pub const ALL: [InjectionMode; 4] =
        [InjectionMode::Direct, InjectionMode::Removal, InjectionMode::Rewrite, InjectionMode::History];

    /// Its name in configs.
    pub const fn name(self) -> &'static str {
        match self {
            InjectionMode::Direct => "direct",
            InjectionMode::Removal => "removal",
            InjectionMode::Rewrite => "rewrite",
            InjectionMode::History => "history",
        }
    }

    /// [`veriplay_verifier::bugs::BugProposal::injector`] of its bugs.
    pub(super) const fn injector(self) -> &'static str {
        match self {
            InjectionMode::Direct => "model_direct",
            InjectionMode::Removal => "model_removal",
            InjectionMode::Rewrite => "model_rewrite",
            InjectionMode::History => "model_history",
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
        /// In [`InjectionMode::History`] the change to undo, which changed the function.
        past: Option<PastChange>,
        /// Whether the injector says how the tests are run, when it submits.
        names_command: bool,
    },
}

impl RepoGoal {
    /// The function that it is about, where it is one.
    pub const fn function(&self) -> Option<&FunctionSource> {
        match self {
            RepoGoal::Repair { function, .. } => function.as_ref(),
            RepoGoal::Inject { function, .. } => Some(function),
        }
    }
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
    /// Nothing more: it is done. An injector that is asked for a test command gives it here.
    Submit(Option<TestCommand>),
    /// Put this in the place of the goal's function, and nothing more.
    Replace(String),
}

/// A bug in one function with its repair, which prompts show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredBug {
    /// The specification, as [`RepoGoal::Repair`] has it.
    pub spec: String,
    /// The function with the bug.
    pub wrong: String,
    /// The function without.
    pub right: String,
}

/// A named way to ask and to answer.
pub trait RepairFormat: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Whether an episode is one response, whatever its budget says.
    fn is_single_turn(&self) -> bool;

    /// Whether it can ask for this.
    fn can_ask(&self, goal: &RepoGoal) -> bool;

    /// The prompt of an episode's first turn, which ends with a request. `examples` are shown by a format that shows any.
    fn first_prompt(&self, goal: &RepoGoal, examples: &[&AnsweredBug], left: RepoBudgetLeft) -> PromptContent;

    /// The message that answers a response: what came of it, and what is left.
    fn next_message(&self, shown: &str, _left: RepoBudgetLeft) -> String {
        shown.to_owned()
    }

    /// Text that ends a response, where the model's end token alone does not.
    fn stop(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads a response without its end token.
    ///
    /// # Errors
    /// Why nothing is done, for people and for the next prompt.
    fn parse_response(&self, goal: &RepoGoal, response: &str) -> Result<RepoResponse, String>;
}

registry! {
    /// Every prompt format.
    PROMPT_FORMATS: [RepairFormat] = [&compact::Compact, &direct::Direct, &think::Think]
}

/// Lines of tests that a prompt of one function holds at most.
const TEST_LINES: usize = 4;

/// The assertions that a patch adds, or all lines it adds when there are none.
fn test_lines(spec: &str) -> Vec<&str> {
    let added = spec.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    let added: Vec<&str> = added.map(|line| line[1..].trim()).filter(|line| !line.is_empty()).collect();
    let is_assertion = |line: &&&str| line.starts_with("assert") || line.starts_with("self.assert");
    let mut lines: Vec<&str> = added.iter().filter(is_assertion).copied().collect();
    if lines.is_empty() {
        lines = added;
    }
    lines.truncate(TEST_LINES);
    lines
}
