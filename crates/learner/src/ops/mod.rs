//! What a decoder layer is made of: one trait with three implementations, and the choice between them.
//!
//! Called by [`crate::model::Decoder`]. All are differentiable, and tests hold them to the same losses and gradients. Those of
//! the CPU run on the calling thread, but for products and attention that a pool shares.

mod attached;
mod attention;
mod bias;
mod cpu;
mod fused;
mod linear;
mod logprob;
mod mlp;
mod norm;
pub(crate) mod slices;
mod space;
mod stock;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use candle_core::{Result, Tensor};

use crate::config::ModelConfig;
use crate::model::packed::{PackedModel, Purpose};
use crate::model::{Decoder, View};
use cpu::Kernels;
use fused::{Fused, Tables};
pub(crate) use fused::{rotations, step_attention, step_heads};
pub(crate) use space::SharedSpace;
use stock::Stock;
use veriplay_kernels::attention::{Group, HeadSizes};
use veriplay_kernels::logprob::Prediction;
use veriplay_kernels::rope::RopeTable;
use veriplay_kernels::thread_pool::ThreadPool;

/// Which matrix of the model a linear map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// Query, key and value projections of a layer.
    Qkv(usize),
    /// Output projection of a layer's attention.
    Output(usize),
    /// From the residual stream to logits.
    Head,
}

/// The differentiable operations. Rows are tokens of a micro-batch.
pub(crate) trait Ops: std::fmt::Debug {
    /// RMSNorm: x [rows, width], gain [width].
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor>;
    /// x·Wᵀ: x [rows, inputs], weight [outputs, inputs].
    fn linear(&self, x: &Tensor, weight: &Tensor, site: Site) -> Result<Tensor>;
    /// x + b in every row: x [rows, width], bias [width].
    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor>;
    /// Attention within `groups` from raw projections [rows, (heads + 2·kv_heads)·dim], and the gains of queries and keys [dim]
    /// each, where they are normalised; → [rows, heads·dim].
    fn attention(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, groups: &Arc<[Group]>) -> Result<Tensor>;
    /// SwiGLU of `layer`: x [rows, hidden], gate_up [2·inner, hidden], down [hidden, inner].
    fn mlp(&self, x: &Tensor, gate_up: &Tensor, down: &Tensor, layer: usize) -> Result<Tensor>;
    /// Log-probability (row 0) and entropy (row 1) of every prediction [2, predictions], from logits [rows, vocab].
    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor>;
}

/// A view of the weights with all that its operations share between threads.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) view: View,
    sizes: HeadSizes,
    rope: Arc<RopeTable>,
    kind: Kind,
}

/// Whose operations compute.
#[derive(Debug, Clone)]
enum Kind {
    /// Our kernels, on the CPU.
    Kernels(Arc<PackedModel>),
    /// Candle's kernels with a backward of ours, on any device.
    Fused(Arc<Tables>),
    /// Candle's differentiable operations alone: what the others are held to.
    Stock,
}

impl Engine {
    /// Our kernels, on the CPU, or else candle's with a backward of ours. `pool` packs the weights.
    pub(crate) fn new(
        config: &ModelConfig,
        rope: &Arc<RopeTable>,
        view: View,
        purpose: Purpose,
        kernels: bool,
        pool: &ThreadPool,
    ) -> Result<Self> {
        let kind = match kernels {
            true => Kind::Kernels(Arc::new(PackedModel::new(&view, purpose, pool)?)),
            false => Kind::Fused(Arc::default()),
        };
        Ok(Self { kind, ..Self::stock(config, rope, view) })
    }

    /// Candle's own operations, wherever the weights are.
    pub(crate) fn stock(config: &ModelConfig, rope: &Arc<RopeTable>, view: View) -> Self {
        Self { view, sizes: config.head_sizes(), rope: Arc::clone(rope), kind: Kind::Stock }
    }

    /// The same without a record for backward.
    pub(crate) fn detached(&self) -> Self {
        let (rope, kind) = (Arc::clone(&self.rope), self.kind.clone());
        Self { view: self.view.detached(), sizes: self.sizes, rope, kind }
    }

    /// The decoder of one thread, which works in `space`.
    pub(crate) fn decoder(&self, space: &SharedSpace) -> Decoder<'_> {
        let (sizes, rope) = (self.sizes, Arc::clone(&self.rope));
        let ops: Box<dyn Ops> = match &self.kind {
            Kind::Kernels(packed) => {
                Box::new(Kernels { sizes, rope, packed: Arc::clone(packed), space: space.clone() })
            }
            Kind::Fused(tables) => Box::new(Fused { sizes, rope, tables: Arc::clone(tables) }),
            Kind::Stock => Box::new(Stock { sizes, rope }),
        };
        Decoder { view: &self.view, ops }
    }

    /// The packed matrices, for the rollout's own loop.
    pub(crate) fn packed(&self) -> Result<&PackedModel> {
        match &self.kind {
            Kind::Kernels(packed) => Ok(packed),
            _ => Err(candle_core::Error::Msg("the CPU's rollout was given weights that are not packed".to_owned())),
        }
    }
}
