//! `game.proposer_factor`: factors of each proposer's reward, whatever scheme gives the reward.
//!
//! One file a factor; each is in [`FACTORS`] under its file's name. [`crate::external`] is the one that a program outside computes.
//! A reward says how hard a task is; a factor says what else makes it worth more or less, such as how much it repeats others. It
//! multiplies, so that no factor makes a worthless task worth something. Invariant: it is applied before a control shuffles the rewards.

mod novelty;
mod repetition;

use veriplay_core::Reward;

use crate::external::ExternalError;
use crate::registry::{Method, registry};
use crate::rewards::{EpisodeFacts, EpisodeResult, ProposalFacts};

/// A proposer's episode that has a reward.
#[derive(Debug, Clone, Copy)]
pub struct RewardedProposal<'a> {
    /// The episode.
    pub episode: EpisodeFacts<'a>,
    /// Its reward.
    pub reward: &'a Reward,
}

impl RewardedProposal<'_> {
    /// The facts of a valid proposal that is worth something.
    fn worthy_facts(&self) -> Option<&ProposalFacts> {
        let EpisodeResult::Proposal(outcome) = &self.episode.result else { return None };
        outcome.facts().filter(|_| self.reward.total() > 0.0)
    }
}

/// A way to weigh the rewards of proposers.
pub trait ProposerFactor: Send + Sync {
    /// Its name in the config; that of no registry may be any.
    fn name(&self) -> &'static str {
        "own"
    }

    /// Whether it looks at what tasks do, which a game may have to execute.
    fn needs_behaviours(&self) -> bool {
        false
    }

    /// The factor of a valid proposal whose reward is positive, in [0, 1].
    fn factor(&self, _facts: &ProposalFacts) -> f64 {
        1.0
    }

    /// The factor of each proposal's reward at step `step`, in their order; finite and not negative. Here a reward that is not positive stays as it
    /// is: a factor below 1 would make a penalty less of one.
    ///
    /// # Errors
    /// A factor that is computed elsewhere may fail. Nothing of the step is kept then.
    fn factors(&self, _step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        Ok(proposals.iter().map(|one| one.worthy_facts().map_or(1.0, |facts| self.factor(facts))).collect())
    }
}

registry! {
    /// Every factor that no program outside computes.
    FACTORS: [ProposerFactor] = [&novelty::Novelty, &repetition::Repetition]
}

/// Multiplies the weights of the parts of the proposers' rewards by all factors, each of which sees the rewards as the scheme gave them. Scores stay
/// as they are, so that the log has both.
pub(crate) fn apply(
    factors: &[Method<dyn ProposerFactor>],
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
    let mut products = vec![1.0; proposals.len()];
    for factor in factors {
        products.iter_mut().zip(factor.factors(step, &proposals)?).for_each(|(product, one)| *product *= one);
    }
    for (place, product) in places.into_iter().zip(products) {
        let parts = rewards[place].iter_mut().flat_map(|reward| &mut reward.parts);
        parts.for_each(|(_, _, weight)| *weight *= product);
    }
    Ok(())
}
