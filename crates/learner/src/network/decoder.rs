//! The decoder as a candle graph: one definition for training, scoring, and the prompts of rollouts.
//!
//! The view (tracked or detached) decides whether it is differentiable, and the operations decide where it is computed.

use std::ops::Range;
use std::sync::Arc;

use candle_core::{Result, Tensor};
use veriplay_kernels::attention::AttentionGroup;
use veriplay_kernels::logprob::Prediction;

use super::layers::{Layer, Network};
use super::microbatch::MicroBatch;
use super::{LayerBackend, run_layers};
use crate::ops::{LinearSite, Ops};

#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    pub(crate) network: &'a Network,
    pub(crate) ops: Box<dyn Ops>,
}

impl Decoder<'_> {
    /// The residual stream after the last layer [rows, hidden]. `keep` sees every layer's raw query, key and value projections,
    /// from which a cache is made.
    pub(crate) fn forward(&self, batch: &MicroBatch, keep: impl FnMut(usize, &Tensor) -> Result<()>) -> Result<Tensor> {
        self.run(0..self.layers(), self.embed(batch)?, &batch.groups.as_slice().into(), keep)
    }

    pub(crate) fn layers(&self) -> usize {
        self.network.layers.len()
    }

    /// The residual stream before the first layer [rows, hidden].
    pub(crate) fn embed(&self, batch: &MicroBatch) -> Result<Tensor> {
        self.embed_tokens(&Tensor::new(&*batch.tokens, self.network.device())?)
    }

    /// As [`Decoder::embed`], of token ids [rows] that are on the device.
    pub(crate) fn embed_tokens(&self, tokens: &Tensor) -> Result<Tensor> {
        self.network.embedding.index_select(tokens, 0)?.to_dtype(self.network.dtype)
    }

    /// Some layers, one after the other; `keep` as in [`Decoder::forward`].
    pub(crate) fn run(
        &self,
        layers: Range<usize>,
        x: Tensor,
        groups: &Arc<[AttentionGroup]>,
        mut keep: impl FnMut(usize, &Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        self.run_with(layers, x, |layer, qkv| {
            keep(layer, &qkv)?;
            let Layer { qk_norms, kind, .. } = &self.network.layers[layer];
            self.ops.attention(&qkv, qk_norms.as_ref(), *kind, groups)
        })
    }

    /// As [`Decoder::run`]; `attend` mixes the values of a layer's raw query, key and value projections.
    pub(crate) fn run_with(
        &self,
        layers: Range<usize>,
        x: Tensor,
        attend: impl FnMut(usize, Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        run_layers(&mut TensorLayers { decoder: self, attend }, layers, x)
    }

    /// Logits [outputs, vocab], in f32, of some rows of [`Decoder::forward`]'s result.
    pub(crate) fn logits(&self, last: &Tensor, outputs: &[usize]) -> Result<Tensor> {
        let rows: Vec<u32> = outputs.iter().map(|&row| row as u32).collect();
        self.head(&last.index_select(&Tensor::new(rows, last.device())?, 0)?)
    }

    /// Logits [rows, vocab], in f32, of rows behind the last layer [rows, hidden].
    pub(crate) fn head(&self, rows: &Tensor) -> Result<Tensor> {
        self.ops.linear(&self.ops.norm(rows, &self.network.norm)?, &self.network.head, LinearSite::Head)
    }

    /// As [`Decoder::predict`], from the rows behind the last layer that the predictions are of.
    pub(crate) fn predict_rows(&self, rows: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
        self.ops.logprobs(&self.head(rows)?, predictions)
    }

    /// Log-probability (row 0) and entropy (row 1) of every prediction [2, predictions].
    pub(crate) fn predict(&self, batch: &MicroBatch) -> Result<Tensor> {
        let last = self.forward(batch, |_, _| Ok(()))?;
        self.ops.logprobs(&self.logits(&last, &batch.outputs)?, &batch.predictions)
    }
}

/// The layers in tensor operations. Differentiable where the decoder's weights are tracked.
struct TensorLayers<'a, A> {
    decoder: &'a Decoder<'a>,
    attend: A,
}

impl<A: FnMut(usize, Tensor) -> Result<Tensor>> LayerBackend for TensorLayers<'_, A> {
    type Stream = Tensor;
    type Projections = Tensor;
    type Mixed = Tensor;

    /// Raw query, key and value projections of the residual stream [rows, (heads + 2·kv_heads)·dim].
    fn project(&mut self, at: usize, x: &Tensor) -> Result<Tensor> {
        let Decoder { network, ops } = self.decoder;
        let layer = &network.layers[at];
        let qkv = ops.linear(&ops.norm(x, &layer.input_norm)?, &layer.qkv, LinearSite::Qkv(at))?;
        match &layer.qkv_bias {
            Some(bias) => ops.bias(&qkv, bias),
            None => Ok(qkv),
        }
    }

    fn attend(&mut self, at: usize, qkv: Tensor) -> Result<Tensor> {
        (self.attend)(at, qkv)
    }

    /// The residual stream with the output projection of the mixed values [rows, heads·dim].
    fn add_attention(&mut self, at: usize, x: Tensor, mixed: Tensor) -> Result<Tensor> {
        let Decoder { network, ops } = self.decoder;
        x + ops.linear(&mixed, &network.layers[at].output, LinearSite::Output(at))?
    }

    /// The residual stream plus the output of the SwiGLU layer.
    fn add_mlp(&mut self, at: usize, x: Tensor) -> Result<Tensor> {
        let Decoder { network, ops } = self.decoder;
        let layer = &network.layers[at];
        let normed = ops.norm(&x, &layer.post_norm)?;
        x + ops.mlp(&normed, &layer.gate_up, &layer.down, at)?
    }
}
