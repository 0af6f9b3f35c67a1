//! Peak memory of training and, on a device, of its rollouts, predicted before anything is allocated; and the least that sampling takes.
//!
//! Called by the command line before a model is loaded, and by a test that measures a process at two lengths and two depths. The formulas count the
//! tensors that are alive at the worst moment of an update: here by our kernels on the CPU, all f32, and in `memory/device.rs` by candle's
//! operations. They exclude the allocator's overhead, the program itself and, on the CPU, the caches of rollouts and of turns, which grow with what is
//! in them: the most that their bounds allow is many times what a run comes to. With `samples_ahead` an update comes on top of them.

mod device;

use veriplay_kernels::gemm::PackedMatrix;

use self::device::DeviceSizes;
use crate::config::{ModelConfig, TensorSpec, tensor_specs};
use crate::device::{DeviceSpec, RolloutPrecision};
use crate::ops::TILE_ROWS;
use crate::options::LearnerOptions;
use crate::segments::Segments;

const F32: u64 = size_of::<f32>() as u64;
/// Tensors of one size that candle's backward holds at once for one gradient: the node, its gradient, and the sum with the
/// gradient so far. (The zeros it begins with are never written, and Linux gives no memory for those.)
const COPIES: u64 = 3;

/// Peak memory of a step in bytes, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The weights, or base and adapters. Loading takes no more than that and the largest tensor.
    pub weights: u64,
    /// A reference, where the loss needs one.
    pub reference: u64,
    /// The optimizer's two moments.
    pub moments: u64,
    /// Joined and packed copies of the matrices. Quantised ones of rollouts are smaller, and gone before an update.
    pub working: u64,
    /// Gradients of the weights, of all workers.
    pub gradients: u64,
    /// Intermediate results that backward needs, of all workers.
    pub activations: u64,
    /// Logits and their gradients, of all workers.
    pub logits: u64,
    /// Of a frozen copy that samples while the learner trains: what trains once more, its copies of matrices, and on a device its rollouts. 0 where they
    /// take turns.
    pub ahead: u64,
    /// Of rollouts, which are over when an update begins: caches of keys and values, a step's intermediate results, logits. 0 on the CPU, and where
    /// a server samples.
    pub rollouts: u64,
    /// On the host beside a device, where the optimizer is there: weights in f32, moments, sums of gradients, and the largest tensor on its way. No
    /// part of the other numbers, nor of their total.
    pub host: u64,
}

/// The least memory in bytes in which a model samples: that of one answer at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingPlan {
    /// The weights, and adapters where the options have them.
    pub weights: u64,
    /// Joined and packed, or converted, copies of the matrices.
    pub working: u64,
    /// Keys and values of one answer.
    pub cache: u64,
}

impl SamplingPlan {
    /// Of a model of this shape that continues one prompt by up to `tokens` tokens.
    pub fn predict(config: &ModelConfig, options: &LearnerOptions, tokens: usize) -> Self {
        let model = ModelSizes::new(config, options);
        let MemoryPlan { weights, working, .. } =
            MemoryPlan::predict(config, options, MicroBatchSize { rows: 1, group: 1, outputs: 1 });
        let (working, width) = match options.device {
            // Packed for forward passes alone.
            DeviceSpec::Cpu => (model.packed_to_sample(options), F32),
            DeviceSpec::Portable | DeviceSpec::Cuda(_) => (working, options.precision.bytes() as u64),
        };
        let tokens = (tokens as u64).min(model.context);
        Self { weights, working, cache: width * tokens * model.layers * (model.qkv - model.query) }
    }

    /// All of it.
    pub const fn total(&self) -> u64 {
        self.weights + self.working + self.cache
    }
}

/// The largest micro-batch of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroBatchSize {
    /// Its tokens.
    pub rows: usize,
    /// Tokens of a prompt and its responses, of the group that keeps most.
    pub group: usize,
    /// Those of its tokens that are predicted: responses.
    pub outputs: usize,
}

impl MicroBatchSize {
    /// Tokens of the largest group whose scores of attention a device keeps for backward; those of larger ones are computed again.
    pub const ONE_TILE: usize = TILE_ROWS;
}

/// Sizes of a model, in numbers.
struct ModelSizes {
    /// As long as the options let sequences be.
    context: u64,
    hidden: u64,
    layers: u64,
    vocab: u64,
    inner: u64,
    heads: u64,
    /// Width of queries, keys and values together.
    qkv: u64,
    query: u64,
    biased: bool,
    /// Whether a checkpoint joins the projections that read the same input: no copy is made then.
    joins: bool,
    normed_heads: bool,
    /// Norms of a layer behind attention and MLP.
    norms_behind: u64,
    specs: Vec<TensorSpec>,
}

impl ModelSizes {
    fn new(config: &ModelConfig, options: &LearnerOptions) -> Self {
        let query = config.query_width() as u64;
        Self {
            context: options.context(config) as u64,
            hidden: config.hidden_size as u64,
            layers: config.num_hidden_layers as u64,
            vocab: config.vocab_size as u64,
            inner: config.intermediate_size as u64,
            heads: config.num_attention_heads as u64,
            qkv: query + 2 * config.key_width() as u64,
            query,
            biased: config.model_type.qkv_bias(),
            joins: config.model_type.qkv_modules().len() == 1,
            normed_heads: config.model_type.qk_norm(),
            norms_behind: if config.model_type.norms().behind.is_some() { 2 } else { 0 },
            specs: tensor_specs(config),
        }
    }

    fn sum(&self, of: impl Fn(&TensorSpec) -> bool) -> u64 {
        self.specs.iter().filter(|spec| of(spec)).map(|spec| spec.elements() as u64).sum()
    }

    /// Those of the adapters of all roles; `None` where the weights themselves train.
    fn trained(&self, options: &LearnerOptions) -> Option<u64> {
        let specs = options.lora.as_ref().map(|lora| lora.specs(&self.specs));
        let of_role = |specs: Vec<TensorSpec>| specs.iter().map(|spec| spec.elements() as u64).sum::<u64>();
        specs.map(|specs| options.roles.len().max(1) as u64 * of_role(specs))
    }

    /// Numbers that a layer keeps of one row for backward: two norms, projections, attention with its log-sum-exps, the pair of the SwiGLU,
    /// and two branches and two sums of the residual stream.
    fn activations_per_layer(&self) -> u64 {
        let bias = if self.biased { self.qkv } else { 0 };
        (6 + self.norms_behind) * self.hidden + self.qkv + bias + self.query + self.heads + 2 * self.inner
    }

    /// Numbers that backward needs of one row in addition to those that are kept: the gradients of the widest operation, and packed operands.
    fn transient_per_row(&self) -> u64 {
        COPIES * self.hidden + self.inner + self.qkv.max(2 * self.inner)
    }
}

impl MemoryPlan {
    /// Of a model of this shape, trained with these options on micro-batches of this size.
    pub fn predict(config: &ModelConfig, options: &LearnerOptions, batch: MicroBatchSize) -> Self {
        let model = ModelSizes::new(config, options);
        if options.device != DeviceSpec::Cpu {
            return DeviceSizes { model: &model, options, batch }.plan();
        }
        let (rows, workers) = (batch.rows as u64, options.data_parallel as u64);
        let (all, trained) = (model.sum(|_| true), model.trained(options));
        let frozen = trained.unwrap_or(all);
        let sampling = if options.server_samples { 0 } else { model.packed_to_sample(options) };
        Self {
            weights: F32 * (all + trained.unwrap_or(0)),
            reference: if options.kl.is_none() { 0 } else { F32 * frozen },
            moments: F32 * 2 * trained.unwrap_or(all),
            working: F32 * model.working_copies(options),
            gradients: F32 * workers * model.gradients(options, trained),
            activations: F32 * workers * rows * model.activations(options.segments),
            logits: F32 * workers * model.logits(options.segments, batch),
            ahead: if options.samples_ahead { F32 * frozen + sampling } else { 0 },
            rollouts: 0,
            host: 0,
        }
    }

    /// The worst moment where it computes: of an update, or of rollouts.
    pub fn total(&self) -> u64 {
        let update = self.gradients + self.activations + self.logits;
        self.weights + self.reference + self.moments + self.working + self.ahead + update.max(self.rollouts)
    }
}

impl ModelSizes {
    /// Projections joined by layer, matrices packed for both directions, and under adapters the sums that take their place.
    fn working_copies(&self, options: &LearnerOptions) -> u64 {
        let joined = self.joined_projections();
        let adapted = options.lora.as_ref().map_or(0, |lora| {
            let targets =
                |spec: &TensorSpec| lora.target_modules.iter().any(|m| spec.name.ends_with(&format!(".{m}.weight")));
            // The product, its multiple and the sum are nodes of the graph.
            3 * self.sum(targets)
        });
        joined + 2 * self.multiplied() + adapted
    }

    /// Bytes of the projections joined by layer, and of the matrices packed for forward passes alone.
    fn packed_to_sample(&self, options: &LearnerOptions) -> u64 {
        let packed = match options.rollout_precision {
            None => F32 * self.multiplied(),
            Some(RolloutPrecision::Int8) => {
                let of_layers = self.specs.iter().filter(|spec| spec.is_hidden_matrix());
                let sizes = of_layers.map(|spec| (spec.shape[1], spec.shape[0]));
                let head = (self.hidden as usize, self.vocab as usize);
                sizes.chain([head]).map(|(inputs, outputs)| PackedMatrix::quantised_bytes(inputs, outputs) as u64).sum()
            }
        };
        F32 * self.joined_projections() + packed
    }

    /// Numbers of the matrices that rows are multiplied by: those of the layers, and the head.
    fn multiplied(&self) -> u64 {
        self.sum(TensorSpec::is_hidden_matrix) + self.vocab * self.hidden
    }

    /// Projections that read the same input are joined by layer: copies.
    fn joined_projections(&self) -> u64 {
        if self.joins { 0 } else { self.layers * self.hidden * (self.qkv + 2 * self.inner) }
    }

    /// Of one worker: the sum, and the gradients of one backward pass.
    fn gradients(&self, options: &LearnerOptions, trained: Option<u64>) -> u64 {
        let all = self.sum(|_| true);
        let kept = trained.unwrap_or(all);
        let layer = self.sum(TensorSpec::is_hidden_matrix) / self.layers.max(1);
        let head = if trained.is_some() { 0 } else { (COPIES - 1) * self.vocab * self.hidden };
        match options.segments {
            Some(Segments { layers, .. }) => {
                // Of a segment's matrices, and under adapters of the products that are added to them.
                let copies = if trained.is_some() { 2 * (COPIES - 1) } else { COPIES - 1 };
                kept + head.max(copies * layer * (layers as u64).min(self.layers))
            }
            None if trained.is_some() => kept + 2 * (all - self.vocab * self.hidden),
            None => kept + all + self.joined_projections(),
        }
    }

    /// One row's numbers.
    fn activations(&self, segments: Option<Segments>) -> u64 {
        let at_once = segments.map_or(self.layers, |s| (s.layers as u64).min(self.layers));
        // The input of each segment; and of the one that is computed again its input, output, the output's gradient and their product.
        let boundaries = segments.map_or(0, |s| (self.layers.div_ceil(s.layers as u64) + 4) * self.hidden);
        boundaries + at_once * self.activations_per_layer() + self.transient_per_row()
    }

    fn logits(&self, segments: Option<Segments>, batch: MicroBatchSize) -> u64 {
        let (rows, outputs) = (batch.rows as u64, batch.outputs as u64);
        let at_once = segments.map_or(outputs, |s| outputs.min(s.logit_rows as u64));
        // A chunk, or everything; the rows behind the last layer, and those that are predicted from, normed or not.
        COPIES * at_once * self.vocab + 2 * (rows + outputs) * self.hidden
    }
}
