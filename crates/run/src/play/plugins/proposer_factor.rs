//! `game.proposer_factor = "exec:COMMAND"`: a factor of each proposer's reward of a step.

use serde::Serialize;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};

use super::messages::EpisodeMessage;
use super::process::{Plugin, read_factor};

/// The program that gives factors.
pub(super) struct ExecFactor(pub(super) Plugin);

/// Answered by `{"factors": […]}`: for each proposal a number that is not negative.
#[derive(Serialize)]
struct Question<'a> {
    proposals: Vec<ProposalMessage<'a>>,
}

#[derive(Serialize)]
struct ProposalMessage<'a> {
    #[serde(flatten)]
    episode: EpisodeMessage<'a>,
    /// By the scheme of `game.reward`.
    reward: f64,
}

impl<'a> ProposalMessage<'a> {
    fn new(proposal: &RewardedProposal<'a>) -> Self {
        Self { episode: EpisodeMessage::new(&proposal.episode), reward: proposal.reward.total() }
    }
}

impl ProposerFactor for ExecFactor {
    fn factors(&self, step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        let question = Question { proposals: proposals.iter().map(ProposalMessage::new).collect() };
        self.0.ask_step(step, &question, ("factors", proposals.len()), read_factor)
    }
}
