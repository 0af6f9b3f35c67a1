//! The families of decoders, and in what they differ.

use serde::{Deserialize, Serialize};

/// A family of decoders. All are pre-norm residual stacks of causal grouped-query attention with rotary positions and a SwiGLU
/// layer; the methods say what they differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Qwen2 and Qwen2.5: biases on queries, keys and values.
    Qwen2,
    /// Qwen3: RMSNorm of every query and key head.
    Qwen3,
    /// Llama 2 and 3.x: neither.
    Llama,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Qwen2, Self::Qwen3, Self::Llama];

    /// `model_type` of a `config.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Llama => "llama",
        }
    }

    /// Its class in transformers.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Qwen2 => "Qwen2ForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
            Self::Llama => "LlamaForCausalLM",
        }
    }

    /// Whether the projections to queries, keys and values have a bias.
    #[must_use]
    pub const fn qkv_bias(self) -> bool {
        matches!(self, Self::Qwen2)
    }

    /// Whether queries and keys are normalised, head by head.
    #[must_use]
    pub const fn qk_norm(self) -> bool {
        matches!(self, Self::Qwen3)
    }

    /// `head_dim` of a `config.json` that has none; `None` is hidden_size / num_attention_heads.
    #[must_use]
    pub(crate) const fn default_head_dim(self) -> Option<usize> {
        match self {
            Self::Qwen3 => Some(128),
            Self::Qwen2 | Self::Llama => None,
        }
    }
}
