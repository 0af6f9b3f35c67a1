//! The learner: a model with its tokenizer and optimizer, behind the seams `Policy` and `Learn`.
//!
//! Called by the command line. All randomness comes from seeds, all sums have a fixed order, and the number of shards is part
//! of the options: the same calls give the same bits on the same machine.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{DType, Device};
use veriplay_core::{Learn, LearnError, PolicyVersion, TrainBatch, Update};

use crate::checkpoint::Companions;
use crate::config::{ConfigError, ModelConfig};
use crate::gradients::Gradients;
use crate::kernels::rope::RopeTable;
use crate::model::names::{TensorSpec, tensor_specs};
use crate::model::packed::Purpose;
use crate::model::{Mode, View, Weights};
use crate::ops::{Engine, SharedSpace};
use crate::optim::{Optimizer, OptimizerState, Rate};
use crate::rollout::RolloutSpace;
use crate::tokenizer::Tokenizer;
use crate::train::{Totals, check_batch, gradients, warn_of_pool};

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
                return Err(ConfigError::Value {
                    key: key.to_owned(),
                    value: value.to_string(),
                    want: format!("want 1 to {most}"),
                });
            }
        }
        if self.clip_norm.is_nan() || self.clip_norm <= 0.0 {
            return Err(ConfigError::Value {
                key: "clip_norm".to_owned(),
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
    pub(crate) specs: Vec<TensorSpec>,
    pub(crate) weights: Weights,
    pub(crate) state: OptimizerState,
    pub(crate) version: PolicyVersion,
    /// The small files of the checkpoint it came from.
    pub(crate) companions: Companions,
    /// Any of them ends an answer.
    pub(crate) end_tokens: Vec<u32>,
    rope: Arc<RopeTable>,
    /// Whether the first update has shown that every parameter gets a gradient.
    checked: bool,
    /// Buffers of the shards.
    spaces: Vec<SharedSpace>,
    /// Buffers of sampling threads that are not sampling now.
    idle: Mutex<Vec<RolloutSpace>>,
}

impl Learner {
    /// `values` are those of every weight, in the order of [`tensor_specs`] and of their sizes.
    pub(crate) fn assemble(
        config: ModelConfig,
        tokenizer: Tokenizer,
        values: Vec<Vec<f32>>,
        options: LearnerOptions,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        options.validate()?;
        let tokens = tokenizer.vocab_size();
        if tokens > config.vocab_size {
            let want = format!("want at least the tokenizer's {tokens} tokens");
            return Err(ConfigError::Value {
                key: "vocab_size".to_owned(),
                value: config.vocab_size.to_string(),
                want,
            });
        }
        let weights = Weights::new(&config, values, &Device::Cpu).expect("every tensor has the size of its spec");
        let specs = tensor_specs(&config);
        Ok(Self {
            tokenizer,
            weights,
            state: OptimizerState::new(&specs),
            specs,
            version: PolicyVersion(0),
            rope: Arc::new(RopeTable::new(config.max_position_embeddings, &config.rope_frequencies())),
            checked: false,
            spaces: Vec::new(),
            companions: Companions::none("(new)"),
            end_tokens: config.eos_token_id.clone(),
            config,
            options,
            idle: Mutex::default(),
        })
    }

    /// With the small files of its checkpoint, and the end tokens that they name.
    pub(crate) fn with_companions(mut self, companions: Companions, end_tokens: Vec<u32>) -> Self {
        if !end_tokens.is_empty() {
            self.end_tokens = end_tokens;
        }
        self.companions = companions;
        self
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
        let values = crate::init::initial(&config, seed);
        Self::assemble(config, tokenizer, values, options)
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

    /// The tokens that end an answer: those of `generation_config.json`, or else those of `config.json`.
    #[must_use]
    pub fn end_tokens(&self) -> &[u32] {
        &self.end_tokens
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
        self.specs.iter().map(TensorSpec::elements).sum()
    }

    /// Every weight tensor, in the order of [`tensor_specs`].
    #[must_use]
    pub fn named_weights(&self) -> Vec<NamedTensor> {
        self.named(self.weights.values(&self.specs).expect("the weights are f32 and on the CPU"))
    }

    /// Loss of a batch and its gradient in every weight tensor, without a step: for diagnosis and tests.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_gradients(&mut self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        check_batch(batch, &self.config, 0.0)?;
        let (totals, gradients) = self.compute(batch).map_err(backend)?;
        Ok((totals.loss, self.named(gradients.values(&self.specs).map_err(backend)?)))
    }

    /// As [`Learner::named_gradients`], by candle's own operations in f64 instead of our kernels: what they are held to.
    ///
    /// # Errors
    /// A bad batch.
    pub fn reference_gradients(&self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        check_batch(batch, &self.config, 0.0)?;
        let compute = || {
            let weights = self.weights.converted(DType::F64)?;
            let engine = Engine::stock(&self.config, &self.rope, View::new(&self.config, &weights, Mode::Tracked)?);
            gradients(&engine, &weights, &[SharedSpace::default()], batch, self.options.micro_tokens)
        };
        let (totals, gradients) = compute().map_err(backend)?;
        Ok((totals.loss, self.named(gradients.values(&self.specs).map_err(backend)?)))
    }

    fn compute(&mut self, batch: &TrainBatch) -> candle_core::Result<(Totals, Gradients)> {
        warn_of_pool();
        self.spaces.resize_with(self.options.shards, SharedSpace::default);
        let engine = self.engine(Mode::Tracked, Purpose::Training)?;
        gradients(&engine, &self.weights, &self.spaces, batch, self.options.micro_tokens)
    }

    /// The present weights, ready to compute with.
    pub(crate) fn engine(&self, mode: Mode, purpose: Purpose) -> candle_core::Result<Engine> {
        Engine::new(&self.config, &self.rope, View::new(&self.config, &self.weights, mode)?, purpose)
    }

    /// As [`Learner::engine`], detached and in candle's own operations.
    pub(crate) fn stock_engine(&self) -> candle_core::Result<Engine> {
        Ok(Engine::stock(&self.config, &self.rope, View::new(&self.config, &self.weights, Mode::Detached)?))
    }

    /// The rotary tables.
    pub(crate) fn rope(&self) -> &RopeTable {
        &self.rope
    }

    fn named(&self, values: Vec<Vec<f32>>) -> Vec<NamedTensor> {
        self.specs.iter().cloned().zip(values).collect()
    }

    /// Runs `work` with the buffers of a sampling thread.
    pub(crate) fn with_space<R>(&self, work: impl FnOnce(&mut RolloutSpace) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut space = kept.unwrap_or_default();
        let result = work(&mut space);
        idle().push(space);
        result
    }

    fn apply(&mut self, gradients: &Gradients, norm: f64, learning_rate: f64) -> candle_core::Result<()> {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        let rate = Rate { learning_rate, scale, threads: self.options.shards };
        self.state.step(&self.options.optimizer, &self.specs, &self.weights, gradients, rate)
    }
}

fn backend(error: candle_core::Error) -> LearnError {
    LearnError::Backend(error.to_string())
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
        let (totals, gradients) = self.compute(batch).map_err(backend)?;
        // A single token of context gives queries and keys no gradient, rightly: such a batch proves nothing.
        let telling = batch.samples.iter().any(|s| s.weight != 0.0 && s.prompt.len() + s.response.len() > 2);
        let norm = gradients.checked_norm(&self.specs, telling && !self.checked)?;
        self.checked |= telling;
        self.apply(&gradients, norm, learning_rate).map_err(backend)?;
        self.version.0 += 1;
        let entropy = totals.entropy / totals.count.max(1) as f64;
        let Totals { loss, tokens, .. } = totals;
        Ok(Update { policy: self.version, loss, entropy, gradient_norm: norm, tokens })
    }
}
