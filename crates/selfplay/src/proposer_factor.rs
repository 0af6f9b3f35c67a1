//! `game.proposer_factor`: a factor of each proposer's reward, whatever scheme gives the reward.
//!
//! A reward says how hard a task is; a factor says what else makes it worth more or less, such as how much it repeats others. It
//! multiplies, so that no factor makes a worthless task worth something. Invariant: it is applied before a control shuffles the rewards.

use veriplay_core::Reward;

use crate::external::ExternalError;
use crate::rewards::{EpisodeFacts, EpisodeResult};

/// A proposer's episode that has a reward.
#[derive(Debug, Clone, Copy)]
pub struct RewardedProposal<'a> {
    /// The episode.
    pub episode: EpisodeFacts<'a>,
    /// Its reward.
    pub reward: &'a Reward,
}

/// A way to weigh the rewards of proposers.
pub trait ProposerFactor: Send + Sync {
    /// The factor of each proposal's reward at step `step`, in their order; finite and not negative.
    ///
    /// # Errors
    /// A factor that is computed elsewhere may fail. Nothing of the step is kept then.
    fn factors(&self, step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError>;
}

/// Multiplies the weights of the parts of the proposers' rewards. Scores stay as the scheme gave them, so that the log has both.
pub(crate) fn apply(
    factor: &dyn ProposerFactor,
    step: u64,
    episodes: &[EpisodeFacts<'_>],
    rewards: &mut [Option<Reward>],
) -> Result<(), ExternalError> {
    let (mut places, mut proposals) = (Vec::new(), Vec::new());
    for (place, (episode, reward)) in episodes.iter().zip(&*rewards).enumerate() {
        if let (EpisodeResult::Proposal(_), Some(reward)) = (episode.result, reward) {
            places.push(place);
            proposals.push(RewardedProposal { episode: *episode, reward });
        }
    }
    if proposals.is_empty() {
        return Ok(());
    }
    let factors = factor.factors(step, &proposals)?;
    for (place, factor) in places.into_iter().zip(factors) {
        let parts = rewards[place].iter_mut().flat_map(|reward| &mut reward.parts);
        parts.for_each(|(_, _, weight)| *weight *= factor);
    }
    Ok(())
}
