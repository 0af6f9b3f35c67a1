//! The weights as the decoder uses them: by layer, with projections that read the same input joined to one matrix.

use std::sync::Arc;

use candle_core::{DType, Device, Error, Result, Tensor};

use super::weights::{GradientMode, Weights};
use crate::config::{EMBEDDING, LayerKind, ModelConfig, RopeTables};
use crate::linear::{Linear, LowRank};

/// How a network's weights are read.
pub(crate) struct WeightReader<'a> {
    pub(crate) weights: &'a Weights,
    pub(crate) mode: GradientMode,
    /// Of all but the embedding. Under [`GradientMode::Tracked`] the conversion is part of the graph: gradients arrive in the weights' own type.
    pub(crate) dtype: DType,
    /// Whether adapters are summed with their matrices, as kernels that pack matrices want it. Beside them the product B·A is never formed: less
    /// memory, and little more to compute.
    pub(crate) merges_adapters: bool,
}

impl WeightReader<'_> {
    fn tensor(&self, name: &str) -> Result<Tensor> {
        self.weights.tensor(name, self.mode)?.to_dtype(self.dtype)
    }

    /// Matrices that read the same input, one above the other.
    fn linear(&self, names: impl Iterator<Item = String>) -> Result<Linear> {
        let parts = names.map(|name| self.part(&name)).collect::<Result<Vec<_>>>()?;
        let (matrices, adapters): (Vec<Tensor>, Vec<Option<LowRank>>) = parts.into_iter().unzip();
        let sizes = matrices.iter().map(Tensor::dims2).collect::<Result<Vec<_>>>()?;
        let adapters: Vec<_> = sizes.into_iter().map(|(outputs, _)| outputs).zip(adapters).collect();
        let weight = if let [one] = &*matrices { one.clone() } else { Tensor::cat(&matrices, 0)? };
        Ok(Linear::new(weight, LowRank::join(&adapters)?))
    }

    fn part(&self, name: &str) -> Result<(Tensor, Option<LowRank>)> {
        if self.merges_adapters {
            return Ok((self.tensor(name)?, None));
        }
        let (weight, adapter) = self.weights.parts(name, self.mode)?;
        let converted = |LowRank { a, b }: LowRank| {
            Ok::<_, Error>(LowRank { a: a.to_dtype(self.dtype)?, b: b.to_dtype(self.dtype)? })
        };
        Ok((weight.to_dtype(self.dtype)?, adapter.map(converted).transpose()?))
    }
}

#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) kind: LayerKind,
    /// Gain before attention [hidden].
    pub(crate) input_norm: Tensor,
    /// Query, key and value projections, one above the other.
    pub(crate) qkv: Linear,
    /// Biases of the three, one behind the other, where the family has them.
    pub(crate) qkv_bias: Option<Tensor>,
    /// Gains of the queries and of the keys [head_dim] each, where the family has them.
    pub(crate) qk_norms: Option<[Tensor; 2]>,
    /// Output projection [hidden, query width].
    pub(crate) output: Linear,
    /// Gain before the SwiGLU [hidden].
    pub(crate) post_norm: Tensor,
    /// Gate and up projections, one above the other.
    pub(crate) gate_up: Linear,
    /// Down projection [hidden, intermediate].
    pub(crate) down: Linear,
}

impl Layer {
    fn new(config: &ModelConfig, reader: &WeightReader<'_>, layer: usize) -> Result<Self> {
        let family = config.model_type;
        let name = |part: &str| format!("model.layers.{layer}.{part}");
        let get = |part: &str| reader.tensor(&name(&format!("{part}.weight")));
        let linear = |modules: &[&str]| reader.linear(modules.iter().map(|module| name(&format!("{module}.weight"))));
        let bias = |part: &str| reader.tensor(&name(&format!("self_attn.{part}_proj.bias")));
        let biases = || Tensor::cat(&[bias("q")?, bias("k")?, bias("v")?], 0);
        let norms = || Ok::<_, Error>([get("self_attn.q_norm")?, get("self_attn.k_norm")?]);
        Ok(Self {
            kind: config.layer_kind(layer),
            input_norm: get("input_layernorm")?,
            qkv: linear(family.qkv_modules())?,
            qkv_bias: family.qkv_bias().then(biases).transpose()?,
            qk_norms: family.qk_norm().then(norms).transpose()?,
            output: linear(&["self_attn.o_proj"])?,
            post_norm: get("post_attention_layernorm")?,
            gate_up: linear(family.gate_up_modules())?,
            down: linear(&["mlp.down_proj"])?,
        })
    }

    fn detached(&self) -> Self {
        Self {
            kind: self.kind,
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
    pub(crate) ropes: Arc<RopeTables>,
    /// [vocab, hidden], as it is kept: sums of its gradients, row by row, want f32.
    pub(crate) embedding: Tensor,
    pub(crate) layers: Vec<Layer>,
    pub(crate) norm: Tensor,
    /// [vocab, hidden]: the embedding itself when tied, so that its gradients meet.
    pub(crate) head: Linear,
    /// Of the residual stream, and of all but the embedding.
    pub(crate) dtype: DType,
}

impl Network {
    pub(crate) fn new(config: &Arc<ModelConfig>, ropes: &Arc<RopeTables>, reader: &WeightReader<'_>) -> Result<Self> {
        let embedding = reader.weights.tensor(EMBEDDING, reader.mode)?;
        let head = match config.tie_word_embeddings {
            true => embedding.to_dtype(reader.dtype)?,
            false => reader.tensor("lm_head.weight")?,
        };
        let layers = (0..config.num_hidden_layers).map(|layer| Layer::new(config, reader, layer));
        let layers = layers.collect::<Result<_>>()?;
        let norm = reader.tensor("model.norm.weight")?;
        let (config, ropes, head) = (Arc::clone(config), Arc::clone(ropes), Linear::new(head, None));
        Ok(Self { config, ropes, embedding, layers, norm, head, dtype: reader.dtype })
    }

    /// The matrices of every layer that rows are multiplied with, in the order of their use.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = [&Linear; 4]> {
        self.layers.iter().map(|layer| [&layer.qkv, &layer.output, &layer.gate_up, &layer.down])
    }

    /// The same weights, without a record for backward. Nothing is copied.
    pub(crate) fn detached(&self) -> Self {
        let layers = self.layers.iter().map(Layer::detached).collect();
        let ([embedding, norm], head) = ([&self.embedding, &self.norm].map(Tensor::detach), self.head.detach());
        let (config, ropes) = (Arc::clone(&self.config), Arc::clone(&self.ropes));
        Self { config, ropes, embedding, layers, norm, head, dtype: self.dtype }
    }

    pub(crate) fn device(&self) -> &Device {
        self.embedding.device()
    }
}
