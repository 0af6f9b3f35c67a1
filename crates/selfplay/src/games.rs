//! The games. Each is an [`crate::environment::Environment`], which [`crate::driver`] plays.
//!
//! One file (with its submodules) a game; each is in [`GAMES`] under its file's name. A game is data and pure functions: which episodes to
//! sample, and how to judge them.

pub mod absolute_zero;
pub mod bug_repair;
pub mod self_challenge;
pub mod sol_ver;

use veriplay_core::Role;

/// What is said of a game before it is set up; its own module has its functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    /// Its name in the config.
    pub name: &'static str,
    /// What it is, in one sentence for people.
    pub about: &'static str,
    /// The roles that generate, in the order they do in a step.
    pub roles: &'static [Role],
}

/// Every game.
pub const GAMES: &[Game] = &[absolute_zero::GAME, bug_repair::GAME, self_challenge::GAME, sol_ver::GAME];

/// The game of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Game> {
    GAMES.iter().find(|game| game.name == name)
}
