//! An episode as a state machine: whose move it is, what has been done, and when it is over.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Finish, Prompt, Role, Rollout, ToolCall, Value};
use veriplay_verifier::environments::{About, ChallengerResponse, CodeOutcome};

use super::prompts::{ChallengeFormat, Goal, Left, Turn, shown};
use crate::rollout;

/// What an episode may use. There is no default: a config states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Turns in which a challenger may explore. It has one more, to propose.
    pub explore_turns: usize,
    /// Turns of an executor.
    pub executor_turns: usize,
    /// Wasm fuel of all turns' code together, the environment's share included.
    pub fuel: u64,
    /// Characters of a turn's output that the next prompt shows.
    pub shown_chars: usize,
}

/// Why a budget cannot be played with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is `0`: it must be at least 1")]
pub struct BudgetError {
    /// The key, below the budget's.
    pub key: &'static str,
}

impl Budget {
    /// Checks what types cannot. Call it once, where the budget is read.
    ///
    /// # Errors
    /// The first value with which nothing could be done.
    pub fn check(&self) -> Result<(), BudgetError> {
        let positive = [
            ("executor_turns", self.executor_turns as u64),
            ("fuel", self.fuel),
            ("shown_chars", self.shown_chars as u64),
        ];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(BudgetError { key }),
            None => Ok(()),
        }
    }
}

/// How an episode ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The challenger proposed this.
    Proposed(CodeTask),
    /// The executor answered; see [`Episode::answer`].
    Answered,
    /// All turns are used up. For a challenger: it proposed nothing.
    OutOfTurns,
    /// All fuel is used up.
    OutOfFuel,
    /// The model has no room for its transcript.
    OutOfRoom,
}

impl End {
    /// The word reports use.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            End::Proposed(_) => "proposed",
            End::Answered => "answered",
            End::OutOfTurns => "out_of_turns",
            End::OutOfFuel => "out_of_fuel",
            End::OutOfRoom => "out_of_room",
        }
    }
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move<'a> {
    /// Generate a response to this text, and give it to [`Episode::hear`].
    Ask(String),
    /// Run this code, and give what became of it to [`Episode::see`].
    Run(&'a str),
    /// Nothing: it is over.
    Over(&'a End),
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Asking,
    Running { response: String, code: String },
    Over(End),
}

/// An episode of one role in one environment.
#[derive(Clone)]
pub struct Episode {
    goal: Goal,
    about: Arc<About>,
    format: &'static dyn ChallengeFormat,
    budget: Budget,
    turns: Vec<Turn>,
    calls: Vec<ToolCall>,
    answer: Option<Value>,
    fuel: u64,
    state: State,
}

impl Episode {
    /// Begins one in an environment that says `about` itself.
    #[must_use]
    pub fn new(goal: Goal, about: Arc<About>, format: &'static dyn ChallengeFormat, budget: Budget) -> Self {
        let (turns, calls) = (Vec::new(), Vec::new());
        Self { goal, about, format, budget, turns, calls, answer: None, fuel: 0, state: State::Asking }
    }

    /// What is to be done next.
    #[must_use]
    pub fn next_move(&self) -> Move<'_> {
        match &self.state {
            State::Asking => {
                let left = Left { turns: self.turns_left(), shown_chars: self.budget.shown_chars };
                Move::Ask(self.format.text(&self.goal, &self.about, &self.turns, left))
            }
            State::Running { code, .. } => Move::Run(code),
            State::Over(end) => Move::Over(end),
        }
    }

    /// Takes the response to the last prompt. Out of turn it is ignored.
    pub fn hear(&mut self, response: &str, finish: Finish) {
        if self.state != State::Asking {
            return;
        }
        let read = match finish {
            Finish::Length => Err("the response was cut off; be shorter".to_owned()),
            Finish::Stop => self.format.read(&self.goal, response),
        };
        match read {
            Ok(ChallengerResponse::Propose(task)) => self.state = State::Over(End::Proposed(task)),
            Ok(ChallengerResponse::Explore(_)) if self.must_propose() => {
                self.turn_ended(response.to_owned(), "There are no turns left to explore.".to_owned());
            }
            Ok(ChallengerResponse::Explore(code)) => {
                self.state = State::Running { response: response.to_owned(), code };
            }
            Err(reason) => self.turn_ended(response.to_owned(), format!("Nothing was run: {reason}.")),
        }
    }

    /// Takes what became of the code that [`Move::Run`] asked for. Out of turn it is ignored.
    pub fn see(&mut self, outcome: &CodeOutcome) {
        let State::Running { response, .. } = &self.state else { return };
        let response = response.clone();
        self.calls.extend(outcome.calls.iter().cloned());
        self.fuel = self.fuel.saturating_add(outcome.evidence.fuel);
        let shown = shown(outcome, self.budget.shown_chars);
        self.turn_ended(response, shown);
        if outcome.failure.is_none() && self.goal.role() == Role::Solver && outcome.answer.is_some() {
            self.answer.clone_from(&outcome.answer);
            self.state = State::Over(End::Answered);
        }
    }

    /// The model has no room for what it would be asked. Out of turn it is ignored.
    pub fn out_of_room(&mut self) {
        if self.state == State::Asking {
            self.state = State::Over(End::OutOfRoom);
        }
    }

    fn turn_ended(&mut self, response: String, shown: String) {
        self.turns.push(Turn { response, shown });
        self.state = match (self.turns_left(), self.fuel_left()) {
            (0, _) => State::Over(End::OutOfTurns),
            (_, 0) => State::Over(End::OutOfFuel),
            _ => State::Asking,
        };
    }

    /// A challenger's last turn is for its proposal.
    fn must_propose(&self) -> bool {
        self.goal.role() == Role::Proposer && self.turns_left() == 1
    }

    fn turns_left(&self) -> usize {
        let all = match self.goal {
            _ if self.format.is_single_turn() => 1,
            Goal::Challenge(_) => self.budget.explore_turns + 1,
            Goal::Execute { .. } => self.budget.executor_turns,
        };
        all.saturating_sub(self.turns.len())
    }

    /// Fuel that its code may still use.
    #[must_use]
    pub const fn fuel_left(&self) -> u64 {
        self.budget.fuel.saturating_sub(self.fuel)
    }

    /// All calls of tools so far, in order: the environment's state is what they leave.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// What the executor answered. `None` unless it has ended with [`End::Answered`].
    #[must_use]
    pub const fn answer(&self) -> Option<&Value> {
        self.answer.as_ref()
    }

    /// How it ended; `None` while it goes on.
    #[must_use]
    pub const fn end(&self) -> Option<&End> {
        match &self.state {
            State::Over(end) => Some(end),
            State::Asking | State::Running { .. } => None,
        }
    }

    /// Fuel that its code has used.
    #[must_use]
    pub const fn fuel(&self) -> u64 {
        self.fuel
    }

    /// What it is to do.
    #[must_use]
    pub const fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Turns taken so far.
    #[must_use]
    pub const fn turns_taken(&self) -> usize {
        self.turns.len()
    }
}

impl rollout::Episode for Episode {
    fn prompt(&self) -> Option<Prompt> {
        match self.next_move() {
            Move::Ask(text) => Some(Prompt { role: self.goal.role(), task_type: None, text }),
            Move::Run(_) | Move::Over(_) => None,
        }
    }

    fn respond(&mut self, rollout: &Rollout) {
        self.hear(&rollout.text, rollout.finish);
    }

    fn out_of_room(&mut self) {
        Self::out_of_room(self);
    }

    fn end(&self) -> Option<&'static str> {
        Self::end(self).map(End::name)
    }

    fn fuel(&self) -> u64 {
        self.fuel
    }
}
