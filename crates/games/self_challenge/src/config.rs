//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};
use veriplay_selfplay::settings::{ConfigError, GameConfig, GameSettings, check_counts, check_numbers};

use super::episode::ToolBudget;
use super::prompts;

/// `[game]` of a configuration.
pub type SelfChallengeConfig = GameConfig<SelfChallengeSettings>;

/// The game's own keys of `[game]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfChallengeSettings {
    /// Challengers' episodes a step; 0 leaves the model out of making tasks.
    pub challenges_per_step: usize,
    /// Tasks a step that executors attempt.
    pub tasks_per_step: usize,
    /// Share of a step's tasks that its own new ones may fill, in [0, 1]. Valid ones beyond it enter the buffer without a solve rate.
    pub fresh_share: f64,
    /// Challengers' episodes of the start model: the turns of those whose artifact is valid are supervised examples. 0 makes none.
    pub sft_challenges: usize,
    /// What an episode may use.
    pub budget: ToolBudget,
}

impl SelfChallengeSettings {
    /// How many of a step's tasks may be its own.
    pub(super) fn fresh_tasks(&self) -> usize {
        (self.fresh_share * self.tasks_per_step as f64).round() as usize
    }
}

impl GameSettings for SelfChallengeSettings {
    fn check(config: &GameConfig<Self>) -> Result<(), ConfigError> {
        let own = &config.own;
        config.shared.check(&prompts::names(), true)?;
        check_counts(&[
            ("challenges_per_step", own.challenges_per_step, 0, 65_536),
            ("tasks_per_step", own.tasks_per_step, 1, 65_536),
            ("sft_challenges", own.sft_challenges, 0, 65_536),
        ])?;
        check_numbers(&[("fresh_share", own.fresh_share, 0.0, 1.0)])?;
        own.budget.check().map_err(|error| error.within("budget"))
    }
}
