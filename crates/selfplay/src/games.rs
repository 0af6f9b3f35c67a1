//! The games. Each is an [`crate::environment::Environment`], which [`crate::driver`] plays.
//!
//! One file (with its submodules) a game, under the game's name. A game is data and pure functions: which episodes to sample, and how to
//! judge them. The list of games is `games!` in `crates/run`.

pub mod absolute_zero;
pub mod bug_repair;
pub mod self_challenge;
pub mod sol_ver;
