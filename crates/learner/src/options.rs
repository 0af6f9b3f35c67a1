//! How a learner works: sizes, optimizer, losses.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use veriplay_core::{LengthLimit, Role};

use crate::chat::seconds_of;
use crate::config::{ConfigError, ModelConfig};
use crate::device::{DeviceSpec, Precision, RolloutPrecision};
use crate::lora::Lora;
use crate::losses::{BadOption, Correction, Kl, Loss, Preference, check_entropy};
use crate::objective::ObjectiveTerms;
use crate::optim::Optimizer;
use crate::segments::Segments;

/// Largest [`LearnerOptions::data_parallel`].
pub const MAX_DATA_PARALLEL: usize = 256;

/// How a learner works. Changing `data_parallel` or `micro_tokens` changes results in the last bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnerOptions {
    /// Data-parallel workers: a batch is dealt to them, one thread each; also the threads of sampling.
    pub data_parallel: usize,
    /// Tokens that go through the model together.
    pub micro_tokens: usize,
    /// Tokens of a prompt and its response together, at most. Absent, or above the model's context, it is that. Memory is planned for
    /// sequences of this length.
    pub max_length: Option<usize>,
    /// Samples in flight for each sampling thread.
    pub rollout_rows: usize,
    /// Tokens that the caches of a device have room for, a prompt that samples share once: samples are admitted by what they hold now, and those
    /// with the fewest tokens wait again where all would hold more. Absent means no bound. On the CPU it changes nothing.
    pub rollout_tokens: Option<usize>,
    /// On the CPU, memory in MiB for keys and values of prompts that the next turn of an episode continues; what has no room is computed
    /// again. Samples do not depend on it. 0 keeps nothing.
    pub turn_cache_mib: usize,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// Largest global gradient norm; larger gradients are scaled down to it.
    pub clip_norm: f64,
    /// Whether conversations are rendered by the checkpoint's chat template, where it has one; otherwise as plain text, which base models
    /// know better.
    pub chat_template: bool,
    /// The date for chat templates that write one, such as `2024-07-26`. Absent, those that can do without one do, and others fail.
    pub chat_date: Option<String>,
    /// Backward by segments: less memory, one more forward pass. Absent keeps every layer's intermediate results.
    pub segments: Option<Segments>,
    /// On a device that trains all weights, whether AdamW, its state and the sums of gradients are on the host, with weights in f32, which the device
    /// has in the precision of activations. It wants `segments`. On the CPU it changes nothing.
    pub optimizer_offload: bool,
    /// Low-rank adapters to train instead of the weights. This and the fields below are tables of their own in a config.
    #[serde(skip)]
    pub lora: Option<Lora>,
    /// Roles that have adapters of their own beside one base, the solver among them. Empty where all roles share what trains.
    #[serde(skip)]
    pub roles: Vec<Role>,
    /// The loss of `update`.
    #[serde(skip)]
    pub loss: Loss,
    /// A divergence that is added to it.
    #[serde(skip)]
    pub kl: Option<Kl>,
    /// What corrects it for a sampler that computes otherwise. Absent compares the policy with the sampler's log-probabilities.
    #[serde(skip)]
    pub correction: Option<Correction>,
    /// An entropy bonus that is added to it; 0 for none.
    #[serde(skip)]
    pub entropy_bonus: f64,
    /// The loss of `prefer`.
    #[serde(skip)]
    pub preference: Preference,
    /// The device. Other devices than `cpu` have one worker, whatever `data_parallel` is.
    #[serde(skip)]
    pub device: DeviceSpec,
    /// The numbers of activations, of a frozen base under adapters, and of weights whose optimizer is on the host. What the optimizer changes, its
    /// gradients and its moments are f32.
    #[serde(skip)]
    pub precision: Precision,
    /// What rollouts are computed in on the CPU. Absent is as the weights: f32. Samples then have the log-probabilities of the quantised policy.
    #[serde(skip)]
    pub rollout_precision: Option<RolloutPrecision>,
    /// Whether a server samples in the learner's place: no memory is planned for rollouts.
    #[serde(skip)]
    pub server_samples: bool,
    /// Whether a frozen copy samples while the learner trains: memory is planned for both at once.
    #[serde(skip)]
    pub samples_ahead: bool,
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self {
            data_parallel: 2,
            micro_tokens: 1024,
            max_length: None,
            rollout_rows: 256,
            rollout_tokens: None,
            turn_cache_mib: 1024,
            optimizer: Optimizer::default(),
            clip_norm: 1.0,
            chat_template: true,
            chat_date: None,
            segments: None,
            optimizer_offload: false,
            lora: None,
            roles: Vec::new(),
            loss: Loss::default(),
            kl: None,
            correction: None,
            entropy_bonus: 0.0,
            preference: Preference::default(),
            device: DeviceSpec::default(),
            precision: Precision::default(),
            rollout_precision: None,
            server_samples: false,
            samples_ahead: false,
        }
    }
}

impl LearnerOptions {
    /// Checks every value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let sizes = [
            ("options.data_parallel", self.data_parallel, MAX_DATA_PARALLEL),
            ("options.micro_tokens", self.micro_tokens, 1 << 20),
            ("options.max_length", self.max_length.unwrap_or(1), 1 << 20),
            ("options.rollout_rows", self.rollout_rows, 1 << 20),
            ("options.rollout_tokens", self.rollout_tokens.unwrap_or(1), 1 << 40),
        ];
        for (key, value, most) in sizes {
            bad_unless((1..=most).contains(&value), key, &value, &format!("from 1 to {most}"))?;
        }
        let (turns, most) = (self.turn_cache_mib, 1 << 24);
        bad_unless(turns <= most, "options.turn_cache_mib", &turns, &format!("from 0 to {most}"))?;
        if let Some(date) = &self.chat_date {
            bad_unless(seconds_of(date).is_some(), "options.chat_date", date, "a date such as `2024-07-26`")?;
        }
        if let Some(Segments { layers, logit_rows }) = self.segments {
            bad_unless((1..=1 << 16).contains(&layers), "options.segments.layers", &layers, "from 1 to 65536")?;
            let fine = (1..=1 << 20).contains(&logit_rows);
            bad_unless(fine, "options.segments.logit_rows", &logit_rows, "from 1 to 1048576")?;
        }
        if let Some((key, value, want)) = self.optimizer.invalid_option() {
            return Err(refusal(&format!("options.optimizer.{key}"), &value, want));
        }
        self.validate_offload()?;
        if let Some((key, value, want)) = self.lora.as_ref().and_then(Lora::invalid_option) {
            return Err(refusal(&format!("lora.{key}"), &value, &want));
        }
        self.device.check(self.precision)?;
        self.validate_rollout_precision()?;
        bad_unless(self.clip_norm > 0.0, "options.clip_norm", &self.clip_norm, "a positive number")?;
        self.validate_losses()
    }

    fn validate_offload(&self) -> Result<(), ConfigError> {
        let refused = [
            (self.lora.is_some(), "false where adapters train: their optimizer is small"),
            (matches!(self.optimizer, Optimizer::Muon { .. }), "false with `muon`, whose products a host is slow at"),
            (self.segments.is_none(), "false without `[learn.options.segments]`: gradients reach the host by segments"),
        ];
        let first = refused.into_iter().find(|(is_refused, _)| self.optimizer_offload && *is_refused);
        first.map_or(Ok(()), |(_, want)| Err(refusal("options.optimizer_offload", &true, want)))
    }

    fn validate_rollout_precision(&self) -> Result<(), ConfigError> {
        match self.rollout_precision {
            Some(precision) if self.device != DeviceSpec::Cpu => {
                let want = format!("left out on device `{}`: only kernels of device `cpu` multiply so", self.device);
                Err(refusal("rollout_precision", &precision.name(), &want))
            }
            _ => Ok(()),
        }
    }

    /// Whether the optimizer is elsewhere than the weights.
    pub fn offloads(&self) -> bool {
        self.optimizer_offload && self.lora.is_none() && self.device != DeviceSpec::Cpu
    }

    /// The options of losses, each under the name of its table.
    fn validate_losses(&self) -> Result<(), ConfigError> {
        let in_table =
            |table: &'static str| move |bad: BadOption| refusal(&format!("{table}{}", bad.key), &bad.value, bad.want);
        self.loss.formula().check().map_err(in_table("loss."))?;
        self.preference.formula().check().map_err(in_table("preference."))?;
        self.kl.as_ref().map_or(Ok(()), Kl::check).map_err(in_table(""))?;
        self.correction.as_ref().map_or(Ok(()), Correction::check).map_err(in_table(""))?;
        check_entropy(self.entropy_bonus).map_err(in_table(""))
    }

    /// Whether rollouts must be drawn from the model's own distribution: at temperature 1, and from all tokens.
    ///
    /// A ratio or a divergence compares log-probabilities of that distribution, which is then the policy that sampled.
    pub fn needs_model_distribution(&self) -> bool {
        self.terms().needs_behaviour()
    }

    /// Tokens that a prompt and its response may have together, for a model of this shape.
    pub fn context(&self, config: &ModelConfig) -> usize {
        self.length_limit(config).tokens()
    }

    /// The same, with what bounds it.
    pub fn length_limit(&self, config: &ModelConfig) -> LengthLimit {
        LengthLimit { context: config.context(), max_length: self.max_length }
    }

    /// The loss of `update` with its added terms.
    pub(crate) const fn terms(&self) -> ObjectiveTerms {
        let Self { loss, kl, entropy_bonus, correction, .. } = *self;
        ObjectiveTerms { loss, kl, entropy_bonus, correction }
    }
}

fn bad_unless(fine: bool, key: &str, value: &dyn Display, want: &str) -> Result<(), ConfigError> {
    if fine { Ok(()) } else { Err(refusal(key, value, want)) }
}

fn refusal(key: &str, value: &dyn Display, want: &str) -> ConfigError {
    ConfigError::Option { key: key.to_owned(), value: value.to_string(), want: want.to_owned() }
}
