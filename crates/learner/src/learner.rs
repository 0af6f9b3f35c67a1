//! The learner: a model with its tokenizer and optimizer, behind the seams `Policy` and `Learn`.
//!
//! Called by the command line. All randomness comes from seeds, all sums have a fixed order, and the number of shards is part
//! of the options: the same calls give the same bits on the same machine.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::DType;
use veriplay_core::PolicyVersion;

use crate::checkpoint::Companions;
use crate::config::{ConfigError, ModelConfig};
use crate::lora::{Adapters, Lora};
use crate::model::names::{TensorSpec, tensor_specs};
use crate::model::packed::Purpose;
use crate::model::{Mode, View, Weights};
use crate::ops::{Engine, SharedSpace};
use crate::optim::OptimizerState;
use crate::options::LearnerOptions;
use crate::place::{Compute, PlaceError};
use crate::rollout::RolloutSpace;
use crate::tokenizer::Tokenizer;
use veriplay_kernels::rope::RopeTable;
use veriplay_kernels::thread_pool::ThreadPool;

/// A tensor with its name and shape.
pub type NamedTensor = (TensorSpec, Vec<f32>);

/// Parameters of 16 MiB.
const LARGE: usize = 1 << 22;

/// A model that samples and learns.
#[derive(Debug)]
pub struct Learner {
    pub(crate) config: ModelConfig,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) options: LearnerOptions,
    /// Where it computes.
    pub(crate) compute: Compute,
    pub(crate) specs: Vec<TensorSpec>,
    /// Those that train: all, or the adapters.
    pub(crate) trainable: Vec<TensorSpec>,
    pub(crate) weights: Weights,
    pub(crate) state: OptimizerState,
    pub(crate) version: PolicyVersion,
    /// The small files of the checkpoint it came from.
    pub(crate) companions: Companions,
    /// Any of them ends an answer.
    pub(crate) end_tokens: Vec<u32>,
    pub(crate) rope: Arc<RopeTable>,
    /// Whether an update has shown that every parameter gets a gradient.
    pub(crate) checked: bool,
    /// What the policy is held to, when it is.
    pub(crate) reference: Option<Weights>,
    /// Buffers of the shards.
    pub(crate) spaces: Vec<SharedSpace>,
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
        let compute = Compute::open(options.place, options.precision)?;
        let place = options.place;
        let full = |e: candle_core::Error| PlaceError::Unavailable {
            place,
            reason: e.to_string(),
            hint: "the model's weights do not fit, or the device failed",
        };
        let weights = Weights::new(&config, values, &compute.device).map_err(full)?;
        let specs = tensor_specs(&config);
        let lora = options.lora.clone();
        let mut learner = Self {
            tokenizer,
            weights,
            state: OptimizerState::new(&[]),
            trainable: Vec::new(),
            specs,
            version: PolicyVersion(0),
            rope: Arc::new(RopeTable::new(config.max_position_embeddings, &config.rope_frequencies())),
            checked: false,
            reference: None,
            spaces: Vec::new(),
            companions: Companions::none("(new)"),
            end_tokens: config.eos_token_id.clone(),
            config,
            options,
            compute,
            idle: Mutex::default(),
        };
        let start = |lora: &Lora| Adapters::start(lora, &learner.specs, &learner.compute.device);
        let adapters = lora.as_ref().map(start).transpose().map_err(full)?;
        learner.adapt(lora, adapters);
        Ok(learner)
    }

    /// Trains these adapters from now on, or the weights themselves, with a fresh optimizer.
    pub(crate) fn adapt(&mut self, lora: Option<Lora>, adapters: Option<Adapters>) {
        self.trainable = lora.as_ref().map_or_else(|| self.specs.clone(), |lora| lora.specs(&self.specs));
        self.state = OptimizerState::new(&self.trainable);
        self.weights.set_adapters(adapters);
        self.options.lora = lora;
        self.checked = false;
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

    /// Number of parameters that train.
    #[must_use]
    pub fn trainable_count(&self) -> usize {
        self.trainable.iter().map(TensorSpec::elements).sum()
    }

    /// Every weight tensor as the model uses it, in the order of [`tensor_specs`].
    #[must_use]
    pub fn named_weights(&self) -> Vec<NamedTensor> {
        named(&self.specs, self.weights.values(&self.specs).expect("the weights are f32 and where they were put"))
    }

    /// The present weights, ready to compute with.
    pub(crate) fn engine(&self, mode: Mode, purpose: Purpose) -> candle_core::Result<Engine> {
        self.engine_of(&self.weights, mode, purpose)
    }

    /// As [`Learner::engine`], of other weights of the same model.
    pub(crate) fn engine_of(&self, weights: &Weights, mode: Mode, purpose: Purpose) -> candle_core::Result<Engine> {
        let view = View::new(&self.config, weights, mode, self.compute.dtype)?;
        Engine::new(&self.config, &self.rope, view, purpose, self.compute.kernels, &self.pool()?)
    }

    /// Whether its weights are more than a thread's own caches hold.
    pub(crate) fn is_large(&self) -> bool {
        self.parameter_count() >= LARGE
    }

    /// The threads that share what concerns all weights, where they are many.
    pub(crate) fn pool(&self) -> candle_core::Result<ThreadPool> {
        if self.shards() == 1 || !self.is_large() {
            return Ok(ThreadPool::single());
        }
        let refused = |e| candle_core::Error::Msg(format!("{e}; lower `shards` or raise the limit on threads"));
        ThreadPool::new(self.shards()).map_err(refused)
    }

    /// Parts that work is dealt to: threads of the CPU, or one device.
    pub(crate) const fn shards(&self) -> usize {
        if self.compute.kernels { self.options.shards } else { 1 }
    }

    /// Bytes that the device has free, where it is not the CPU and says so.
    #[must_use]
    pub fn device_memory(&self) -> Option<u64> {
        #[cfg(feature = "cuda")]
        return crate::cuda::memory(&self.compute.device).map(|(free, _)| free);
        #[cfg(not(feature = "cuda"))]
        None
    }

    /// As [`Learner::engine`], detached and in candle's own operations.
    pub(crate) fn stock_engine(&self) -> candle_core::Result<Engine> {
        Ok(Engine::stock(&self.config, &self.rope, View::new(&self.config, &self.weights, Mode::Detached, DType::F32)?))
    }

    /// The rotary tables.
    pub(crate) fn rope(&self) -> &RopeTable {
        &self.rope
    }

    /// Runs `work` with the buffers of a sampling thread, which `pool` shares.
    pub(crate) fn with_space<R>(&self, pool: &ThreadPool, work: impl FnOnce(&mut RolloutSpace) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut space = kept.unwrap_or_default();
        space.shared_by(pool);
        let result = work(&mut space);
        // A pool ends with its call.
        space.shared_by(&ThreadPool::single());
        idle().push(space);
        result
    }
}

/// `values` with their names and shapes.
pub(crate) fn named(specs: &[TensorSpec], values: Vec<Vec<f32>>) -> Vec<NamedTensor> {
    specs.iter().cloned().zip(values).collect()
}
