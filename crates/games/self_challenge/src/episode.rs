//! What an episode of either role works in: its goal, its budget, and the calls that have changed its environment.

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Role, ToolCall, Value};
use veriplay_selfplay::multi_turn::{EpisodeEnd, EpisodeLimits, MultiTurn, Observation, TurnAction, Workspace};
use veriplay_selfplay::settings::{ConfigError, check_counts, check_positive};
use veriplay_verifier::environments::{ChallengerResponse, CodeOutcome, EnvironmentDescription};

use super::prompts::{ChallengeFormat, ToolBudgetLeft, ToolGoal, outcome_text};

/// What an episode may use. There is no default: a config states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolBudget {
    /// Turns in which a challenger may explore. It has one more, to propose.
    pub explore_turns: usize,
    /// Turns in which a challenger must have called tools before it may propose. Formats of one turn ignore it. Absent means none.
    #[serde(default)]
    pub min_explore_turns: usize,
    /// Turns of an executor.
    pub executor_turns: usize,
    /// Wasm fuel of all turns' code together, the environment's share included.
    pub fuel: u64,
    /// Characters of a turn's output that the next prompt shows.
    pub shown_chars: usize,
}

impl ToolBudget {
    /// Checks what types cannot. Call it once, where the budget is read.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { explore_turns, min_explore_turns, executor_turns, fuel, shown_chars } = *self;
        check_counts(&[("min_explore_turns", min_explore_turns, 0, explore_turns)])?;
        check_positive(&[
            ("executor_turns", executor_turns as u64),
            ("fuel", fuel),
            ("shown_chars", shown_chars as u64),
        ])
    }
}

/// The end of a challenger's episode that proposed a task.
pub const PROPOSED: EpisodeEnd = EpisodeEnd::Finished("proposed");
/// The end of an executor's episode that answered.
pub const ANSWERED: EpisodeEnd = EpisodeEnd::Finished("answered");

/// An episode of either role in one environment.
pub type ToolEpisode = MultiTurn<ToolWorkspace>;

/// The environment of an episode, and the calls that have changed it.
#[derive(Clone)]
pub struct ToolWorkspace {
    goal: ToolGoal,
    format: &'static dyn ChallengeFormat,
    budget: ToolBudget,
    calls: Vec<ToolCall>,
    /// Turns whose code called a tool.
    explored: usize,
    answer: Option<Value>,
    proposed: Option<CodeTask>,
}

impl ToolWorkspace {
    /// Begins an episode in an environment that says `about` itself.
    pub fn open(
        goal: ToolGoal,
        about: &EnvironmentDescription,
        format: &'static dyn ChallengeFormat,
        examples: &[&CodeTask],
        budget: ToolBudget,
    ) -> Option<ToolEpisode> {
        let turns = match goal {
            _ if format.is_single_turn() => 1,
            ToolGoal::Challenge(_) => budget.explore_turns + 1,
            ToolGoal::Execute { .. } => budget.executor_turns,
        };
        let left = ToolBudgetLeft { turns, shown_chars: budget.shown_chars };
        let first = format.first_prompt(&goal, about, examples, left);
        let workspace = Self { goal, format, budget, calls: Vec::new(), explored: 0, answer: None, proposed: None };
        MultiTurn::new(workspace, first, EpisodeLimits { turns, fuel: budget.fuel })
    }

    /// All calls of tools so far, in order: the environment's state is what they leave.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// What the executor answered. `None` unless the episode ended with [`ANSWERED`].
    pub const fn answer(&self) -> Option<&Value> {
        self.answer.as_ref()
    }

    /// The task that the challenger proposed. `None` unless the episode ended with [`PROPOSED`].
    pub const fn proposed(&self) -> Option<&CodeTask> {
        self.proposed.as_ref()
    }

    /// The goal of an episode.
    pub const fn goal(&self) -> &ToolGoal {
        &self.goal
    }
}

impl Workspace for ToolWorkspace {
    /// Code that calls tools.
    type Call = String;
    type Outcome = CodeOutcome;

    const NOTHING_DONE: &'static str = "Nothing was run";

    fn role(&self) -> Role {
        self.goal.role()
    }

    fn stop(&self) -> &'static [&'static str] {
        self.format.stop()
    }

    fn next_message(&self, shown: &str, turns_left: usize) -> String {
        let left = ToolBudgetLeft { turns: turns_left, shown_chars: self.budget.shown_chars };
        self.format.next_message(&self.goal, shown, left)
    }

    /// A challenger's last turn is for its proposal, which comes after the turns in which it must explore.
    fn parse_response(&mut self, response: &str, turns_left: usize) -> Result<TurnAction<String>, String> {
        let wanted = if self.format.is_single_turn() { 0 } else { self.budget.min_explore_turns };
        match self.format.parse_response(&self.goal, response)? {
            ChallengerResponse::Propose(_) if self.explored < wanted => {
                let missing = wanted - self.explored;
                Ok(TurnAction::Nothing(format!("Explore by calling tools in {missing} more turns before you propose.")))
            }
            ChallengerResponse::Propose(task) => {
                self.proposed = Some(task);
                Ok(TurnAction::Finish(PROPOSED.name()))
            }
            ChallengerResponse::Explore(_) if self.role() == Role::PROPOSER && turns_left == 1 => {
                Ok(TurnAction::Nothing("There are no turns left to explore.".to_owned()))
            }
            ChallengerResponse::Explore(code) => Ok(TurnAction::Call(code)),
        }
    }

    fn observe(&mut self, _code: &String, outcome: &CodeOutcome) -> Observation {
        self.calls.extend(outcome.calls.iter().cloned());
        self.explored += usize::from(!outcome.calls.is_empty());
        if outcome.failure.is_none() && self.role() == Role::SOLVER {
            self.answer.clone_from(&outcome.answer);
        }
        let end = self.answer.is_some().then_some(ANSWERED.name());
        Observation { shown: outcome_text(outcome, self.budget.shown_chars), fuel: outcome.evidence.fuel, end }
    }
}
