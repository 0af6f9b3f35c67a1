//! The methods that a game is played with, as its settings name them.

use veriplay_core::Reward;

use crate::advantages::{self, ADVANTAGES, AdvantageEstimator};
use crate::curricula::{self, Curriculum, CurriculumContext, CurriculumTask};
use crate::external::{self, ExternalError};
use crate::monitors::{MONITORS, Monitor};
use crate::proposer_factor::{self, ProposerFactor, RewardedProposal};
use crate::rewards::{self, EpisodeFacts, ProposalOutcome, REWARDS, RewardScheme};
use crate::settings::SharedSettings;

pub use crate::registry::Method;

/// The methods that a game is played with. Every method serves every game.
pub struct Methods {
    /// Rewards episodes.
    pub reward: Method<dyn RewardScheme>,
    /// Multiply the rewards of proposers, in the order of their names.
    pub proposer_factors: Vec<Method<dyn ProposerFactor>>,
    /// Turns rewards into advantages.
    pub advantage: &'static dyn AdvantageEstimator,
    /// Weighs the tasks of the pool.
    pub curriculum: Method<dyn Curriculum>,
    /// Watch every step.
    pub monitors: Vec<&'static dyn Monitor>,
}

impl Methods {
    /// Those that checked settings name, with every monitor. An objective that uses neither rewards nor advantages may leave both out.
    ///
    /// # Panics
    /// Never: checked settings name what is registered.
    pub fn named_by(settings: &SharedSettings) -> Self {
        let named = settings.reward.as_deref();
        let reward: &'static dyn RewardScheme = match named.and_then(external::command) {
            Some(_) => &Unconnected,
            None => named.map_or(Some(REWARDS[0]), rewards::by_name).expect("a checked name"),
        };
        let curriculum: &'static dyn Curriculum = match external::command(&settings.curriculum) {
            Some(_) => &Unconnected,
            None => curricula::by_name(&settings.curriculum).expect("a checked name"),
        };
        let advantage =
            settings.advantage.as_deref().map_or(Some(ADVANTAGES[0]), advantages::by_name).expect("a checked name");
        Self {
            reward: settings
                .alpha
                .and_then(|alpha| reward.with_alpha(alpha))
                .map_or(Method::Registered(reward), Method::Own),
            proposer_factors: settings
                .proposer_factor()
                .iter()
                .map(|name| Method::Registered(named_factor(name)))
                .collect(),
            advantage,
            curriculum: Method::Registered(curriculum),
            monitors: MONITORS.to_vec(),
        }
    }
}

fn named_factor(name: &str) -> &'static dyn ProposerFactor {
    match external::command(name) {
        Some(_) => &Unconnected,
        None => proposer_factor::by_name(name).expect("a checked name"),
    }
}

/// Stands for a program outside ([`crate::external`]) until who plays connects it: every question is an error.
struct Unconnected;

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

    fn weights(&self, _: &CurriculumContext<'_>, _: &[CurriculumTask<'_>]) -> Result<Vec<f64>, ExternalError> {
        Self::refuse("curriculum")
    }
}

impl ProposerFactor for Unconnected {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn factors(&self, _: u64, _: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        Self::refuse("proposer_factor")
    }
}
