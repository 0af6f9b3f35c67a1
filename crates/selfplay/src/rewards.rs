//! What each role is rewarded for, in every game that [`crate::driver`] plays; names are values of the config key `reward`.
//!
//! One file a scheme; each is in [`REWARDS`] under its file's name, and the curves of the solve rate are lines of `curve`. [`crate::external`] is
//! the scheme that a program outside computes.
//! What a scheme rewards are judgements and solve rates; a Dropped attempt never reaches it.

mod azr;
mod curve;
mod evol_rl;
mod ssr;
mod validity;

use rand::Rng;
use rand::seq::SliceRandom;
use serde::Serialize;
use veriplay_core::{Prompt, Reward, Role, Rollout, Status, Verdict};

pub use evol_rl::reward_novelties;

use crate::external::ExternalError;
use crate::registry::registry;

/// What became of a proposal, as far as a reward may know.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ProposalOutcome {
    /// Nothing could be extracted.
    Malformed,
    /// The validity gate refused it.
    Invalid,
    /// It is valid and already known: in a buffer, or earlier in this batch.
    Duplicate,
    /// It is valid, and no solver attempted it.
    Unrated(ProposalFacts),
    /// It is valid, and the solver's rollouts were judged.
    Solved(ProposalFacts),
}

/// What is known of a valid proposal and of the attempts at its task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ProposalFacts {
    /// Judged attempts that solved it.
    pub solved: u32,
    /// Attempts that came to a verdict.
    pub judged: u32,
    /// 1 − the share of the newest admitted proposals of earlier steps that do the same. This and the next are `None` where no factor of
    /// [`crate::proposer_factor`] asks for them, or the host failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novelty: Option<f64>,
    /// Share of the step's admitted proposals of its kind that do the same, itself left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_share: Option<f64>,
    /// Mean tokens of the judged attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver_tokens: Option<f64>,
}

impl ProposalFacts {
    /// Of a task that `solved` of `judged` attempts solved.
    pub fn counted(solved: u32, judged: u32) -> Self {
        Self { solved, judged, ..Self::default() }
    }

    /// The solve rate s in [0, 1]; 0 where nothing was judged.
    pub fn rate(&self) -> f64 {
        if self.judged == 0 { 0.0 } else { f64::from(self.solved) / f64::from(self.judged) }
    }
}

impl ProposalOutcome {
    /// The facts of a valid proposal.
    pub const fn facts(&self) -> Option<&ProposalFacts> {
        match self {
            Self::Unrated(facts) | Self::Solved(facts) => Some(facts),
            Self::Malformed | Self::Invalid | Self::Duplicate => None,
        }
    }

    /// The reward without what guesses earn. Of a share s of right attempts, a solver that always gives the commonest output has g: what
    /// the task earns by its solve rate counts by (s − g) / s, which is 1 where nothing can be guessed and 0 where nobody does better than a guess. What is lost,
    /// such as for a task that everybody solves, is lost in any case.
    fn without_guesses(self, mut reward: Reward, guess_rate: Option<f64>) -> Reward {
        if let (Self::Solved(facts), Some(guesses)) = (self, guess_rate)
            && facts.solved > 0
        {
            let rate = facts.rate();
            let is_of_rate = |name: &str| [LEARNABILITY, DIFFICULTY].contains(&name);
            let earned = reward.parts.iter_mut().filter(|(name, score, _)| is_of_rate(name) && *score > 0.0);
            earned.for_each(|(_, _, weight)| *weight *= (1.0 - guesses / rate).max(0.0));
        }
        reward
    }
}

/// The parts of rewards that are functions of the solve rate.
const LEARNABILITY: &str = "learnability";
const DIFFICULTY: &str = "difficulty";

/// An episode that gets a reward, with all that a reward may know of it.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeFacts<'a> {
    /// Its role.
    pub role: Role,
    /// Its kind of task.
    pub kind: &'static str,
    /// Episodes of one role, kind and group answered the same question.
    pub group: usize,
    /// What became of it.
    pub result: EpisodeResult,
    /// Of a proposal, how often a solver is right that always gives the commonest output; `None` where that is not known or does not count.
    pub guess_rate: Option<f64>,
    /// Whether the frame of its response is as the prompt asked ([`veriplay_verifier::Format::is_well_formed`]).
    pub well_formed: bool,
    /// Prompt and response of each turn.
    pub turns: &'a [(Prompt, Rollout)],
    /// The verdict; `None` where the host failed.
    pub verdict: Option<&'a Verdict>,
}

/// What became of an episode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EpisodeResult {
    /// A proposer's.
    Proposal(ProposalOutcome),
    /// A solver's or verifier's: the status by which it is rewarded.
    Response(Status),
}

/// Takes what guesses earn from the rewards of proposals, whatever scheme made them.
pub fn discount_guesses(episodes: &[EpisodeFacts<'_>], rewards: &mut [Option<Reward>]) {
    for (episode, reward) in episodes.iter().zip(rewards) {
        if let EpisodeResult::Proposal(outcome) = episode.result {
            *reward = reward.take().map(|reward| outcome.without_guesses(reward, episode.guess_rate));
        }
    }
}

/// A named way to reward both roles.
pub trait RewardScheme: Send + Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// The reward of a solver for an attempt with this status. `well_formed` says whether the frame of its response is as
    /// the prompt asked ([`veriplay_verifier::Format::is_well_formed`]). Here it is the accuracy: 1 for Accepted, else 0.
    fn solver(&self, status: Status, _well_formed: bool) -> Reward {
        Reward::single("accuracy", f64::from(u8::from(status == Status::Accepted)))
    }

    /// The reward of a proposer; `well_formed` as for a solver. `None`: it has none, and nothing is learned from it.
    fn proposer(&self, outcome: ProposalOutcome, well_formed: bool) -> Option<Reward>;

    /// The rewards of all episodes of step `step`, in their order; `None` for an episode that nothing is learned from.
    ///
    /// # Errors
    /// A reward that is computed elsewhere may fail. Nothing of the step is kept then.
    fn rewards(&self, _step: u64, episodes: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        let reward = |episode: &EpisodeFacts<'_>| match episode.result {
            EpisodeResult::Proposal(outcome) => self.proposer(outcome, episode.well_formed),
            EpisodeResult::Response(status) => Some(self.solver(status, episode.well_formed)),
        };
        Ok(episodes.iter().map(reward).collect())
    }

    /// Whether the rewards are shuffled within each (role, task type) batch before anybody learns from them.
    fn shuffled(&self) -> bool {
        false
    }

    /// The scheme with another penalty for tasks that everybody or nobody solves; `None` where it has no such penalty.
    fn with_alpha(&self, _alpha: f64) -> Option<Box<dyn RewardScheme>> {
        None
    }
}

registry! {
    /// Every reward scheme.
    REWARDS: [RewardScheme] = [
        &curve::FAILURE_RATE,
        &azr::AZR,
        &azr::AZR_INVERSE,
        &curve::BAND,
        &curve::R_ZERO,
        &curve::SQLM,
        &curve::SVS,
        &curve::SPICE,
        &curve::DR_ZERO,
        &curve::PASODOBLE,
        &curve::OPENSIR,
        &curve::SERL,
        &curve::STP,
        &validity::Validity,
        &evol_rl::EvolRl,
        &ssr::SSR,
        &ssr::CONSISTENCY,
        &curve::RANDOM,
        &ssr::SSR_RANDOM,
    ]
}

/// Gives the rewards of a batch to its members anew: the control.
pub(crate) fn shuffle(mut batch: Vec<&mut Reward>, generator: &mut impl Rng) {
    let mut rewards: Vec<Reward> = batch.iter().map(|reward| (**reward).clone()).collect();
    rewards.shuffle(generator);
    batch.iter_mut().zip(rewards).for_each(|(place, reward)| **place = reward);
}
