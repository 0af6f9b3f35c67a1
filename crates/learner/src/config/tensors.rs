//! The tensors of a checkpoint: their Hugging Face names, their shapes and their order.
//!
//! Matrices are [out, in], row by row.

use super::ModelConfig;

/// The embedding, and the head too where they are tied.
pub(crate) const EMBEDDING: &str = "model.embed_tokens.weight";

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

/// Every tensor of a checkpoint of this shape, in the order of the layers.
#[must_use]
pub fn tensor_specs(config: &ModelConfig) -> Vec<TensorSpec> {
    let hidden = config.hidden_size;
    let mut specs = vec![TensorSpec::new(EMBEDDING.to_owned(), &[config.vocab_size, hidden])];
    for layer in 0..config.num_hidden_layers {
        specs.extend(layer_specs(config, layer));
    }
    specs.push(TensorSpec::new("model.norm.weight".to_owned(), &[hidden]));
    if !config.tie_word_embeddings {
        specs.push(TensorSpec::new("lm_head.weight".to_owned(), &[config.vocab_size, hidden]));
    }
    specs
}

fn layer_specs(config: &ModelConfig, layer: usize) -> Vec<TensorSpec> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let (query, key) = (config.query_width(), config.key_width());
    let spec = |part: &str, shape: &[usize]| TensorSpec::new(format!("model.layers.{layer}.{part}"), shape);
    let mut specs = vec![
        spec("input_layernorm.weight", &[hidden]),
        spec("self_attn.q_proj.weight", &[query, hidden]),
        spec("self_attn.k_proj.weight", &[key, hidden]),
        spec("self_attn.v_proj.weight", &[key, hidden]),
    ];
    if config.model_type.qkv_bias() {
        specs.push(spec("self_attn.q_proj.bias", &[query]));
        specs.push(spec("self_attn.k_proj.bias", &[key]));
        specs.push(spec("self_attn.v_proj.bias", &[key]));
    }
    if config.model_type.qk_norm() {
        specs.push(spec("self_attn.q_norm.weight", &[config.head_dim]));
        specs.push(spec("self_attn.k_norm.weight", &[config.head_dim]));
    }
    specs.extend([
        spec("self_attn.o_proj.weight", &[hidden, query]),
        spec("post_attention_layernorm.weight", &[hidden]),
        spec("mlp.gate_proj.weight", &[inner, hidden]),
        spec("mlp.up_proj.weight", &[inner, hidden]),
        spec("mlp.down_proj.weight", &[hidden, inner]),
    ]);
    specs
}
