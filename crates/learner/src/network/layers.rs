//! The weights as the decoder uses them: by layer, with projections that read the same input joined to one matrix.

use std::sync::Arc;

use candle_core::{DType, Device, Error, Result, Tensor};
use veriplay_kernels::layers::RopeTable;

use super::weights::{GradientMode, Weights};
use crate::config::{Architecture, EMBEDDING, ModelConfig};

/// One decoder layer.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Gain before attention [hidden].
    pub(crate) input_norm: Tensor,
    /// Query, key and value projections, one above the other.
    pub(crate) qkv: Tensor,
    /// Biases of the three, one behind the other, where the family has them.
    pub(crate) qkv_bias: Option<Tensor>,
    /// Gains of the queries and of the keys [head_dim] each, where the family has them.
    pub(crate) qk_norms: Option<[Tensor; 2]>,
    /// Output projection [hidden, query width].
    pub(crate) output: Tensor,
    /// Gain before the SwiGLU [hidden].
    pub(crate) post_norm: Tensor,
    /// Gate and up projections, one above the other.
    pub(crate) gate_up: Tensor,
    /// Down projection [hidden, intermediate].
    pub(crate) down: Tensor,
}

impl Layer {
    fn new(family: Architecture, weights: &Weights, layer: usize, mode: GradientMode, dtype: DType) -> Result<Self> {
        let tensor = |part: &str| weights.tensor(&format!("model.layers.{layer}.{part}"), mode)?.to_dtype(dtype);
        let get = |part: &str| tensor(&format!("{part}.weight"));
        let joined = |kind: &str| {
            let part = |name: &str| tensor(&format!("self_attn.{name}_proj.{kind}"));
            Tensor::cat(&[part("q")?, part("k")?, part("v")?], 0)
        };
        let norms = || Ok::<_, Error>([get("self_attn.q_norm")?, get("self_attn.k_norm")?]);
        Ok(Self {
            input_norm: get("input_layernorm")?,
            qkv: joined("weight")?,
            qkv_bias: family.qkv_bias().then(|| joined("bias")).transpose()?,
            qk_norms: family.qk_norm().then(norms).transpose()?,
            output: get("self_attn.o_proj")?,
            post_norm: get("post_attention_layernorm")?,
            gate_up: Tensor::cat(&[get("mlp.gate_proj")?, get("mlp.up_proj")?], 0)?,
            down: get("mlp.down_proj")?,
        })
    }

    fn detached(&self) -> Self {
        Self {
            input_norm: self.input_norm.detach(),
            qkv: self.qkv.detach(),
            qkv_bias: self.qkv_bias.as_ref().map(Tensor::detach),
            qk_norms: self.qk_norms.as_ref().map(|norms| norms.each_ref().map(Tensor::detach)),
            output: self.output.detach(),
            post_norm: self.post_norm.detach(),
            gate_up: self.gate_up.detach(),
            down: self.down.detach(),
        }
    }
}

/// A whole model: made once an update or a call of the policy, and read by all its threads.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) config: Arc<ModelConfig>,
    pub(crate) rope: Arc<RopeTable>,
    /// [vocab, hidden], as it is kept: sums of its gradients, row by row, want f32.
    pub(crate) embedding: Tensor,
    pub(crate) layers: Vec<Layer>,
    /// The last gain.
    pub(crate) norm: Tensor,
    /// [vocab, hidden]: the embedding itself when tied, so that its gradients meet.
    pub(crate) head: Tensor,
    /// Of the residual stream, and of all but the embedding.
    pub(crate) dtype: DType,
}

impl Network {
    /// With weights as `dtype`. Under [`GradientMode::Tracked`] the conversion is part of the graph: gradients arrive in the weights' own type.
    pub(crate) fn new(
        config: &Arc<ModelConfig>,
        rope: &Arc<RopeTable>,
        weights: &Weights,
        mode: GradientMode,
        dtype: DType,
    ) -> Result<Self> {
        let embedding = weights.tensor(EMBEDDING, mode)?;
        let head = match config.tie_word_embeddings {
            true => embedding.to_dtype(dtype)?,
            false => weights.tensor("lm_head.weight", mode)?.to_dtype(dtype)?,
        };
        let layers = (0..config.num_hidden_layers)
            .map(|layer| Layer::new(config.model_type, weights, layer, mode, dtype))
            .collect::<Result<_>>();
        let norm = weights.tensor("model.norm.weight", mode)?.to_dtype(dtype)?;
        let (config, rope) = (Arc::clone(config), Arc::clone(rope));
        Ok(Self { config, rope, embedding, layers: layers?, norm, head, dtype })
    }

    /// The matrices of every layer that rows are multiplied with, in the order of their use.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = [Tensor; 4]> {
        self.layers.iter().map(|layer| [&layer.qkv, &layer.output, &layer.gate_up, &layer.down].map(Tensor::clone))
    }

    /// The same weights, without a record for backward. Nothing is copied.
    pub(crate) fn detached(&self) -> Self {
        let layers = self.layers.iter().map(Layer::detached).collect();
        let [embedding, norm, head] = [&self.embedding, &self.norm, &self.head].map(Tensor::detach);
        let (config, rope) = (Arc::clone(&self.config), Arc::clone(&self.rope));
        Self { config, rope, embedding, layers, norm, head, dtype: self.dtype }
    }

    /// Where the weights are.
    pub(crate) fn device(&self) -> &Device {
        self.embedding.device()
    }
}
