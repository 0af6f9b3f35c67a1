//! The differentiable operations of a decoder layer: one trait with an implementation for the CPU and one in candle's operations.
//!
//! Called by the decoder; the backend chooses the implementation. Tests compare the losses and gradients of both. Operations of the CPU
//! run on the calling thread, except products and attention, which a pool may share. They know no weights by name.

mod candle;
mod cpu;
mod products;
pub(crate) mod slices;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use candle_core::{Result, Tensor};
use veriplay_kernels::attention::AttentionGroup;
use veriplay_kernels::logprob::Prediction;

use crate::config::LayerKind;
use crate::linear::Linear;

pub(crate) use candle::{
    CandleOps, GroupTableCache, Rotations, StepColumns, TILE_ROWS, rotations, rows_of_tile, step_attention, step_heads,
};
pub(crate) use cpu::CpuOps;
pub(crate) use products::{IdleBuffers, PackedModel, Packing, SharedWorkspace};

/// Which matrix of the model a linear map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinearSite {
    /// Query, key and value projections of a layer.
    Qkv(usize),
    /// Output projection of a layer's attention.
    Output(usize),
    /// From the residual stream to logits, which are f32.
    Head,
}

/// The differentiable operations. Rows are tokens of a micro-batch.
pub(crate) trait Ops: std::fmt::Debug {
    /// RMSNorm: x [rows, width], gain [width].
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor>;
    /// x·Wᵀ, and what an adapter adds: x [rows, inputs].
    fn linear(&self, x: &Tensor, linear: &Linear, site: LinearSite) -> Result<Tensor>;
    /// x + b in every row: x [rows, width], bias [width].
    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor>;
    /// Attention of a layer of some kind within `groups`, from raw projections [rows, (heads + 2·kv_heads)·dim] and the gains of queries and
    /// keys [dim] each, where they are normalised; → [rows, heads·dim].
    fn attention(
        &self,
        qkv: &Tensor,
        gains: Option<&[Tensor; 2]>,
        kind: LayerKind,
        groups: &Arc<[AttentionGroup]>,
    ) -> Result<Tensor>;
    /// SwiGLU or GeGLU of `layer`: x [rows, hidden], gate_up [2·inner, hidden], down [hidden, inner].
    fn mlp(&self, x: &Tensor, gate_up: &Linear, down: &Linear, layer: usize) -> Result<Tensor>;
    /// Log-probability (row 0) and entropy (row 1) of every prediction [2, predictions], from logits [rows, vocab].
    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor>;
}
