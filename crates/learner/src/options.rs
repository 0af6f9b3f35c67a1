//! How a learner works: sizes, optimizer, losses.

use std::fmt::Display;

use crate::config::ConfigError;
use crate::losses::{BadOption, Kl, Loss, Preference, check_entropy};
use crate::objective::Terms;
use crate::optim::Optimizer;

/// How a learner works. Changing `shards` or `micro_tokens` changes results in the last bits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnerOptions {
    /// Parts a batch is dealt to, one thread each; also the threads of sampling.
    pub shards: usize,
    /// Tokens that go through the model together.
    pub micro_tokens: usize,
    /// Samples in flight in one sampling thread.
    pub rollout_rows: usize,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// Largest global gradient norm; larger gradients are scaled down to it.
    pub clip_norm: f64,
    /// What `update` minimises. This and the three below are tables of their own in a config.
    #[serde(skip)]
    pub loss: Loss,
    /// A divergence that is added to it.
    #[serde(skip)]
    pub kl: Option<Kl>,
    /// An entropy bonus that is added to it; 0 for none.
    #[serde(skip)]
    pub entropy_bonus: f64,
    /// What `prefer` minimises.
    #[serde(skip)]
    pub preference: Preference,
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self {
            shards: 2,
            micro_tokens: 1024,
            rollout_rows: 256,
            optimizer: Optimizer::default(),
            clip_norm: 1.0,
            loss: Loss::default(),
            kl: None,
            entropy_bonus: 0.0,
            preference: Preference::default(),
        }
    }
}

impl LearnerOptions {
    /// Checks every value.
    ///
    /// # Errors
    /// The first one that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let sizes = [
            ("shards", self.shards, 256),
            ("micro_tokens", self.micro_tokens, 1 << 20),
            ("rollout_rows", self.rollout_rows, 1 << 20),
        ];
        for (key, value, most) in sizes {
            bad_unless((1..=most).contains(&value), key, &value, &format!("1 to {most}"))?;
        }
        bad_unless(self.clip_norm > 0.0, "clip_norm", &self.clip_norm, "a positive number")?;
        self.validate_losses().map_err(|bad| refusal(bad.key, &bad.value, bad.want))
    }

    fn validate_losses(&self) -> Result<(), BadOption> {
        self.loss.formula().check()?;
        self.preference.formula().check()?;
        self.kl.as_ref().map_or(Ok(()), Kl::check)?;
        check_entropy(self.entropy_bonus)
    }

    /// What `update` minimises, with what is added to it.
    pub(crate) const fn terms(&self) -> Terms {
        Terms { loss: self.loss, kl: self.kl, entropy_bonus: self.entropy_bonus }
    }
}

fn bad_unless(fine: bool, key: &str, value: &dyn Display, want: &str) -> Result<(), ConfigError> {
    if fine { Ok(()) } else { Err(refusal(key, value, want)) }
}

fn refusal(key: &str, value: &dyn Display, want: &str) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), value: value.to_string(), want: format!("want {want}") }
}
