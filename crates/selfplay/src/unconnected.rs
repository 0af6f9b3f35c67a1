//! What stands for a program outside ([`crate::external`]) until who plays connects it: every question is an error.

use veriplay_core::Reward;

use crate::curricula::{Curriculum, CurriculumTask};
use crate::external::ExternalError;
use crate::proposer_factor::{ProposerFactor, RewardedProposal};
use crate::rewards::{EpisodeFacts, ProposalOutcome, RewardScheme};

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
