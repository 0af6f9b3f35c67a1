//! `exec:COMMAND`: a reward that a program outside this process computes. This crate starts no programs: who plays connects one
//! ([`crate::driver::SelfPlay::methods`]), and until then every reward is an error.

use veriplay_core::Reward;

use crate::rewards::{EpisodeFacts, ProposalOutcome, RewardError, RewardScheme};

/// How the config names it.
pub const PREFIX: &str = "exec:";

/// The command that a reward's name runs, if it is of that kind.
pub fn command(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).map(str::trim)
}

/// The scheme as long as no program is connected.
pub(crate) struct Unconnected;

impl RewardScheme for Unconnected {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    fn rewards(&self, _: u64, _: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, RewardError> {
        Err(RewardError(
            "no program computes the reward: `veriplay play` starts the one that `game.reward` names".to_owned(),
        ))
    }
}
