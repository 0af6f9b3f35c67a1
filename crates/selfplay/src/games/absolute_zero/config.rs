//! The settings of the game, as a config file states them, and what they may be. Called by the cli, which reads them.

use serde::{Deserialize, Serialize};

use crate::scoring::Aggregation;
use crate::settings::{ConfigError, ProposerMode, check_count, check_group, check_name, check_number};
use crate::{advantages, curricula, prompts, rewards};

/// What becomes of samples of advantage 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZeroAdvantage {
    /// They are left out: a loss that is a multiple of the advantage does not depend on them.
    #[default]
    Drop,
    /// They stay, for losses with a KL term or an entropy bonus.
    Keep,
}

impl ZeroAdvantage {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The settings of the game. There is no `Default`: a config file states them all, and an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Name of the prompt format, one of [`prompts::PROMPT_FORMATS`].
    pub format: String,
    /// Proposals a step for each task type; 0 trains the solver on the buffers alone.
    pub proposals_per_type: usize,
    /// Solver tasks a step for each task type.
    pub tasks_per_type: usize,
    /// Rollouts of each solver task (G). They estimate its solve rate and train the solver.
    pub group: usize,
    /// Reference tasks in a proposer prompt (K); 0 shows none, and then all proposals of a type share one prompt.
    pub references: usize,
    /// `train` or `frozen`.
    pub proposer: ProposerMode,
    /// Name of the reward scheme, one of [`rewards::REWARDS`]; `random` is the control.
    pub reward: String,
    /// Name of the advantage estimator, one of [`advantages::ADVANTAGES`].
    pub advantage: String,
    /// How the losses of tokens become one number. Absent means `token_mean`.
    #[serde(default, skip_serializing_if = "Aggregation::is_default")]
    pub aggregation: Aggregation,
    /// Whether samples of advantage 0 are trained on. Absent means `drop`.
    #[serde(default, skip_serializing_if = "ZeroAdvantage::is_default")]
    pub zero_advantage: ZeroAdvantage,
    /// Multiplies the proposer's advantages; the solver's weigh 1.
    pub proposer_weight: f64,
    /// Weight of each anchor sample, which is imitated.
    pub anchor_weight: f64,
    /// Anchor samples a step.
    pub anchor_samples: usize,
    /// Accepted proposals kept for each task type, newest kept. Seeds do not count and are never lost.
    pub buffer_capacity: usize,
    /// Share of a type's solver tasks that this step's proposals may fill, in [0, 1]. Valid proposals beyond it enter the
    /// buffer without a solve rate, and are not trained on.
    pub fresh_fraction: f64,
    /// Share of the other solver tasks that come from seeds, in [0, 1]; the rest are proposals accepted in earlier steps.
    pub seed_share: f64,
    /// Name of the curriculum, one of [`curricula::CURRICULA`]. Absent means `learnable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<String>,
    /// Weight under curriculum `learnable` of a buffer task whose last solve rate was 0 < s < 1, where others weigh 1. Absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resample_learnable: Option<f64>,
    /// Input-output pairs an induction solver sees.
    pub induction_visible: usize,
    /// Pairs its program is judged on.
    pub induction_hidden: usize,
    /// Softmax temperature of proposals.
    pub proposer_temperature: f32,
    /// Tokens of a proposal at most, the end token included.
    pub proposer_max_tokens: usize,
    /// Softmax temperature of answers.
    pub solver_temperature: f32,
    /// Tokens of an answer at most, the end token included.
    pub solver_max_tokens: usize,
}

impl GameConfig {
    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_names()?;
        self.check_counts()?;
        self.check_shares()?;
        self.check_weights()?;
        check_group(&self.advantage, self.group)
    }

    /// Inputs an induction proposal must have.
    #[must_use]
    pub const fn induction_inputs(&self) -> usize {
        self.induction_visible + self.induction_hidden
    }

    /// How many fresh proposals of one type become solver tasks at most.
    #[must_use]
    pub fn fresh_cap(&self) -> usize {
        (self.fresh_fraction * self.tasks_per_type as f64).round() as usize
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        check_name("format", &self.format, &prompts::names())?;
        check_name("reward", &self.reward, &rewards::names())?;
        check_name("advantage", &self.advantage, &advantages::names())?;
        curricula::check(self.curriculum.as_deref())
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        check_count("proposals_per_type", self.proposals_per_type, 0, 65_536)?;
        check_count("tasks_per_type", self.tasks_per_type, 1, 65_536)?;
        check_count("group", self.group, 1, 4_096)?;
        check_count("references", self.references, 0, 64)?;
        check_count("anchor_samples", self.anchor_samples, 0, 65_536)?;
        check_count("buffer_capacity", self.buffer_capacity, 1, 1 << 24)?;
        check_count("induction_visible", self.induction_visible, 1, 64)?;
        check_count("induction_hidden", self.induction_hidden, 1, 64)?;
        check_count("proposer_max_tokens", self.proposer_max_tokens, 1, 1 << 20)?;
        check_count("solver_max_tokens", self.solver_max_tokens, 1, 1 << 20)
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        check_number("fresh_fraction", self.fresh_fraction, 0.0, 1.0)?;
        check_number("seed_share", self.seed_share, 0.0, 1.0)
    }

    fn check_weights(&self) -> Result<(), ConfigError> {
        check_number("proposer_weight", self.proposer_weight, 0.0, 1_000.0)?;
        check_number("anchor_weight", self.anchor_weight, 0.0, 1_000.0)?;
        check_number("resample_learnable", self.resample_learnable.unwrap_or(1.0), 0.0, 1_000.0)?;
        check_number("proposer_temperature", f64::from(self.proposer_temperature), 0.0, 10.0)?;
        check_number("solver_temperature", f64::from(self.solver_temperature), 0.0, 10.0)
    }
}
