//! The learner: a model with its tokenizer and optimizer, behind the seams `Policy` and `Learn`.
//!
//! Called by the command line. All randomness comes from seeds, all sums have a fixed order, and the number of shards is part
//! of the options: the same calls give the same bits on the same machine.

use std::sync::{Mutex, PoisonError};

use veriplay_core::{Learn, LearnError, PolicyVersion, TrainBatch, Update};

use crate::config::{ConfigError, ModelConfig};
use crate::model::parameters::{TensorSpec, tensor_specs};
use crate::model::{Parameters, Purpose, Workspace};
use crate::optim::{Optimizer, OptimizerState, Rate};
use crate::rollout::RolloutSpace;
use crate::tokenizer::Tokenizer;
use crate::train::{Totals, check_batch, gradients};

/// A tensor with its name and shape.
pub type NamedTensor = (TensorSpec, Vec<f32>);

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
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self { shards: 2, micro_tokens: 1024, rollout_rows: 256, optimizer: Optimizer::default(), clip_norm: 1.0 }
    }
}

impl LearnerOptions {
    fn validate(&self) -> Result<(), ConfigError> {
        let sizes = [
            ("shards", self.shards, 256),
            ("micro_tokens", self.micro_tokens, 1 << 20),
            ("rollout_rows", self.rollout_rows, 1 << 20),
        ];
        for (key, value, most) in sizes {
            if !(1..=most).contains(&value) {
                return Err(ConfigError::Value { key, value: value.to_string(), want: format!("want 1 to {most}") });
            }
        }
        if self.clip_norm.is_nan() || self.clip_norm <= 0.0 {
            return Err(ConfigError::Value {
                key: "clip_norm",
                value: self.clip_norm.to_string(),
                want: "want a positive number".to_owned(),
            });
        }
        Ok(())
    }
}

/// A model that samples and learns.
#[derive(Debug)]
pub struct Learner {
    pub(crate) config: ModelConfig,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) options: LearnerOptions,
    pub(crate) weights: Parameters,
    pub(crate) state: OptimizerState,
    pub(crate) version: PolicyVersion,
    /// Whether the first update has shown that every parameter gets a gradient.
    checked: bool,
    spaces: Vec<Workspace>,
    /// Buffers of sampling threads that are not sampling now.
    idle: Mutex<Vec<RolloutSpace>>,
}

impl Learner {
    pub(crate) fn assemble(
        config: ModelConfig,
        tokenizer: Tokenizer,
        weights: Parameters,
        options: LearnerOptions,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        options.validate()?;
        let tokens = tokenizer.vocab_size();
        if tokens > config.vocab_size {
            let want = format!("want at least the tokenizer's {tokens} tokens");
            return Err(ConfigError::Value { key: "vocab_size", value: config.vocab_size.to_string(), want });
        }
        let state = OptimizerState::new(&config);
        Ok(Self {
            config,
            tokenizer,
            options,
            weights,
            state,
            version: PolicyVersion(0),
            checked: false,
            spaces: Vec::new(),
            idle: Mutex::default(),
        })
    }

    /// A new model with random weights: a pure function of `config` and `seed`.
    ///
    /// # Errors
    /// A config that contradicts itself, the tokenizer or the options.
    pub fn initialize(
        config: ModelConfig,
        tokenizer: Tokenizer,
        seed: u64,
        options: LearnerOptions,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let weights = crate::init::initial(&config, seed);
        Self::assemble(config, tokenizer, weights, options)
    }

    /// The model's shape.
    #[must_use]
    pub const fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The tokenizer.
    #[must_use]
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The options.
    #[must_use]
    pub const fn options(&self) -> &LearnerOptions {
        &self.options
    }

    /// The version of the weights.
    #[must_use]
    pub const fn version(&self) -> PolicyVersion {
        self.version
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.weights.tensors(&self.config).iter().map(|t| t.len()).sum()
    }

    /// Every weight tensor, in the order of [`tensor_specs`].
    #[must_use]
    pub fn named_weights(&self) -> Vec<NamedTensor> {
        named(&self.config, &self.weights)
    }

    /// Loss of a batch and its gradient in every weight tensor, without a step: for diagnosis and tests.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_gradients(&mut self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        check_batch(batch, &self.config, 0.0)?;
        let totals = self.compute(batch);
        Ok((totals.loss.loss, named(&self.config, &self.spaces[0].gradients)))
    }

    /// Leaves the gradients of `batch` in the first workspace.
    fn compute(&mut self, batch: &TrainBatch) -> Totals {
        while self.spaces.len() < self.options.shards {
            self.spaces.push(Workspace::new(&self.config, Purpose::Training));
        }
        gradients(&self.config, &self.weights, &mut self.spaces, batch, self.options.micro_tokens)
    }

    /// Runs `work` with the buffers of a sampling thread.
    pub(crate) fn with_space<R>(&self, work: impl FnOnce(&mut RolloutSpace) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut space = kept.unwrap_or_else(|| RolloutSpace::new(&self.config));
        let result = work(&mut space);
        idle().push(space);
        result
    }

    fn apply(&mut self, norm: f64, learning_rate: f64) {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        let rate = Rate { learning_rate, scale, threads: self.options.shards };
        self.state.step(&self.options.optimizer, &self.config, &mut self.weights, &self.spaces[0].gradients, rate);
    }
}

fn named(config: &ModelConfig, tensors: &Parameters) -> Vec<NamedTensor> {
    tensor_specs(config).into_iter().zip(tensors.tensors(config).into_iter().map(<[f32]>::to_vec)).collect()
}

impl Learn for Learner {
    /// See the trait. Samples of weight 0 are not computed: the loss does not depend on them, and `entropy` and `tokens` speak of
    /// the others. A batch without any other changes nothing but the version.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError> {
        check_batch(batch, &self.config, learning_rate)?;
        if batch.samples.iter().all(|s| s.weight == 0.0) {
            self.version.0 += 1;
            return Ok(Update { policy: self.version, loss: 0.0, entropy: 0.0, gradient_norm: 0.0, tokens: 0 });
        }
        let Totals { loss, tokens } = self.compute(batch);
        // A single token of context gives queries and keys no gradient, rightly: such a batch proves nothing.
        let telling = batch.samples.iter().any(|s| s.weight != 0.0 && s.prompt.len() + s.response.len() > 2);
        let norm = crate::train::checked_norm(&self.config, &self.spaces[0].gradients, telling && !self.checked)?;
        self.checked |= telling;
        self.apply(norm, learning_rate);
        self.version.0 += 1;
        let entropy = loss.entropy / loss.count.max(1) as f64;
        Ok(Update { policy: self.version, loss: loss.loss, entropy, gradient_norm: norm, tokens })
    }
}
