//! The multi-turn rollout: an episode in which a policy calls tools, as a state machine without IO.
//!
//! A game says what its tools work in ([`Workspace`]); turns, fuel and the order of moves are the same for all. Calls and responses out of turn
//! are ignored. The transcript is append-only: each prompt begins with all messages of the one before, so that a policy may compute them once.

use std::fmt::Debug;

use veriplay_core::{Dropped, FinishReason, Message, Prompt, PromptContent, Role, Rollout};

use crate::rollout::{Episode, FinishedEpisode};

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

    /// Text that ends a response, where the model's end token alone does not.
    fn stop(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its budget has room for this prompt.
    fn has_room(&self, _prompt: &PromptContent) -> bool {
        true
    }

    /// The message that answers a response, when `turns_left` more may follow. `shown` is what came of it.
    fn next_message(&self, shown: &str, turns_left: usize) -> String;

    /// Reads a whole response. One that can be read and asks for something that it may not have is [`TurnAction::Nothing`].
    fn parse_response(&mut self, response: &str, turns_left: usize) -> Result<TurnAction<Self::Call>, String>;

    /// Takes the outcome of a call.
    fn observe(&mut self, call: &Self::Call, outcome: &Self::Outcome) -> Observation;
}

/// The action that a response requests.
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
pub enum EpisodeEnd {
    /// Its policy finished it, in this way.
    Finished(&'static str),
    /// All turns are used up.
    OutOfTurns,
    /// All fuel is used up.
    OutOfFuel,
    /// The next prompt would be too long, for its budget or for the model.
    OutOfRoom,
}

impl EpisodeEnd {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            EpisodeEnd::Finished(name) => name,
            EpisodeEnd::OutOfTurns => "out_of_turns",
            EpisodeEnd::OutOfFuel => "out_of_fuel",
            EpisodeEnd::OutOfRoom => "out_of_room",
        }
    }
}

/// The next action of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAction<'a, C> {
    /// Generate a response to this, and give it to [`MultiTurn::take_response`].
    Ask(&'a PromptContent),
    /// Run this call, and give its outcome to [`MultiTurn::take_outcome`].
    Call(&'a C),
    /// Nothing: it is over.
    Over(EpisodeEnd),
}

#[derive(Debug, Clone, PartialEq)]
enum TurnState<C> {
    Asking,
    Calling { response: String, call: C },
    Over(EpisodeEnd),
}

/// What all turns of an episode may use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeLimits {
    /// Responses. One that cannot be read, or is refused, counts.
    pub turns: usize,
    /// Wasm fuel of its tools.
    pub fuel: u64,
}

/// An episode of several turns.
#[derive(Clone)]
pub struct MultiTurn<T: Workspace> {
    workspace: T,
    limits: EpisodeLimits,
    transcript: PromptContent,
    turns: Vec<Turn>,
    /// Turns whose response could not be read.
    malformed: usize,
    fuel: u64,
    state: TurnState<T::Call>,
}

impl<T: Workspace> MultiTurn<T> {
    /// Begins one with this prompt. `None` where there is no room for it.
    pub fn new(workspace: T, first: PromptContent, limits: EpisodeLimits) -> Option<Self> {
        let has_room = workspace.has_room(&first);
        let state = TurnState::Asking;
        let turns = Vec::new();
        has_room.then(|| Self { workspace, limits, transcript: first, turns, malformed: 0, fuel: 0, state })
    }

    /// The next action of an episode.
    pub fn next_action(&self) -> NextAction<'_, T::Call> {
        match &self.state {
            TurnState::Asking => NextAction::Ask(&self.transcript),
            TurnState::Calling { call, .. } => NextAction::Call(call),
            TurnState::Over(end) => NextAction::Over(*end),
        }
    }

    /// Takes the response to the last prompt.
    pub fn take_response(&mut self, response: &str, finish: FinishReason) {
        if self.state != TurnState::Asking {
            return;
        }
        let turns_left = self.turns_left();
        let action = match finish {
            FinishReason::Length => Err("the response was cut off; be shorter".to_owned()),
            FinishReason::Stop => self.workspace.parse_response(response, turns_left),
        };
        let response = response.to_owned();
        match action {
            Ok(TurnAction::Call(call)) => self.state = TurnState::Calling { response, call },
            Ok(TurnAction::Finish(end)) => {
                self.turns.push(Turn { response, shown: String::new() });
                self.state = TurnState::Over(EpisodeEnd::Finished(end));
            }
            Ok(TurnAction::Nothing(shown)) => self.end_turn(response, shown),
            Err(reason) => {
                self.malformed += 1;
                self.end_turn(response, format!("{}: {reason}.", T::NOTHING_DONE));
            }
        }
    }

    /// Takes the outcome of the call of [`NextAction::Call`].
    pub fn take_outcome(&mut self, outcome: &T::Outcome) {
        let TurnState::Calling { response, call } = &self.state else { return };
        let Observation { shown, fuel, end } = self.workspace.observe(call, outcome);
        let response = response.clone();
        self.fuel = self.fuel.saturating_add(fuel);
        self.end_turn(response, shown);
        if let Some(end) = end {
            self.state = TurnState::Over(EpisodeEnd::Finished(end));
        }
    }

    fn end_turn(&mut self, response: String, shown: String) {
        self.turns.push(Turn { response, shown });
        self.state = match (self.turns_left(), self.fuel_left()) {
            (0, _) => TurnState::Over(EpisodeEnd::OutOfTurns),
            (_, 0) => TurnState::Over(EpisodeEnd::OutOfFuel),
            (left, _) => self.next_prompt(left),
        };
    }

    /// Appends the last turn to the transcript.
    fn next_prompt(&mut self, turns_left: usize) -> TurnState<T::Call> {
        let Some(Turn { response, shown }) = self.turns.last() else { return TurnState::Asking };
        let (response, request) = (response.trim(), self.workspace.next_message(shown, turns_left));
        match &mut self.transcript {
            PromptContent::Messages(messages) => {
                messages.extend([Message::assistant(response), Message::user(request)]);
            }
            PromptContent::Text(text) => text.push_str(&format!("{response}\n{request}\n")),
        }
        match self.workspace.has_room(&self.transcript) {
            true => TurnState::Asking,
            false => TurnState::Over(EpisodeEnd::OutOfRoom),
        }
    }

    const fn turns_left(&self) -> usize {
        self.limits.turns.saturating_sub(self.turns.len())
    }

    /// Fuel that its tools may still use.
    pub const fn fuel_left(&self) -> u64 {
        self.limits.fuel.saturating_sub(self.fuel)
    }

    /// What its policy works in.
    pub const fn workspace(&self) -> &T {
        &self.workspace
    }

    /// Its turns so far.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Turns whose response was cut off or does not have the form that the prompt asks for.
    pub const fn malformed_turns(&self) -> usize {
        self.malformed
    }

    /// How it ended; `None` while it goes on.
    pub const fn end(&self) -> Option<EpisodeEnd> {
        if let TurnState::Over(end) = self.state { Some(end) } else { None }
    }
}

impl<T: Workspace> Episode for MultiTurn<T> {
    fn prompt(&self) -> Option<Prompt> {
        match self.next_action() {
            NextAction::Ask(content) => {
                let stop = self.workspace.stop().iter().copied();
                let prompt = Prompt::new(self.workspace.role(), content.clone()).with_stop(stop);
                Some(Prompt { may_continue: self.turns_left() > 1, ..prompt })
            }
            NextAction::Call(_) | NextAction::Over(_) => None,
        }
    }

    fn respond(&mut self, rollout: &Rollout) {
        self.take_response(&rollout.text, rollout.finish);
    }

    fn out_of_room(&mut self) {
        if self.state == TurnState::Asking {
            self.state = TurnState::Over(EpisodeEnd::OutOfRoom);
        }
    }

    fn end(&self) -> Option<&'static str> {
        Self::end(self).map(EpisodeEnd::name)
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

/// Serves every call that episodes wait for. `serve` gets those episodes, and gives the outcome of each, or the host fault, which
/// drops it.
pub fn serve_calls<T: Workspace>(
    episodes: &mut [FinishedEpisode<MultiTurn<T>>],
    serve: impl FnOnce(&[&MultiTurn<T>]) -> Vec<Result<T::Outcome, Dropped>>,
) {
    let waits = |one: &FinishedEpisode<MultiTurn<T>>| {
        one.dropped.is_none() && matches!(one.episode.next_action(), NextAction::Call(_))
    };
    let waiting: Vec<usize> = (0..episodes.len()).filter(|index| waits(&episodes[*index])).collect();
    let outcomes = serve(&waiting.iter().map(|index| &episodes[*index].episode).collect::<Vec<_>>());
    for (index, outcome) in waiting.into_iter().zip(outcomes) {
        match outcome {
            Ok(outcome) => episodes[index].episode.take_outcome(&outcome),
            Err(dropped) => episodes[index].dropped = Some(dropped),
        }
    }
}
