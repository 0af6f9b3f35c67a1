//! What an episode of either role works in: its goal, its files, its budget, and what its tools have done.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_core::{PromptContent, Role, TextFiles};
use veriplay_selfplay::multi_turn::{EpisodeEnd, EpisodeLimits, MultiTurn, Observation, TurnAction, Workspace};
use veriplay_selfplay::settings::{ConfigError, check_positive};
use veriplay_verifier::bugs::TestCommand;
use veriplay_verifier::bugs::tool_env::{CallEnd, DefaultTests, RepoToolCall, RepoToolOutcome};

use super::prompts::{AnsweredBug, RepairFormat, RepoBudgetLeft, RepoGoal, RepoResponse};

/// What an episode may use. There is no default: a config states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepoBudget {
    /// Responses. One that cannot be read, or is refused, counts.
    pub turns: usize,
    /// Wasm fuel of all its tools together.
    pub fuel: u64,
    /// Calls that run tests.
    pub test_runs: usize,
    /// Characters of a tool's result that are shown.
    pub shown_chars: usize,
    /// Maximum characters of a prompt. An episode whose next prompt would be longer is over.
    pub prompt_chars: usize,
}

impl RepoBudget {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Self { turns, fuel, shown_chars, prompt_chars, .. } = *self;
        check_positive(&[
            ("turns", turns as u64),
            ("fuel", fuel),
            ("shown_chars", shown_chars as u64),
            ("prompt_chars", prompt_chars as u64),
        ])
    }
}

/// What an episode is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The goal.
    pub goal: RepoGoal,
    /// Which of the game's repositories it is in.
    pub repository: usize,
    /// The text files before the first turn.
    pub tree: Arc<TextFiles>,
    /// What a run without names runs.
    pub suite: DefaultTests,
    /// Test functions that its policy is shown nothing of.
    pub hidden: BTreeSet<String>,
}

impl Assignment {
    /// The role that has it.
    pub const fn role(&self) -> Role {
        match self.goal {
            RepoGoal::Repair { .. } => Role::SOLVER,
            RepoGoal::Inject { .. } => Role::PROPOSER,
        }
    }
}

/// The end of an episode whose policy says that it is done.
pub const SUBMITTED: EpisodeEnd = EpisodeEnd::Finished("submitted");

/// An episode of either role.
pub type RepoEpisode = MultiTurn<RepoWorkspace>;

/// The files of an episode, and what its tools have done to them.
#[derive(Clone)]
pub struct RepoWorkspace {
    assignment: Arc<Assignment>,
    format: &'static dyn RepairFormat,
    budget: RepoBudget,
    tree: Arc<TextFiles>,
    calls: Vec<(&'static str, CallEnd)>,
    test_runs: usize,
    test_command: Option<TestCommand>,
}

impl RepoWorkspace {
    /// Begins an episode. `None` when the format cannot ask for it, or the first prompt is too long already.
    pub fn open(
        assignment: Arc<Assignment>,
        format: &'static dyn RepairFormat,
        examples: &[&AnsweredBug],
        budget: RepoBudget,
    ) -> Option<RepoEpisode> {
        if !format.can_ask(&assignment.goal) {
            return None;
        }
        let turns = if format.is_single_turn() { 1 } else { budget.turns };
        let tree = Arc::clone(&assignment.tree);
        let workspace = Self { assignment, format, budget, tree, calls: Vec::new(), test_runs: 0, test_command: None };
        let first = format.first_prompt(&workspace.assignment.goal, examples, workspace.budget_left(turns));
        MultiTurn::new(workspace, first, EpisodeLimits { turns, fuel: budget.fuel })
    }

    fn budget_left(&self, turns: usize) -> RepoBudgetLeft {
        let RepoBudget { test_runs, shown_chars, .. } = self.budget;
        RepoBudgetLeft { turns, test_runs: test_runs.saturating_sub(self.test_runs), shown_chars }
    }

    /// What the episode is about.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The text files as they are now.
    pub fn tree(&self) -> &TextFiles {
        &self.tree
    }

    /// The tools that were called, and how each call ended.
    pub fn calls(&self) -> &[(&'static str, CallEnd)] {
        &self.calls
    }

    /// The test command that its policy submitted.
    pub const fn test_command(&self) -> Option<&TestCommand> {
        self.test_command.as_ref()
    }

    /// Characters of a result that the policy is shown.
    pub const fn shown_chars(&self) -> usize {
        self.budget.shown_chars
    }

    /// The whole episode of a format without tools.
    fn replace(&mut self, source: &str) -> Result<TurnAction<RepoToolCall>, String> {
        let edited = self.assignment.goal.function().and_then(|function| {
            let text = function.replaced(self.tree.get(&function.path)?, source)?;
            Some((function.path.clone(), text))
        });
        let (path, text) = edited.ok_or_else(|| "there is no such place".to_owned())?;
        Arc::make_mut(&mut self.tree).insert(path, text);
        Ok(TurnAction::Finish(SUBMITTED.name()))
    }
}

impl Workspace for RepoWorkspace {
    type Call = RepoToolCall;
    type Outcome = RepoToolOutcome;

    const NOTHING_DONE: &'static str = "Nothing was done";

    fn role(&self) -> Role {
        self.assignment.role()
    }

    fn stop(&self) -> &'static [&'static str] {
        self.format.stop()
    }

    fn has_room(&self, prompt: &PromptContent) -> bool {
        prompt.to_string().chars().count() <= self.budget.prompt_chars
    }

    fn next_message(&self, shown: &str, turns_left: usize) -> String {
        self.format.next_message(shown, self.budget_left(turns_left))
    }

    fn parse_response(&mut self, response: &str, _turns_left: usize) -> Result<TurnAction<RepoToolCall>, String> {
        match self.format.parse_response(&self.assignment.goal, response)? {
            RepoResponse::Call(RepoToolCall::Run { .. }) if self.test_runs == self.budget.test_runs => {
                Ok(TurnAction::Nothing(format!("{}: no runs of tests are left.", Self::NOTHING_DONE)))
            }
            RepoResponse::Call(call) => Ok(TurnAction::Call(call)),
            RepoResponse::Submit(command) => {
                self.test_command = command;
                Ok(TurnAction::Finish(SUBMITTED.name()))
            }
            RepoResponse::Replace(source) => self.replace(&source),
        }
    }

    fn observe(&mut self, call: &RepoToolCall, outcome: &RepoToolOutcome) -> Observation {
        self.test_runs += usize::from(matches!(call, RepoToolCall::Run { .. }));
        self.calls.push((call.tool(), outcome.end));
        if let Some((path, text)) = &outcome.edited {
            let tree = Arc::make_mut(&mut self.tree);
            match text {
                Some(text) => tree.insert(path.clone(), text.clone()),
                None => tree.remove(path),
            };
        }
        Observation { shown: outcome.shown.clone(), fuel: outcome.evidence.fuel, end: None }
    }
}
