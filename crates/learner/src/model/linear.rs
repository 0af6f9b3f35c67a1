//! The matrices of a model, packed for [`crate::kernels::gemm`]: once per optimizer step, read by all threads.

use super::parameters::{Layer, Parameters};
use crate::config::ModelConfig;
use crate::kernels::gemm::{Packed, View};

/// What a packed model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Forward only: rollouts and scores.
    Forward,
    /// Forward and backward.
    Training,
}

/// A matrix [out, in], packed for y = x·Wᵀ and, when training, for dx = dy·W.
#[derive(Debug, Default)]
pub(crate) struct Linear {
    /// For y = x·Wᵀ.
    pub(crate) forward: Packed,
    /// For dx = dy·W.
    pub(crate) backward: Packed,
}

impl Linear {
    fn new(weight: &[f32], inputs: usize, purpose: Purpose) -> Self {
        let mut linear = Self::default();
        let outputs = weight.len() / inputs;
        linear.forward.pack(View::rows(weight, inputs).transposed(), inputs, outputs);
        if purpose == Purpose::Training {
            linear.backward.pack(View::rows(weight, inputs), outputs, inputs);
        }
        linear
    }
}

/// The packed matrices of one layer.
#[derive(Debug)]
pub(crate) struct PackedLayer {
    pub(crate) qkv: Linear,
    pub(crate) output: Linear,
    pub(crate) gate_up: Linear,
    pub(crate) down: Linear,
}

/// The packed matrices of a model, beside its plain parameters.
#[derive(Debug)]
pub(crate) struct PackedModel<'a> {
    pub(crate) config: &'a ModelConfig,
    pub(crate) plain: &'a Parameters,
    pub(crate) layers: Vec<PackedLayer>,
    pub(crate) head: Linear,
}

impl<'a> PackedModel<'a> {
    pub(crate) fn new(config: &'a ModelConfig, plain: &'a Parameters, purpose: Purpose) -> Self {
        let pack = |layer: &Layer| PackedLayer {
            qkv: Linear::new(&layer.qkv, config.hidden_size, purpose),
            output: Linear::new(&layer.output, config.query_width(), purpose),
            gate_up: Linear::new(&layer.gate_up, config.hidden_size, purpose),
            down: Linear::new(&layer.down, config.intermediate_size, purpose),
        };
        let head = if config.tie_word_embeddings { &plain.embedding } else { &plain.head };
        let head = Linear::new(head, config.hidden_size, purpose);
        Self { config, plain, layers: plain.layers.iter().map(pack).collect(), head }
    }

    /// The epsilon of the norms.
    pub(crate) fn eps(&self) -> f32 {
        self.config.rms_norm_eps as f32
    }
}
