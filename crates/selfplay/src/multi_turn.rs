//! The multi-turn rollout: an episode in which a policy calls tools, as a state machine without IO.
//!
//! A game says what its tools work in ([`Workspace`]); turns, fuel and the order of moves are the same for all. Calls and responses out of turn
//! are ignored.

use std::fmt::Debug;

use veriplay_core::{Dropped, FinishReason, Prompt, Role, Rollout};

use crate::rollout::{Episode, Finished};

/// What one episode works in: its goal, and what its tools have done so far.
pub trait Workspace: Clone + Send + Sync {
    /// A call of a tool.
    type Call: Clone + Debug + PartialEq + Send + Sync;
    /// The outcome of a call.
    type Outcome;

    /// What the next prompt says before the reason why nothing is done.
    const NOTHING_DONE: &'static str;

    /// The role that has it.
    fn role(&self) -> Role;

    /// The text of the next prompt; `None` where its budget has no room for it.
    fn prompt_text(&self, turns: &[Turn], turns_left: usize) -> Option<String>;

    /// Reads a whole response.
    ///
    /// # Errors
    /// Why nothing is done, for the next prompt.
    fn read(&mut self, response: &str, turns_left: usize) -> Result<TurnAction<Self::Call>, String>;

    /// Takes the outcome of a call.
    fn observe(&mut self, call: &Self::Call, outcome: &Self::Outcome) -> Observation;
}

/// What a response asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnAction<C> {
    /// A call of a tool.
    Call(C),
    /// The end of the episode, in the word of reports.
    Finish(&'static str),
    /// Nothing; the next prompt shows this.
    Nothing(String),
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// What the next prompt shows of it.
    pub shown: String,
    /// Fuel that the tool used.
    pub fuel: u64,
    /// How the call ended the episode, where it did.
    pub end: Option<&'static str>,
}

/// One turn as the transcript keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What the policy wrote.
    pub response: String,
    /// What it is shown of what came of it. Empty where the turn ended the episode.
    pub shown: String,
}

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its policy finished it, in this way.
    Finished(&'static str),
    /// All turns are used up.
    OutOfTurns,
    /// All fuel is used up.
    OutOfFuel,
    /// The next prompt would be too long, for its budget or for the model.
    OutOfRoom,
}

impl End {
    /// The word of reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            End::Finished(name) => name,
            End::OutOfTurns => "out_of_turns",
            End::OutOfFuel => "out_of_fuel",
            End::OutOfRoom => "out_of_room",
        }
    }
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move<'a, C> {
    /// Generate a response to this text, and give it to [`MultiTurn::take_response`].
    Ask(&'a str),
    /// Run this call, and give its outcome to [`MultiTurn::take_outcome`].
    Call(&'a C),
    /// Nothing: it is over.
    Over(End),
}

#[derive(Debug, Clone, PartialEq)]
enum State<C> {
    Asking(String),
    Calling { response: String, call: C },
    Over(End),
}

/// What all turns of an episode may use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Responses. One that cannot be read, or is refused, counts.
    pub turns: usize,
    /// Wasm fuel of its tools.
    pub fuel: u64,
}

/// An episode of several turns.
#[derive(Clone)]
pub struct MultiTurn<T: Workspace> {
    workspace: T,
    allowance: Allowance,
    turns: Vec<Turn>,
    fuel: u64,
    state: State<T::Call>,
}

impl<T: Workspace> MultiTurn<T> {
    /// Begins one. `None` where there is no room for its first prompt.
    #[must_use]
    pub fn new(workspace: T, allowance: Allowance) -> Option<Self> {
        let state = State::Asking(workspace.prompt_text(&[], allowance.turns)?);
        Some(Self { workspace, allowance, turns: Vec::new(), fuel: 0, state })
    }

    /// What is to be done next.
    #[must_use]
    pub fn next_move(&self) -> Move<'_, T::Call> {
        match &self.state {
            State::Asking(text) => Move::Ask(text),
            State::Calling { call, .. } => Move::Call(call),
            State::Over(end) => Move::Over(*end),
        }
    }

    /// Takes the response to the last prompt.
    pub fn take_response(&mut self, response: &str, finish: FinishReason) {
        if !matches!(self.state, State::Asking(_)) {
            return;
        }
        let turns_left = self.turns_left();
        let action = match finish {
            FinishReason::Length => Err("the response was cut off; be shorter".to_owned()),
            FinishReason::Stop => self.workspace.read(response, turns_left),
        };
        let response = response.to_owned();
        match action {
            Ok(TurnAction::Call(call)) => self.state = State::Calling { response, call },
            Ok(TurnAction::Finish(end)) => {
                self.turns.push(Turn { response, shown: String::new() });
                self.state = State::Over(End::Finished(end));
            }
            Ok(TurnAction::Nothing(shown)) => self.end_turn(response, shown),
            Err(reason) => self.end_turn(response, format!("{}: {reason}.", T::NOTHING_DONE)),
        }
    }

    /// Takes the outcome of the call that [`Move::Call`] asked for.
    pub fn take_outcome(&mut self, outcome: &T::Outcome) {
        let State::Calling { response, call } = &self.state else { return };
        let Observation { shown, fuel, end } = self.workspace.observe(call, outcome);
        let response = response.clone();
        self.fuel = self.fuel.saturating_add(fuel);
        self.end_turn(response, shown);
        if let Some(end) = end {
            self.state = State::Over(End::Finished(end));
        }
    }

    fn end_turn(&mut self, response: String, shown: String) {
        self.turns.push(Turn { response, shown });
        self.state = match (self.turns_left(), self.fuel_left()) {
            (0, _) => State::Over(End::OutOfTurns),
            (_, 0) => State::Over(End::OutOfFuel),
            (left, _) => {
                self.workspace.prompt_text(&self.turns, left).map_or(State::Over(End::OutOfRoom), State::Asking)
            }
        };
    }

    const fn turns_left(&self) -> usize {
        self.allowance.turns.saturating_sub(self.turns.len())
    }

    /// Fuel that its tools may still use.
    #[must_use]
    pub const fn fuel_left(&self) -> u64 {
        self.allowance.fuel.saturating_sub(self.fuel)
    }

    /// What its policy works in.
    #[must_use]
    pub const fn workspace(&self) -> &T {
        &self.workspace
    }

    /// Its turns so far.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How it ended; `None` while it goes on.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        if let State::Over(end) = self.state { Some(end) } else { None }
    }
}

impl<T: Workspace> Episode for MultiTurn<T> {
    fn prompt(&self) -> Option<Prompt> {
        match self.next_move() {
            Move::Ask(text) => Some(Prompt { role: self.workspace.role(), task_type: None, text: text.to_owned() }),
            Move::Call(_) | Move::Over(_) => None,
        }
    }

    fn respond(&mut self, rollout: &Rollout) {
        self.take_response(&rollout.text, rollout.finish);
    }

    fn out_of_room(&mut self) {
        if matches!(self.state, State::Asking(_)) {
            self.state = State::Over(End::OutOfRoom);
        }
    }

    fn end(&self) -> Option<&'static str> {
        Self::end(self).map(End::name)
    }

    fn fuel(&self) -> u64 {
        self.fuel
    }
}

impl<T: Workspace> Debug for MultiTurn<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (turns, state) = (self.turns.len(), &self.state);
        f.debug_struct("MultiTurn").field("turns", &turns).field("state", state).finish_non_exhaustive()
    }
}

/// Serves every call that episodes wait for. `serve` is handed those episodes, and gives the outcome of each, or the host fault, which
/// drops it.
pub(crate) fn serve_calls<T: Workspace>(
    episodes: &mut [Finished<MultiTurn<T>>],
    serve: impl FnOnce(&[&MultiTurn<T>]) -> Vec<Result<T::Outcome, Dropped>>,
) {
    let waits =
        |one: &Finished<MultiTurn<T>>| one.dropped.is_none() && matches!(one.episode.next_move(), Move::Call(_));
    let waiting: Vec<usize> = (0..episodes.len()).filter(|index| waits(&episodes[*index])).collect();
    let outcomes = serve(&waiting.iter().map(|index| &episodes[*index].episode).collect::<Vec<_>>());
    for (index, outcome) in waiting.into_iter().zip(outcomes) {
        match outcome {
            Ok(outcome) => episodes[index].episode.take_outcome(&outcome),
            Err(dropped) => episodes[index].dropped = Some(dropped),
        }
    }
}
