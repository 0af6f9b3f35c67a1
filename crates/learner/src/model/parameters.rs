//! A model's numbers as the kernels want them: projections that read the same input lie in one matrix.
//!
//! The same type holds weights and gradients. Matrices are [out, in], row by row, as in the checkpoint.

use crate::config::ModelConfig;

/// Name and shape of one tensor of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Its Hugging Face name.
    pub name: String,
    /// Its shape: one or two dimensions.
    pub shape: Vec<usize>,
}

impl TensorSpec {
    fn new(name: String, shape: &[usize]) -> Self {
        Self { name, shape: shape.to_vec() }
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it is a matrix between hidden layers: what Muon is for.
    #[must_use]
    pub fn is_hidden_matrix(&self) -> bool {
        self.shape.len() == 2 && self.name.contains(".layers.")
    }
}

/// One decoder layer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Layer {
    /// Gain before attention [hidden].
    pub(crate) input_norm: Vec<f32>,
    /// Query, key and value projections, one above the other.
    pub(crate) qkv: Vec<f32>,
    /// Gain of the queries [head_dim].
    pub(crate) q_norm: Vec<f32>,
    /// Gain of the keys [head_dim].
    pub(crate) k_norm: Vec<f32>,
    /// Output projection [hidden, query width].
    pub(crate) output: Vec<f32>,
    /// Gain before the SwiGLU [hidden].
    pub(crate) post_norm: Vec<f32>,
    /// Gate and up projections, one above the other.
    pub(crate) gate_up: Vec<f32>,
    /// Down projection [hidden, intermediate].
    pub(crate) down: Vec<f32>,
}

/// A whole model's weights, or their gradients.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parameters {
    /// [vocab, hidden].
    pub(crate) embedding: Vec<f32>,
    /// The layers.
    pub(crate) layers: Vec<Layer>,
    /// The last gain.
    pub(crate) norm: Vec<f32>,
    /// [vocab, hidden]; empty when tied to the embedding.
    pub(crate) head: Vec<f32>,
}

/// Every tensor of a checkpoint of this shape, in the order of [`Parameters::tensors`].
#[must_use]
pub fn tensor_specs(config: &ModelConfig) -> Vec<TensorSpec> {
    let hidden = config.hidden_size;
    let mut specs = vec![TensorSpec::new("model.embed_tokens.weight".to_owned(), &[config.vocab_size, hidden])];
    for layer in 0..config.num_hidden_layers {
        specs.extend(layer_specs(config, layer));
    }
    specs.push(TensorSpec::new("model.norm.weight".to_owned(), &[hidden]));
    if !config.tie_word_embeddings {
        specs.push(TensorSpec::new("lm_head.weight".to_owned(), &[config.vocab_size, hidden]));
    }
    specs
}

fn layer_specs(config: &ModelConfig, layer: usize) -> [TensorSpec; 11] {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let (query, key) = (config.query_width(), config.key_width());
    let spec = |part: &str, shape: &[usize]| TensorSpec::new(format!("model.layers.{layer}.{part}.weight"), shape);
    [
        spec("input_layernorm", &[hidden]),
        spec("self_attn.q_proj", &[query, hidden]),
        spec("self_attn.k_proj", &[key, hidden]),
        spec("self_attn.v_proj", &[key, hidden]),
        spec("self_attn.q_norm", &[config.head_dim]),
        spec("self_attn.k_norm", &[config.head_dim]),
        spec("self_attn.o_proj", &[hidden, query]),
        spec("post_attention_layernorm", &[hidden]),
        spec("mlp.gate_proj", &[inner, hidden]),
        spec("mlp.up_proj", &[inner, hidden]),
        spec("mlp.down_proj", &[hidden, inner]),
    ]
}

impl Parameters {
    /// All zero.
    pub(crate) fn zeros(config: &ModelConfig) -> Self {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let zeros = |n: usize| vec![0.0_f32; n];
        let layer = Layer {
            input_norm: zeros(hidden),
            qkv: zeros((config.query_width() + 2 * config.key_width()) * hidden),
            q_norm: zeros(config.head_dim),
            k_norm: zeros(config.head_dim),
            output: zeros(hidden * config.query_width()),
            post_norm: zeros(hidden),
            gate_up: zeros(2 * inner * hidden),
            down: zeros(hidden * inner),
        };
        let vocab = config.vocab_size * hidden;
        let head = zeros(if config.tie_word_embeddings { 0 } else { vocab });
        Self { embedding: zeros(vocab), layers: vec![layer; config.num_hidden_layers], norm: zeros(hidden), head }
    }

    /// Every tensor, in the order of [`tensor_specs`].
    pub(crate) fn tensors(&self, config: &ModelConfig) -> Vec<&[f32]> {
        let mut all = vec![self.embedding.as_slice()];
        for layer in &self.layers {
            let (q, kv) = layer.qkv.split_at(config.query_width() * config.hidden_size);
            let (k, v) = kv.split_at(config.key_width() * config.hidden_size);
            let (gate, up) = layer.gate_up.split_at(layer.gate_up.len() / 2);
            let Layer { input_norm, q_norm, k_norm, output, post_norm, down, .. } = layer;
            all.extend([&input_norm[..], q, k, v, q_norm, k_norm, output, post_norm, gate, up, down]);
        }
        all.push(&self.norm);
        if !config.tie_word_embeddings {
            all.push(&self.head);
        }
        all
    }

    /// As [`Parameters::tensors`], to write.
    pub(crate) fn tensors_mut(&mut self, config: &ModelConfig) -> Vec<&mut [f32]> {
        let mut all = vec![self.embedding.as_mut_slice()];
        for layer in &mut self.layers {
            let (q, kv) = layer.qkv.split_at_mut(config.query_width() * config.hidden_size);
            let (k, v) = kv.split_at_mut(config.key_width() * config.hidden_size);
            let half = layer.gate_up.len() / 2;
            let (gate, up) = layer.gate_up.split_at_mut(half);
            let Layer { input_norm, q_norm, k_norm, output, post_norm, down, .. } = layer;
            all.extend([&mut input_norm[..], q, k, v, q_norm, k_norm, output, post_norm, gate, up, down]);
        }
        all.push(&mut self.norm);
        if !config.tie_word_embeddings {
            all.push(&mut self.head);
        }
        all
    }
}
