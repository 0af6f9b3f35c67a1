//! `game.proposer_factor = "exec:COMMAND"`: a factor of each proposer's reward of a step.

use serde::Serialize;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};

use super::messages::EpisodeMessage;
use super::process::{Plugin, read_weight};

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

impl ProposerFactor for ExecFactor {
    fn factors(&self, step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        let message = |one: &RewardedProposal<'_>| ProposalMessage {
            episode: EpisodeMessage::new(&one.episode),
            reward: one.reward.total(),
        };
        let question = Question { proposals: proposals.iter().map(message).collect() };
        self.0.ask_step(step, &question, ("factors", proposals.len()), read_weight)
    }
}
