//! The settings of the game, as a config file states them, and what they may be. Called by the cli, which reads them.

use serde::{Deserialize, Serialize};

use super::dialects;
use super::episode::Budget;
use crate::eval_table::LEAST_SAMPLES;
use crate::scoring::{Aggregation, LearnFrom};
use crate::settings::{ConfigError, ProposerMode, check_count, check_group, check_name, check_number, refused};
use crate::{advantages, curricula, rewards};

/// The settings of the game. There is no `Default`: a config file states them all, and an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Name of the dialect of prompts and responses, one of [`dialects::DIALECTS`].
    pub dialect: String,
    /// Challengers' episodes a step; 0 leaves the model out of making tasks.
    pub challenges_per_step: usize,
    /// Tasks a step that executors are asked to do.
    pub tasks_per_step: usize,
    /// Executors' episodes at each (G). They estimate its solve rate and train the executor.
    pub group: usize,
    /// Share of a step's tasks that its own new ones may fill, in [0, 1]. Valid ones beyond it enter the buffer without a solve rate.
    pub fresh_share: f64,
    /// Tasks of challengers that are kept, newest first.
    pub buffer_capacity: usize,
    /// Name of the curriculum, one of [`curricula::CURRICULA`]. Absent means `learnable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<String>,
    /// Weight under curriculum `learnable` of one whose last solve rate was 0 < s < 1, where others weigh 1.
    pub resample_learnable: f64,
    /// Whether a challenger's task that no rollout did leaves the buffer: it may be one that cannot be done as it says.
    pub drop_unsolved: bool,
    /// `train` or `frozen`.
    pub challenger: ProposerMode,
    /// Multiplies the challenger's advantages, or the weight of its imitated artifacts; the executor's weigh 1.
    pub challenger_weight: f64,
    /// Name of the reward scheme, one of [`rewards::REWARDS`]; `random` is the control.
    pub reward: String,
    /// `advantages` or `successes`.
    pub learn_from: LearnFrom,
    /// Name of the advantage estimator, one of [`advantages::ADVANTAGES`].
    pub advantage: String,
    /// How the losses of tokens become one number.
    pub aggregation: Aggregation,
    /// Challengers' episodes of the start model: the turns of those whose artifact is valid are imitated ever after. 0 makes none.
    pub anchor_challenges: usize,
    /// Anchor samples a step.
    pub anchor_samples: usize,
    /// Weight of each.
    pub anchor_weight: f64,
    /// What an episode may use.
    pub budget: Budget,
    /// Softmax temperature of challengers.
    pub challenger_temperature: f32,
    /// Tokens of one response of theirs at most, the end token included.
    pub challenger_max_tokens: usize,
    /// Softmax temperature of executors.
    pub executor_temperature: f32,
    /// As `challenger_max_tokens`.
    pub executor_max_tokens: usize,
    /// Samples of each held-out task when the policy is measured: 8 at least.
    pub eval_samples: usize,
}

impl GameConfig {
    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_name("dialect", &self.dialect, &dialects::names())?;
        check_name("reward", &self.reward, &rewards::names())?;
        check_name("advantage", &self.advantage, &advantages::names())?;
        curricula::check(self.curriculum.as_deref())?;
        self.check_counts()?;
        self.check_numbers()?;
        if let Err(error) = self.budget.check() {
            return Err(refused(error.key, 0, "use at least `1`, below `budget`"));
        }
        match self.learn_from {
            LearnFrom::Advantages => check_group(&self.advantage, self.group),
            LearnFrom::Successes => Ok(()),
        }
    }

    /// How many of a step's tasks may be its own.
    pub(super) fn fresh_tasks(&self) -> usize {
        (self.fresh_share * self.tasks_per_step as f64).round() as usize
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let counts = [
            ("challenges_per_step", self.challenges_per_step, 0, 65_536),
            ("tasks_per_step", self.tasks_per_step, 1, 65_536),
            ("group", self.group, 1, 4_096),
            ("buffer_capacity", self.buffer_capacity, 1, 1 << 24),
            ("anchor_challenges", self.anchor_challenges, 0, 65_536),
            ("anchor_samples", self.anchor_samples, 0, 65_536),
            ("challenger_max_tokens", self.challenger_max_tokens, 1, 1 << 20),
            ("executor_max_tokens", self.executor_max_tokens, 1, 1 << 20),
            ("eval_samples", self.eval_samples, LEAST_SAMPLES as usize, 4_096),
        ];
        counts.into_iter().try_for_each(|(key, value, least, most)| check_count(key, value, least, most))
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("fresh_share", self.fresh_share, 1.0),
            ("resample_learnable", self.resample_learnable, 1_000.0),
            ("challenger_weight", self.challenger_weight, 1_000.0),
            ("anchor_weight", self.anchor_weight, 1_000.0),
            ("challenger_temperature", f64::from(self.challenger_temperature), 10.0),
            ("executor_temperature", f64::from(self.executor_temperature), 10.0),
        ];
        numbers.into_iter().try_for_each(|(key, value, most)| check_number(key, value, 0.0, most))
    }
}
