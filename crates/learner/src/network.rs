//! A decoder's network: named weights, the layout of a micro-batch, and the candle graph from tokens to log-probabilities.
//!
//! The loop over the layers is written once, [`run_layers`]. Its four [`LayerBackend`]s are the candle graph over a micro-batch, for
//! training, scoring and prompts (`network/decoder.rs`), one decoding step of all rows, on slices of the CPU
//! (`decoding/cpu_step.rs`) or in tensors on a device (`decoding/device_loop.rs`), and the quantised model of a GGUF file
//! (`gguf/model.rs`).

mod decoder;
mod layers;
mod microbatch;
mod weights;

use std::ops::Range;

use candle_core::Result;

pub(crate) use decoder::Decoder;
pub(crate) use layers::{Layer, Network, WeightReader};
pub(crate) use microbatch::{MicroBatch, PromptedResponse, Response, assign_to_workers, group_by_prompt, join_turns};
pub(crate) use weights::{GradientMode, Weights, initial_values, values};

/// Computes the parts of a decoder layer: x += O·attention(QKV·norm(x)), then x += SwiGLU(norm(x)).
pub(crate) trait LayerBackend {
    /// The residual stream [rows, hidden].
    type Stream;
    /// Raw query, key and value projections of the stream [rows, (heads + 2·kv_heads)·dim].
    type Projections;
    /// The output of attention [rows, heads·dim].
    type Mixed;

    /// Norm, projections and their bias.
    fn project(&mut self, layer: usize, x: &Self::Stream) -> Result<Self::Projections>;
    /// Attention to every position that a row may attend to, in the micro-batch or in a cache.
    fn attend(&mut self, layer: usize, qkv: Self::Projections) -> Result<Self::Mixed>;
    /// Adds the output projection of attention to the stream.
    fn add_attention(&mut self, layer: usize, x: Self::Stream, mixed: Self::Mixed) -> Result<Self::Stream>;
    /// Adds norm and SwiGLU of the stream to it.
    fn add_mlp(&mut self, layer: usize, x: Self::Stream) -> Result<Self::Stream>;
}

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
