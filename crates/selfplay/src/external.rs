//! `exec:COMMAND`: a method that a program outside this process computes: a reward, a curriculum or a proposer factor. This crate starts no
//! programs: who plays connects them ([`crate::driver::SelfPlay::methods`]), and until then every question is an error.

use crate::curricula::{Curriculum, CurriculumTask};
use crate::proposer_factor::{ProposerFactor, RewardedProposal};
use crate::rewards::{EpisodeFacts, ProposalOutcome, RewardScheme};
use veriplay_core::Reward;

/// How the config names it.
pub const PREFIX: &str = "exec:";

/// The command that a method's name runs, if it is of that kind.
pub fn command(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).map(str::trim)
}

/// Why a program outside gave no answer that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExternalError(pub String);

/// A method as long as no program is connected.
pub(crate) struct Unconnected;

impl Unconnected {
    fn refuse<T>(key: &str) -> Result<T, ExternalError> {
        let what = format!("no program is connected: `veriplay play` starts the one that `game.{key}` names");
        Err(ExternalError(what))
    }
}

impl RewardScheme for Unconnected {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    fn rewards(&self, _: u64, _: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        Self::refuse("reward")
    }
}

impl Curriculum for Unconnected {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn weights(&self, _: u64, _: &[CurriculumTask<'_>], _: f64) -> Result<Vec<f64>, ExternalError> {
        Self::refuse("curriculum")
    }
}

impl ProposerFactor for Unconnected {
    fn factors(&self, _: u64, _: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        Self::refuse("proposer_factor")
    }
}
