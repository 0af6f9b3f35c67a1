//! The buffers of one shard: kept between steps, so that training allocates nothing and touches warm pages.

use crate::config::ModelConfig;
use crate::kernels::attention::Scratch;
use crate::kernels::gemm::Packed;
use crate::kernels::rope::RopeTable;
use crate::kernels::simd::Buffer;
use crate::model::{Parameters, Purpose};

/// What forward keeps of one layer for backward; widths are per row.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Input of the layer [hidden].
    pub(crate) input: Buffer,
    /// Raw projections.
    pub(crate) qkv: Buffer,
    /// Attention output, before its projection [query width].
    pub(crate) mixed: Buffer,
    /// Log-sum-exp [heads].
    pub(crate) lse: Buffer,
    /// Residual stream after attention [hidden].
    pub(crate) middle: Buffer,
    /// Gate and up.
    pub(crate) gate_up: Buffer,
}

/// One shard's memory.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Gradients summed over the shard's micro-batches.
    pub(crate) gradients: Parameters,
    /// Rotary tables.
    pub(crate) rope: RopeTable,
    pub(crate) kept: Vec<Kept>,
    /// Residual stream after the last layer.
    pub(crate) last: Buffer,
    /// A normalised input.
    pub(crate) normed: Buffer,
    /// The SwiGLU's output, or its gradient.
    pub(crate) hidden: Buffer,
    /// Rows of `last` that predict, and their normalised form.
    pub(crate) picked: Buffer,
    pub(crate) picked_normed: Buffer,
    pub(crate) logits: Buffer,
    /// Gradient of the residual stream.
    pub(crate) dx: Buffer,
    /// Gradient of a normalised input, or of the attention output.
    pub(crate) dnormed: Buffer,
    /// Gradient of the raw projections.
    pub(crate) dqkv: Buffer,
    /// The right-hand side of a weight gradient.
    pub(crate) right: Packed,
    /// For the left-hand sides of products.
    pub(crate) left: Buffer,
    pub(crate) attention: Scratch,
    /// Log-probability of every prediction of the last micro-batch.
    pub(crate) logprobs: Vec<f32>,
}

impl Workspace {
    pub(crate) fn new(config: &ModelConfig, purpose: Purpose) -> Self {
        Self {
            gradients: if purpose == Purpose::Training { Parameters::zeros(config) } else { Parameters::default() },
            rope: RopeTable::new(config.max_position_embeddings, config.head_dim, config.rope_theta),
            kept: (0..config.num_hidden_layers).map(|_| Kept::default()).collect(),
            last: Buffer::default(),
            normed: Buffer::default(),
            hidden: Buffer::default(),
            picked: Buffer::default(),
            picked_normed: Buffer::default(),
            logits: Buffer::default(),
            dx: Buffer::default(),
            dnormed: Buffer::default(),
            dqkv: Buffer::default(),
            right: Packed::default(),
            left: Buffer::default(),
            attention: Scratch::default(),
            logprobs: Vec::new(),
        }
    }
}
