//! From a [`ModelConfig`] to a `config.json`, in the layout of transformers 4: version 5 reads it too, and so do other programs.

use serde::Serialize;

use super::{Architecture, Llama3Scaling, ModelConfig};

/// The keys of the file in their order.
#[derive(Debug, Serialize)]
pub(super) struct ConfigFile {
    architectures: [&'static str; 1],
    model_type: Architecture,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: usize,
    head_dim: usize,
    intermediate_size: usize,
    rms_norm_eps: f64,
    rope_theta: f64,
    tie_word_embeddings: bool,
    max_position_embeddings: usize,
    bos_token_id: Option<u32>,
    eos_token_id: EndTokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    pad_token_id: Option<u32>,
    hidden_act: &'static str,
    /// Qwen2 has no such key: its biases go without saying.
    #[serde(skip_serializing_if = "Option::is_none")]
    attention_bias: Option<bool>,
    attention_dropout: f64,
    initializer_range: f64,
    rope_scaling: Option<ScalingFile>,
    /// Llama has no such key.
    #[serde(skip_serializing_if = "Option::is_none")]
    use_sliding_window: Option<bool>,
    torch_dtype: &'static str,
}

/// One id alone, as most files have it, or a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum EndTokens {
    One(Option<u32>),
    Many(Vec<u32>),
}

#[derive(Debug, Serialize)]
struct ScalingFile {
    rope_type: &'static str,
    #[serde(flatten)]
    llama3: Llama3Scaling,
}

impl From<ModelConfig> for ConfigFile {
    /// Of weights in float32.
    fn from(config: ModelConfig) -> Self {
        Self::new(config, "float32")
    }
}

impl ModelConfig {
    /// The contents of `config.json` beside weights of this type, as torch names it.
    pub(crate) fn file(&self, torch_dtype: &'static str) -> impl Serialize {
        ConfigFile::new(self.clone(), torch_dtype)
    }
}

impl ConfigFile {
    fn new(config: ModelConfig, torch_dtype: &'static str) -> Self {
        let model_type = config.model_type;
        Self {
            architectures: [model_type.class()],
            model_type,
            vocab_size: config.vocab_size,
            hidden_size: config.hidden_size,
            num_hidden_layers: config.num_hidden_layers,
            num_attention_heads: config.num_attention_heads,
            num_key_value_heads: config.num_key_value_heads,
            head_dim: config.head_dim,
            intermediate_size: config.intermediate_size,
            rms_norm_eps: config.rms_norm_eps,
            rope_theta: config.rope_theta,
            tie_word_embeddings: config.tie_word_embeddings,
            max_position_embeddings: config.max_position_embeddings,
            bos_token_id: config.bos_token_id,
            eos_token_id: EndTokens::from_ids(config.eos_token_id),
            pad_token_id: config.pad_token_id,
            hidden_act: "silu",
            attention_bias: (model_type != Architecture::Qwen2).then_some(false),
            attention_dropout: 0.0,
            initializer_range: config.initializer_range,
            rope_scaling: config.rope_scaling.map(|llama3| ScalingFile { rope_type: "llama3", llama3 }),
            use_sliding_window: (model_type != Architecture::Llama).then_some(false),
            torch_dtype,
        }
    }
}

impl EndTokens {
    fn from_ids(ids: Vec<u32>) -> Self {
        match ids[..] {
            [] | [_] => Self::One(ids.first().copied()),
            _ => Self::Many(ids),
        }
    }
}
