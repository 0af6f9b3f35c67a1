//! The backward pass over one micro-batch: walks the layers from last to first and adds to the shard's gradients.
//!
//! Normalised inputs and the SwiGLU's output are recomputed; they are cheap, and not keeping them keeps the caches warm.

use super::layout::MicroBatch;
use super::linear::{PackedLayer, PackedModel};
use super::workspace::{Kept, Workspace};
use crate::kernels::attention::{Saved, attention_backward};
use crate::kernels::gemm::{Packed, Target, View, multiply};
use crate::kernels::math::accumulate;
use crate::kernels::norm::{rms_norm, rms_norm_backward};
use crate::kernels::simd::Buffer;
use crate::kernels::swiglu::swiglu_backward;

impl PackedModel<'_> {
    /// After [`PackedModel::loss`]: adds the gradients of its loss to `space.gradients`.
    pub(crate) fn backward(&self, batch: &MicroBatch, space: &mut Workspace) {
        self.head_backward(batch, space);
        for layer in (0..self.layers.len()).rev() {
            self.feed_backward(layer, batch.tokens.len(), space);
            self.attend_backward(layer, batch, space);
        }
        let hidden = self.config.hidden_size;
        for (row, &token) in space.dx.as_slice().chunks_exact(hidden).zip(&batch.tokens) {
            accumulate(&mut space.gradients.embedding[token as usize * hidden..(token as usize + 1) * hidden], row);
        }
    }

    fn head_backward(&self, batch: &MicroBatch, space: &mut Workspace) {
        let (hidden, vocab) = (self.config.hidden_size, self.config.vocab_size);
        let rows = batch.outputs.len();
        let dlogits = space.logits.as_slice();
        let gradients = &mut space.gradients;
        let dhead = if self.config.tie_word_embeddings { &mut gradients.embedding } else { &mut gradients.head };
        weight_gradient(
            dhead,
            dlogits,
            vocab,
            space.picked_normed.as_slice(),
            hidden,
            &mut space.right,
            &mut space.left,
        );
        let dnormed = space.dnormed.resize(rows * hidden);
        multiply(rows, View::rows(dlogits, vocab), &self.head.backward, Target::set(dnormed, hidden), &mut space.left);
        // `picked_normed` is free from here on: it takes the gradient of the picked rows.
        let dpicked = space.picked_normed.zeroed(rows * hidden);
        rms_norm_backward(dpicked, &mut gradients.norm, space.picked.as_slice(), &self.plain.norm, dnormed, self.eps());
        let dx = space.dx.zeroed(batch.tokens.len() * hidden);
        for (row, &at) in dpicked.chunks_exact(hidden).zip(&batch.outputs) {
            dx[at * hidden..(at + 1) * hidden].copy_from_slice(row);
        }
    }

    fn feed_backward(&self, layer: usize, rows: usize, space: &mut Workspace) {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let PackedLayer { gate_up: project, down, .. } = &self.layers[layer];
        let Kept { middle, gate_up, .. } = &mut space.kept[layer];
        let gain = &self.plain.layers[layer].post_norm;
        let gradients = &mut space.gradients.layers[layer];
        let dx = space.dx.as_mut_slice();
        let dhidden = space.hidden.resize(rows * inner);
        multiply(rows, View::rows(dx, hidden), &down.backward, Target::set(dhidden, inner), &mut space.left);
        swiglu_backward(gate_up.as_mut_slice(), dhidden, inner);
        weight_gradient(&mut gradients.down, dx, hidden, dhidden, inner, &mut space.right, &mut space.left);
        let normed = space.normed.resize(rows * hidden);
        rms_norm(normed, middle.as_slice(), gain, self.eps());
        let dgate_up = gate_up.as_slice();
        weight_gradient(&mut gradients.gate_up, dgate_up, 2 * inner, normed, hidden, &mut space.right, &mut space.left);
        let dnormed = space.dnormed.resize(rows * hidden);
        multiply(
            rows,
            View::rows(dgate_up, 2 * inner),
            &project.backward,
            Target::set(dnormed, hidden),
            &mut space.left,
        );
        rms_norm_backward(dx, &mut gradients.post_norm, middle.as_slice(), gain, dnormed, self.eps());
    }

    fn attend_backward(&self, layer: usize, batch: &MicroBatch, space: &mut Workspace) {
        let hidden = self.config.hidden_size;
        let width = self.config.query_width();
        let rows = batch.tokens.len();
        let heads = self.heads(layer, &space.rope);
        let PackedLayer { qkv: project, output, .. } = &self.layers[layer];
        let Kept { input, qkv, mixed, lse, .. } = &space.kept[layer];
        let gain = &self.plain.layers[layer].input_norm;
        let gradients = &mut space.gradients.layers[layer];
        let dx = space.dx.as_mut_slice();
        weight_gradient(&mut gradients.output, dx, hidden, mixed.as_slice(), width, &mut space.right, &mut space.left);
        let dmixed = space.hidden.resize(rows * width);
        multiply(rows, View::rows(dx, hidden), &output.backward, Target::set(dmixed, width), &mut space.left);
        let dqkv = space.dqkv.resize(rows * heads.width());
        let saved = Saved { qkv: qkv.as_slice(), out: mixed.as_slice(), lse: lse.as_slice(), dout: dmixed };
        let dgains = (&mut gradients.q_norm[..], &mut gradients.k_norm[..]);
        attention_backward(dqkv, dgains, &saved, &batch.groups, &heads, &mut space.attention);
        let normed = space.normed.resize(rows * hidden);
        rms_norm(normed, input.as_slice(), gain, self.eps());
        weight_gradient(&mut gradients.qkv, dqkv, heads.width(), normed, hidden, &mut space.right, &mut space.left);
        let dnormed = space.dnormed.resize(rows * hidden);
        multiply(
            rows,
            View::rows(dqkv, heads.width()),
            &project.backward,
            Target::set(dnormed, hidden),
            &mut space.left,
        );
        rms_norm_backward(dx, &mut gradients.input_norm, input.as_slice(), gain, dnormed, self.eps());
    }
}

/// dW += dyᵀ · x for dy [rows, outputs] and x [rows, inputs].
fn weight_gradient(
    dw: &mut [f32],
    dy: &[f32],
    outputs: usize,
    x: &[f32],
    inputs: usize,
    right: &mut Packed,
    left: &mut Buffer,
) {
    let rows = dy.len() / outputs;
    right.pack(View::rows(x, inputs), rows, inputs);
    multiply(outputs, View::rows(dy, outputs).transposed(), right, Target::add(dw, inputs), left);
}
