//! What games of episodes have in common: a proposer and a solver converse with a policy, turn by turn, and every turn of an episode is a
//! sample that has the episode's advantage. Called by `bug_repair` and `self_challenge`.

mod lesson;
mod log;
mod paid;

use veriplay_core::{Prompt, Rollout};

use crate::anchors::Anchor;

pub use lesson::Aggregation;
pub(crate) use lesson::Lessons;
pub use log::TurnRecord;
pub(crate) use log::{Logged, met_deadline, turns};
pub(crate) use paid::{Paid, rows, shuffle, weigh};

/// Prompt and rollout of each turn of an episode.
pub(crate) type Said = Vec<(Prompt, Rollout)>;

/// Tokens that were generated in an episode.
pub(crate) fn tokens(said: &Said) -> usize {
    said.iter().map(|(_, rollout)| rollout.tokens.len()).sum()
}

/// The turns of an episode as responses to imitate. One whose tokens are not told cannot be.
pub(crate) fn anchors(said: &Said) -> impl Iterator<Item = Anchor> {
    said.iter().map(|(_, rollout)| rollout).filter(|rollout| !rollout.tokens.is_empty()).map(Anchor::from)
}
