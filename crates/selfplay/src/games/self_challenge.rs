//! `self_challenge` (Self-Challenging Agents, arXiv 2506.01716): one policy explores an environment of tools and makes a
//! Code-as-Task there, and does such tasks with tool calls as code.
//!
//! # One step
//! A step is many episodes. [`Episode`] is a state machine without IO; whoever holds one (the loop in `crates/cli`, or a test) does what
//! [`Episode::next_move`] says until it has ended:
//! 1. [`Move::Ask`]: generate a response to the prompt, and give it to [`Episode::hear`].
//! 2. [`Move::Run`]: run the code with [`veriplay_verifier::environments::run_code`], [`Episode::calls`] being its history
//!    and [`Episode::fuel_left`] its fuel at most, and give the outcome to [`Episode::see`].
//!
//! A challenger explores for a number of turns and then proposes; the artifact gate judges what it proposed
//! ([`veriplay_verifier::environments::judge_artifact`]). An executor's last turn is the one whose code has called `answer`
//! and come to its end; [`veriplay_verifier::environments::judge_episode`] judges its calls and its answer. An executor out
//! of turns or fuel is judged too, by what it has done so far: the paper pays the final state alone.
//!
//! # Rules
//! - A turn's code is a program of its own: the environment's state is carried over, as the calls made so far, and its
//!   variables are not.
//! - Calls of code that raised count; of code that was stopped (fuel, memory) there are none, and the state stays as it was.
//! - A response that holds no code costs a turn, and the next prompt says why.
//! - What code prints is shown up to a number of characters.
//!
//! # Invariants
//! An executor's prompt holds what the environment says of itself, the instruction, and what the policy itself did and saw:
//! never a state, a verification function, a solution, or an environment's source. A challenger, whose verification
//! function reads states, is shown the initial one. The same budget, responses and outcomes give the same moves.

mod episode;
mod prompts;

use veriplay_core::Role;

use super::Game;

pub use episode::{Budget, BudgetError, End, Episode, Goal, Move};

/// What is said of it in [`super::GAMES`]; the loop in the cli does not play it yet.
pub const GAME: Game = Game {
    name: "self_challenge",
    about: "one policy makes tasks with verification functions in environments of tools, and does them by tool calls as code",
    roles: &[Role::Proposer, Role::Solver],
};
