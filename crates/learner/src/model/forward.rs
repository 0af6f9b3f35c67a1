//! The forward pass over one micro-batch, keeping what backward needs.

use super::layout::MicroBatch;
use super::linear::{PackedLayer, PackedModel};
use super::parameters::Layer;
use super::workspace::{Kept, Workspace};
use crate::kernels::attention::{Heads, attention};
use crate::kernels::gemm::{Target, View, multiply};
use crate::kernels::loss::{LossSum, selected_loss};
use crate::kernels::norm::rms_norm;
use crate::kernels::rope::RopeTable;
use crate::kernels::swiglu::swiglu;

impl<'a> PackedModel<'a> {
    /// Shapes and gains of one layer's attention.
    pub(crate) fn heads(&'a self, layer: usize, rope: &'a RopeTable) -> Heads<'a> {
        let Layer { q_norm, k_norm, .. } = &self.plain.layers[layer];
        Heads {
            heads: self.config.num_attention_heads,
            kv_heads: self.config.num_key_value_heads,
            dim: self.config.head_dim,
            eps: self.eps(),
            q_gain: q_norm,
            k_gain: k_norm,
            rope,
        }
    }

    /// Runs the layers over `batch`; the residual stream ends in `space.last`.
    pub(crate) fn forward(&self, batch: &MicroBatch, space: &mut Workspace) {
        let hidden = self.config.hidden_size;
        embed(space.kept[0].input.resize(batch.tokens.len() * hidden), &batch.tokens, &self.plain.embedding, hidden);
        for layer in 0..self.layers.len() {
            self.attend(layer, batch, space);
            self.feed(layer, batch.tokens.len(), space);
        }
    }

    fn attend(&self, layer: usize, batch: &MicroBatch, space: &mut Workspace) {
        let hidden = self.config.hidden_size;
        let rows = batch.tokens.len();
        let heads = self.heads(layer, &space.rope);
        let Kept { input, qkv, mixed, lse, middle, .. } = &mut space.kept[layer];
        let PackedLayer { qkv: project, output, .. } = &self.layers[layer];
        let normed = space.normed.resize(rows * hidden);
        rms_norm(normed, input.as_slice(), &self.plain.layers[layer].input_norm, self.eps());
        let qkv = qkv.resize(rows * heads.width());
        multiply(rows, View::rows(normed, hidden), &project.forward, Target::set(qkv, heads.width()), &mut space.left);
        let width = self.config.query_width();
        let mixed = mixed.resize(rows * width);
        attention(mixed, lse.resize(rows * heads.heads), qkv, &batch.groups, &heads, &mut space.attention);
        let middle = middle.resize(rows * hidden);
        middle.copy_from_slice(input.as_slice());
        multiply(rows, View::rows(mixed, width), &output.forward, Target::add(middle, hidden), &mut space.left);
    }

    fn feed(&self, layer: usize, rows: usize, space: &mut Workspace) {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let PackedLayer { gate_up: project, down, .. } = &self.layers[layer];
        let (before, after) = space.kept.split_at_mut(layer + 1);
        let Kept { middle, gate_up, .. } = &mut before[layer];
        let normed = space.normed.resize(rows * hidden);
        rms_norm(normed, middle.as_slice(), &self.plain.layers[layer].post_norm, self.eps());
        let gate_up = gate_up.resize(rows * 2 * inner);
        multiply(rows, View::rows(normed, hidden), &project.forward, Target::set(gate_up, 2 * inner), &mut space.left);
        let activated = space.hidden.resize(rows * inner);
        swiglu(activated, gate_up, inner);
        let next = after.first_mut().map_or(&mut space.last, |kept| &mut kept.input).resize(rows * hidden);
        next.copy_from_slice(middle.as_slice());
        multiply(rows, View::rows(activated, inner), &down.forward, Target::add(next, hidden), &mut space.left);
    }

    /// After [`PackedModel::forward`]: the logits of `batch.outputs`, in `space.logits`.
    pub(crate) fn logits(&self, batch: &MicroBatch, space: &mut Workspace) {
        let (hidden, vocab) = (self.config.hidden_size, self.config.vocab_size);
        let rows = batch.outputs.len();
        let picked = space.picked.resize(rows * hidden);
        let last = space.last.as_slice();
        for (out, &row) in picked.chunks_exact_mut(hidden).zip(&batch.outputs) {
            out.copy_from_slice(&last[row * hidden..(row + 1) * hidden]);
        }
        let normed = space.picked_normed.resize(rows * hidden);
        rms_norm(normed, picked, &self.plain.norm, self.eps());
        let logits = space.logits.resize(rows * vocab);
        multiply(rows, View::rows(normed, hidden), &self.head.forward, Target::set(logits, vocab), &mut space.left);
    }

    /// The loss of `batch`'s predictions. Leaves the gradient of the logits in `space.logits` and the log-probabilities in
    /// `space.logprobs`.
    pub(crate) fn loss(&self, batch: &MicroBatch, space: &mut Workspace) -> LossSum {
        self.forward(batch, space);
        self.logits(batch, space);
        space.logprobs.clear();
        selected_loss(space.logits.as_mut_slice(), self.config.vocab_size, 0, &batch.predictions, &mut space.logprobs)
    }
}

/// Copies the embedding of every token.
pub(crate) fn embed(out: &mut [f32], tokens: &[u32], embedding: &[f32], hidden: usize) {
    for (row, &token) in out.chunks_exact_mut(hidden).zip(tokens) {
        row.copy_from_slice(&embedding[token as usize * hidden..(token as usize + 1) * hidden]);
    }
}
