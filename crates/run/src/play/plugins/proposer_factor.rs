//! `game.proposer_factor = "exec:COMMAND"`: a factor of each proposer's reward of a step.

use std::collections::BTreeMap;

use serde::Serialize;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};

use super::messages::EpisodeMessage;
use super::process::{Plugin, read_factor};

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

impl ProposerFactor for Plugin {
    /// Answered by `{"factors": […]}`: for each proposal a number that is not negative.
    fn factors(&self, step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        let messages: Vec<_> = proposals.iter().map(ProposalMessage::new).collect();
        self.ask_step(step, &BTreeMap::from([("proposals", messages)]), ("factors", proposals.len()), read_factor)
    }
}
