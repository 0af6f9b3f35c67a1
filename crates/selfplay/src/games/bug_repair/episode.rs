//! An episode as a state machine: whose move it is, what the tree has become, and when it is over. Without IO.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_core::{Finish, Prompt, Role, Rollout, TextFiles};
use veriplay_verifier::bugs::tool_env::{CallEnd, RepoToolCall, RepoToolOutcome, Suite};

use super::prompts::{Action, Goal, Left, RepairFormat};
use crate::rollout;

/// What an episode may use. There is no default: a config states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Responses. One that cannot be read, or is refused, counts.
    pub turns: usize,
    /// Wasm fuel of all its tools together.
    pub fuel: u64,
    /// Calls that run tests.
    pub test_runs: usize,
    /// Characters of a tool's result that are shown.
    pub shown_chars: usize,
    /// Characters of a prompt at most. An episode whose next prompt would be longer is over.
    pub prompt_chars: usize,
}

impl Budget {
    /// The first value with which nothing could be done, and its key.
    pub(super) fn check(&self) -> Result<(), (&'static str, u64)> {
        let values = [
            ("turns", self.turns as u64),
            ("fuel", self.fuel),
            ("shown_chars", self.shown_chars as u64),
            ("prompt_chars", self.prompt_chars as u64),
        ];
        values.into_iter().find(|(_, value)| *value == 0).map_or(Ok(()), Err)
    }
}

/// What an episode is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// What is to be done.
    pub goal: Goal,
    /// Which of the game's places it is in.
    pub place: usize,
    /// The text files as they are handed out.
    pub tree: Arc<TextFiles>,
    /// What a run without names runs.
    pub suite: Suite,
    /// Test functions that its policy is shown nothing of.
    pub hidden: BTreeSet<String>,
}

impl Assignment {
    /// The role that has it.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self.goal {
            Goal::Repair { .. } => Role::Solver,
            Goal::Inject { .. } => Role::Proposer,
        }
    }
}

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It said that it was done.
    Submitted,
    /// All turns are used up.
    OutOfTurns,
    /// All fuel is used up.
    OutOfFuel,
    /// The next prompt would be too long, for its budget or for the model.
    OutOfRoom,
}

impl End {
    /// The word reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            End::Submitted => "submitted",
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
    Ask(&'a str),
    /// Serve this call on [`Episode::tree`], and give what came of it to [`Episode::see`].
    Call(&'a RepoToolCall),
    /// Nothing: it is over.
    Over(End),
}

/// One turn as the transcript keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What the policy wrote.
    pub response: String,
    /// What it is shown of what came of it.
    pub shown: String,
    /// The tool it called and how that ended; `None` when it called none.
    pub called: Option<(&'static str, CallEnd)>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Asking(String),
    Calling { response: String, call: RepoToolCall },
    Over(End),
}

/// An episode of one role.
#[derive(Clone)]
pub struct Episode {
    assignment: Arc<Assignment>,
    format: &'static dyn RepairFormat,
    budget: Budget,
    tree: Arc<TextFiles>,
    turns: Vec<Turn>,
    fuel: u64,
    test_runs: usize,
    state: State,
}

impl Episode {
    /// Begins one. `None` when the prompt format cannot ask for it, or the first prompt is too long already.
    #[must_use]
    pub fn new(assignment: Arc<Assignment>, format: &'static dyn RepairFormat, budget: Budget) -> Option<Self> {
        let budget = Budget { turns: if format.is_single_turn() { 1 } else { budget.turns }, ..budget };
        let tree = Arc::clone(&assignment.tree);
        let state = State::Over(End::OutOfRoom);
        let mut episode = Self { assignment, format, budget, tree, turns: Vec::new(), fuel: 0, test_runs: 0, state };
        if !format.can_ask(&episode.assignment.goal) {
            return None;
        }
        episode.state = episode.asking();
        (episode.state != State::Over(End::OutOfRoom)).then_some(episode)
    }

    /// What is to be done next.
    #[must_use]
    pub fn next_move(&self) -> Move<'_> {
        match &self.state {
            State::Asking(text) => Move::Ask(text),
            State::Calling { call, .. } => Move::Call(call),
            State::Over(end) => Move::Over(*end),
        }
    }

    /// Takes the response to the last prompt. Out of turn it is ignored.
    pub fn hear(&mut self, response: &str, finish: Finish) {
        if !matches!(self.state, State::Asking(_)) {
            return;
        }
        let read = match finish {
            Finish::Length => Err("the response was cut off; be shorter".to_owned()),
            Finish::Stop => self.format.read(&self.assignment.goal, response),
        };
        let response = response.to_owned();
        match read {
            Ok(Action::Call(RepoToolCall::Run { .. })) if self.test_runs == self.budget.test_runs => {
                self.turn_ended(response, "Nothing was done: no runs of tests are left.".to_owned(), None);
            }
            Ok(Action::Call(call)) => self.state = State::Calling { response, call },
            Ok(Action::Submit) => self.submitted(response),
            Ok(Action::Replace(source)) => self.replace(response, &source),
            Err(reason) => self.turn_ended(response, format!("Nothing was done: {reason}."), None),
        }
    }

    /// Takes what came of the call that [`Move::Call`] asked for. Out of turn it is ignored.
    pub fn see(&mut self, outcome: &RepoToolOutcome) {
        let State::Calling { response, call } = &self.state else { return };
        let (response, tool) = (response.clone(), call.tool());
        self.test_runs += usize::from(matches!(call, RepoToolCall::Run { .. }));
        self.fuel = self.fuel.saturating_add(outcome.evidence.fuel);
        if let Some((path, text)) = &outcome.edited {
            Arc::make_mut(&mut self.tree).insert(path.clone(), text.clone());
        }
        self.turn_ended(response, outcome.shown.clone(), Some((tool, outcome.end)));
    }

    /// Ends it: the policy has no room for its next prompt, though the budget has. Out of turn it is ignored.
    pub fn out_of_room(&mut self) {
        if matches!(self.state, State::Asking(_)) {
            self.state = State::Over(End::OutOfRoom);
        }
    }

    fn submitted(&mut self, response: String) {
        self.turns.push(Turn { response, shown: String::new(), called: None });
        self.state = State::Over(End::Submitted);
    }

    /// The whole episode of a prompt format without tools.
    fn replace(&mut self, response: String, source: &str) {
        let function = match &self.assignment.goal {
            Goal::Repair { function, .. } => function.as_ref(),
            Goal::Inject { function, .. } => Some(function),
        };
        let edited = function.and_then(|function| {
            let text = function.replaced(self.tree.get(&function.path)?, source)?;
            Some((function.path.clone(), text))
        });
        match edited {
            Some((path, text)) => {
                Arc::make_mut(&mut self.tree).insert(path, text);
                self.submitted(response);
            }
            None => self.turn_ended(response, "Nothing was done: there is no such place.".to_owned(), None),
        }
    }

    fn turn_ended(&mut self, response: String, shown: String, called: Option<(&'static str, CallEnd)>) {
        self.turns.push(Turn { response, shown, called });
        self.state = match (self.turns_left(), self.fuel_left()) {
            (0, _) => State::Over(End::OutOfTurns),
            (_, 0) => State::Over(End::OutOfFuel),
            _ => self.asking(),
        };
    }

    fn asking(&self) -> State {
        let left = Left {
            turns: self.turns_left(),
            test_runs: self.budget.test_runs.saturating_sub(self.test_runs),
            shown_chars: self.budget.shown_chars,
        };
        let text = self.format.text(&self.assignment.goal, &self.turns, left);
        let fits = text.chars().count() <= self.budget.prompt_chars;
        if fits { State::Asking(text) } else { State::Over(End::OutOfRoom) }
    }

    const fn turns_left(&self) -> usize {
        self.budget.turns.saturating_sub(self.turns.len())
    }

    /// Fuel that its tools may still use.
    #[must_use]
    pub const fn fuel_left(&self) -> u64 {
        self.budget.fuel.saturating_sub(self.fuel)
    }

    /// Fuel that its tools have used.
    #[must_use]
    pub const fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Characters of a result that it is shown.
    #[must_use]
    pub const fn shown_chars(&self) -> usize {
        self.budget.shown_chars
    }

    /// The text files as it has them now.
    #[must_use]
    pub fn tree(&self) -> &TextFiles {
        &self.tree
    }

    /// What it is about.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Its turns so far.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How it ended; `None` while it has not.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        if let State::Over(end) = self.state { Some(end) } else { None }
    }
}

impl rollout::Episode for Episode {
    fn prompt(&self) -> Option<Prompt> {
        match self.next_move() {
            Move::Ask(text) => Some(Prompt { role: self.assignment.role(), task_type: None, text: text.to_owned() }),
            Move::Call(_) | Move::Over(_) => None,
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

impl std::fmt::Debug for Episode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (turns, state) = (self.turns.len(), &self.state);
        f.debug_struct("Episode").field("turns", &turns).field("state", state).finish_non_exhaustive()
    }
}
