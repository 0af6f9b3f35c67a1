//! The weights as the decoding loop reads them: detached, as slices, for the length of one call.

use candle_core::{Result, Tensor};
use veriplay_kernels::attention::Heads;
use veriplay_kernels::rope::RopeTable;

use crate::config::ModelConfig;
use crate::model::Engine;
use crate::ops::PackedModel;
use crate::ops::slices::Slice;

/// The small weights of one layer.
#[derive(Debug)]
pub(crate) struct Gains<'a> {
    pub(super) input: Slice<'a>,
    /// Of queries and keys, where they are normalised.
    pub(super) qk: Option<[Slice<'a>; 2]>,
    /// Of the joined query, key and value projections, where they have one.
    pub(super) qkv_bias: Option<Slice<'a>>,
    pub(super) post: Slice<'a>,
}

/// A model that does not change while it samples: slices of the variables' own storage, and the packed matrices.
#[derive(Debug)]
pub(crate) struct Frozen<'a> {
    pub(super) config: &'a ModelConfig,
    pub(super) packed: &'a PackedModel,
    pub(super) embedding: Slice<'a>,
    pub(super) layers: Vec<Gains<'a>>,
    pub(super) norm: Slice<'a>,
    rope: &'a RopeTable,
}

impl<'a> Frozen<'a> {
    pub(crate) fn new(config: &'a ModelConfig, engine: &'a Engine, rope: &'a RopeTable) -> Result<Self> {
        let view = &engine.view;
        let mut layers = Vec::with_capacity(view.layers.len());
        for layer in &view.layers {
            layers.push(Gains {
                input: Slice::of(&layer.input_norm)?,
                qk: layer.qk_norms.as_ref().map(both).transpose()?,
                qkv_bias: layer.qkv_bias.as_ref().map(Slice::of).transpose()?,
                post: Slice::of(&layer.post_norm)?,
            });
        }
        let (embedding, norm) = (Slice::of(&view.embedding)?, Slice::of(&view.norm)?);
        Ok(Self { config, packed: engine.packed()?, embedding, layers, norm, rope })
    }

    /// Shapes and gains of one layer's attention.
    pub(super) fn heads(&self, layer: usize) -> Heads<'_> {
        let gains = self.layers[layer].qk.as_ref().map(|[query, key]| [&**query, &**key]);
        self.config.head_sizes().with(gains, self.rope)
    }

    /// The epsilon of the norms.
    pub(super) fn eps(&self) -> f32 {
        self.config.rms_norm_eps as f32
    }

    /// Key-value heads of all layers.
    pub(super) fn slots(&self) -> usize {
        self.config.num_hidden_layers * self.config.num_key_value_heads
    }

    /// Copies the embedding of every token.
    pub(super) fn embed(&self, out: &mut [f32], tokens: &[u32]) {
        let hidden = self.config.hidden_size;
        for (row, &token) in out.chunks_exact_mut(hidden).zip(tokens) {
            row.copy_from_slice(&self.embedding[token as usize * hidden..(token as usize + 1) * hidden]);
        }
    }
}

fn both([query, key]: &[Tensor; 2]) -> Result<[Slice<'_>; 2]> {
    Ok([Slice::of(query)?, Slice::of(key)?])
}
