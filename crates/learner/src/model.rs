//! A model: its shape, its weights and its tokenizer, with the small files of its checkpoint.
//!
//! Called by the learner, which trains it and samples from it. All sums have a fixed order, and the number of data-parallel workers is
//! given: the same calls give the same bits on the same machine.

use std::path::Path;
use std::sync::Arc;

use candle_core::{DType, Tensor};
use veriplay_kernels::thread_pool::ThreadPool;

use crate::backend::Backend;
use crate::checkpoint::{
    CheckpointError, MAX_SHARD_BYTES, ModelFiles, SidecarFiles, TakeTensor, encode_weights, read_built_in_weights,
    read_weights,
};
use crate::config::{ConfigError, ModelConfig, RopeTables, TensorSpec, tensor_specs};
use crate::device::{DeviceError, DeviceSpec, OpenDevice, Precision, RolloutPrecision};
use crate::lora::BaseModel;
use crate::network::{GradientMode, Network, WeightReader, Weights, initial_values};
use crate::ops::{IdleBuffers, Packing, SharedWorkspace};
use crate::options::LearnerOptions;
use crate::tokenizer::Tokenizer;

/// A tensor with its name and shape.
pub type NamedTensor = (TensorSpec, Vec<f32>);

/// Parameters of 16 MiB.
const LARGE: usize = 1 << 22;

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) config: Arc<ModelConfig>,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) device: OpenDevice,
    pub(crate) specs: Vec<TensorSpec>,
    pub(crate) weights: Weights,
    /// Where the weights are from, as long as nothing has changed them.
    pub(crate) base: BaseModel,
    /// The small files of the checkpoint it came from.
    pub(crate) sidecar_files: SidecarFiles,
    /// Any of them ends an answer.
    pub(crate) end_tokens: Vec<u32>,
    ropes: Arc<RopeTables>,
    workers: usize,
    pub(crate) buffers: IdleBuffers<SharedWorkspace>,
}

impl Model {
    /// A model whose weights are put into it next.
    fn without_weights(
        config: ModelConfig,
        tokenizer: Tokenizer,
        options: &LearnerOptions,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let tokens = tokenizer.vocab_size();
        if tokens > config.vocab_size {
            let want = format!("want at least the tokenizer's {tokens} tokens");
            return Err(ConfigError::Value {
                key: "vocab_size".to_owned(),
                value: config.vocab_size.to_string(),
                want,
            });
        }
        let device = OpenDevice::open(options.device, options.precision)?;
        Ok(Self {
            tokenizer: Arc::new(tokenizer),
            weights: Weights::empty(options.offloads()),
            base: BaseModel::default(),
            specs: tensor_specs(&config),
            ropes: Arc::new(RopeTables::new(&config)),
            sidecar_files: SidecarFiles::empty("(new)"),
            end_tokens: config.eos_token_id.clone(),
            config: Arc::new(config),
            workers: device.workers(options.data_parallel),
            device,
            buffers: IdleBuffers::default(),
        })
    }

    /// The same model in the same memory, without adapters: for others beside its weights, which nothing may update then.
    pub(crate) fn share_base(&self) -> Self {
        Self {
            config: self.config.clone(),
            tokenizer: self.tokenizer.clone(),
            device: self.device.clone(),
            specs: self.specs.clone(),
            weights: self.weights.share_base(),
            base: self.base.clone(),
            sidecar_files: self.sidecar_files.clone(),
            end_tokens: self.end_tokens.clone(),
            ropes: self.ropes.clone(),
            workers: self.workers,
            buffers: self.buffers.clone(),
        }
    }

    /// A model with random weights: a pure function of `config` and `seed`.
    pub(crate) fn initialize(
        config: ModelConfig,
        tokenizer: Tokenizer,
        seed: u64,
        options: &LearnerOptions,
    ) -> Result<Self, ConfigError> {
        let mut model = Self::without_weights(config, tokenizer, options)?;
        let values = initial_values(&model.config, seed);
        let (dtype, weights) = (model.weight_dtype(options), std::mem::take(&mut model.weights));
        let weights = weights.filled(&model.config, values, dtype, &model.device.device);
        model.weights = weights.map_err(|e| out_of_memory(options.device, &e))?;
        Ok(model)
    }

    /// The same model with weights that later updates do not reach, and buffers of its own.
    pub(crate) fn freeze(&self) -> candle_core::Result<Self> {
        Ok(Self {
            config: Arc::clone(&self.config),
            tokenizer: Arc::clone(&self.tokenizer),
            device: self.device.clone(),
            specs: self.specs.clone(),
            weights: self.weights.snapshot()?,
            base: self.base.clone(),
            sidecar_files: self.sidecar_files.clone(),
            end_tokens: self.end_tokens.clone(),
            ropes: Arc::clone(&self.ropes),
            workers: self.workers,
            buffers: IdleBuffers::default(),
        })
    }

    /// How weights are kept: those that train in f32, and in the precision of activations from the first a base under adapters and the copies of
    /// weights that are on the host.
    const fn weight_dtype(&self, options: &LearnerOptions) -> DType {
        if options.lora.is_some() || self.weights.is_offloaded() { self.device.dtype } else { DType::F32 }
    }

    /// Puts a tensor of [`tensor_specs`] into its place.
    fn put_weight(&mut self, place: usize, values: Vec<f32>, options: &LearnerOptions) -> Result<(), DeviceError> {
        let dtype = self.weight_dtype(options);
        let put = self.weights.put(&self.specs[place], values, dtype, &self.device.device);
        put.map_err(|e| out_of_memory(options.device, &e))
    }

    /// Reads a model directory; without `tokenizer.json` where `needs_tokenizer` is false.
    pub(crate) fn load(dir: &Path, needs_tokenizer: bool, options: &LearnerOptions) -> Result<Self, CheckpointError> {
        let files = ModelFiles::read(dir, needs_tokenizer)?;
        let mut model = Self::from_files(files, options, |specs, take| read_weights(dir, specs, take))?;
        model.base.name = dir.canonicalize().ok().map(|dir| dir.display().to_string());
        Ok(model)
    }

    /// As [`Model::load`], from the contents of the three files.
    pub(crate) fn from_bytes(
        config_json: &str,
        tokenizer_json: &str,
        safetensors: &[u8],
        options: &LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        let files = ModelFiles::built_in(config_json, tokenizer_json)?;
        Self::from_files(files, options, |specs, take| read_built_in_weights(safetensors, specs, take))
    }

    fn from_files(
        files: ModelFiles,
        options: &LearnerOptions,
        read: impl FnOnce(&[TensorSpec], &mut TakeTensor<'_>) -> Result<String, CheckpointError>,
    ) -> Result<Self, CheckpointError> {
        let ModelFiles { origin, config, tokenizer, sidecar_files } = files;
        let end_tokens = sidecar_files.end_tokens()?;
        let model = Self::without_weights(config, tokenizer, options);
        let mut model = model.map_err(|error| CheckpointError::invalid(&origin, error))?;
        let digest = read(&tensor_specs(&model.config), &mut |place: usize, values: Vec<f32>| {
            model.put_weight(place, values, options).map_err(|error| CheckpointError::invalid(&origin, error))
        })?;
        model.base.digest = Some(digest);
        if !end_tokens.is_empty() {
            model.end_tokens = end_tokens;
        }
        model.sidecar_files = sidecar_files;
        Ok(model)
    }

    /// Writes the model directory, with weight files of at most `max_shard_bytes`. Adapters are merged.
    pub(crate) fn save(
        &self,
        dir: &Path,
        max_shard_bytes: Option<usize>,
        precision: Precision,
    ) -> Result<(), CheckpointError> {
        self.save_small_files(dir, precision)?;
        let max_shard_bytes = max_shard_bytes.unwrap_or(MAX_SHARD_BYTES);
        let weight = |index: usize| self.weight(index);
        crate::checkpoint::write_weights(dir, &self.specs, weight, max_shard_bytes, precision)
    }

    /// A weight as it is saved, with its adapter merged, where it is.
    fn weight(&self, index: usize) -> candle_core::Result<Tensor> {
        self.weights.precise(&self.specs[index].name)
    }

    /// The bytes of `model.safetensors`: equal weights give equal bytes.
    pub(crate) fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        encode_weights(&self.specs, |index| self.weight(index))
    }

    /// Every weight tensor as it is saved, in the order of [`tensor_specs`].
    pub(crate) fn named_weights(&self) -> Vec<NamedTensor> {
        name_tensors(
            &self.specs,
            self.weights.values(&self.specs).expect("the weights are floats and where they were put"),
        )
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.specs.iter().map(TensorSpec::elements).sum()
    }

    /// Replaces the weights by their sums with the adapters, which are dropped.
    pub(crate) fn merge_adapters(&mut self, is_offloaded: bool) -> candle_core::Result<()> {
        self.base = BaseModel::default();
        self.weights.merge_adapters(is_offloaded.then_some(self.device.dtype))
    }

    /// Whether our kernels change the weights, on the host.
    pub(crate) const fn steps_on_host(&self) -> bool {
        self.device.kernels || self.weights.is_offloaded()
    }

    /// Writes everything of the model directory but the weights.
    pub(crate) fn save_small_files(&self, dir: &Path, precision: Precision) -> Result<(), CheckpointError> {
        let (config, tokenizer, sidecar_files) = (&self.config, &self.tokenizer, &self.sidecar_files);
        crate::checkpoint::write_small_files(dir, config, tokenizer, sidecar_files, precision)
    }

    /// The present weights, ready to compute with.
    pub(crate) fn backend(&self, mode: GradientMode) -> candle_core::Result<Backend> {
        self.backend_for(&self.weights, mode)
    }

    /// As [`Model::backend`], with other weights of the same shape.
    pub(crate) fn backend_for(&self, weights: &Weights, mode: GradientMode) -> candle_core::Result<Backend> {
        let packing = if mode == GradientMode::Tracked { Packing::Training } else { Packing::Forward };
        self.packed_backend(weights, mode, packing)
    }

    /// As [`Model::backend`], to sample: quantised, where that is wanted.
    pub(crate) fn sampling_backend(&self, precision: Option<RolloutPrecision>) -> candle_core::Result<Backend> {
        let packing = precision.map_or(Packing::Forward, |RolloutPrecision::Int8| Packing::Int8);
        self.packed_backend(&self.weights, GradientMode::Detached, packing)
    }

    fn packed_backend(&self, weights: &Weights, mode: GradientMode, packing: Packing) -> candle_core::Result<Backend> {
        let reader = WeightReader { weights, mode, dtype: self.device.dtype, merges_adapters: self.device.kernels };
        let network = Network::new(&self.config, &self.ropes, &reader)?;
        Backend::new(network, &self.device, packing, &self.pool()?)
    }

    /// Whether its weights exceed the caches of one core.
    pub(crate) fn is_large(&self) -> bool {
        self.parameter_count() >= LARGE
    }

    /// The threads that share work on all weights of a large model.
    pub(crate) fn pool(&self) -> candle_core::Result<ThreadPool> {
        if self.workers == 1 || !self.is_large() {
            return Ok(ThreadPool::single());
        }
        let refused = |e| candle_core::Error::Msg(format!("{e}; lower `data_parallel` or raise the limit on threads"));
        ThreadPool::new(self.workers).map_err(refused)
    }

    /// Data-parallel workers: threads of the CPU, or one device.
    pub(crate) const fn workers(&self) -> usize {
        self.workers
    }
}

/// The error of a device without room for a model.
pub(crate) fn out_of_memory(device: DeviceSpec, error: &candle_core::Error) -> DeviceError {
    let hint = "the model's weights do not fit, or the device failed";
    DeviceError::Unavailable { device, reason: error.to_string(), hint }
}

/// `values` with their names and shapes.
pub(crate) fn name_tensors(specs: &[TensorSpec], values: Vec<Vec<f32>>) -> Vec<NamedTensor> {
    specs.iter().cloned().zip(values).collect()
}
