//! The loop over a decoder's layers, written once, and the parts of a layer that each path computes in its own way.
//!
//! Three implementations of [`LayerBackend`]: the candle graph over a micro-batch, for training, scoring and prompts
//! ([`super::decoder`]); one decoding step on slices, on the CPU (`sampling/cpu_step.rs`); and one decoding step in tensors, on a device
//! (`sampling/device_loop.rs`).

use std::ops::Range;

use candle_core::Result;

/// Computes the parts of a decoder layer: x += O·attention(QKV·norm(x)), then x += SwiGLU(norm(x)).
pub(crate) trait LayerBackend {
    /// The residual stream [rows, hidden].
    type Stream;
    /// Raw query, key and value projections of the stream [rows, (heads + 2·kv_heads)·dim].
    type Projections;
    /// What attention makes of them [rows, heads·dim].
    type Mixed;

    /// Norm, projections and their bias.
    fn project(&mut self, layer: usize, x: &Self::Stream) -> Result<Self::Projections>;
    /// Attention to all positions that a row sees, in the micro-batch or in a cache.
    fn attend(&mut self, layer: usize, qkv: Self::Projections) -> Result<Self::Mixed>;
    /// Adds the output projection of attention to the stream.
    fn add_attention(&mut self, layer: usize, x: Self::Stream, mixed: Self::Mixed) -> Result<Self::Stream>;
    /// Adds norm and SwiGLU of the stream to it.
    fn add_mlp(&mut self, layer: usize, x: Self::Stream) -> Result<Self::Stream>;
}

/// Runs some layers, one after the other.
pub(crate) fn run_layers<B: LayerBackend>(
    backend: &mut B,
    layers: Range<usize>,
    mut x: B::Stream,
) -> Result<B::Stream> {
    for layer in layers {
        let qkv = backend.project(layer, &x)?;
        let mixed = backend.attend(layer, qkv)?;
        x = backend.add_attention(layer, x, mixed)?;
        x = backend.add_mlp(layer, x)?;
    }
    Ok(x)
}
