//! The shape of a model: what `config.json` of a Hugging Face checkpoint says.
//!
//! Called by checkpoints and by whoever initialises a model. A `ModelConfig` that came out of [`ModelConfig::parse`] or passed
//! [`ModelConfig::validate`] describes a model the kernels can run.

use serde::{Deserialize, Serialize};

/// What is wrong with a `config.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not JSON, or a key is missing or has another type.
    #[error("config.json cannot be read: {0}")]
    Parse(String),
    /// A model this learner does not have.
    #[error("model_type `{0}` is not supported: convert the checkpoint to `qwen3`")]
    ModelType(String),
    /// A value the kernels cannot run, or that contradicts another.
    #[error("config.json: `{key}` is `{value}`: {want}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        want: String,
    },
}

/// A Qwen3 `config.json`. Field names are the file's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// Class names; the first is `Qwen3ForCausalLM`.
    #[serde(default = "architectures")]
    pub architectures: Vec<String>,
    /// Always `qwen3`.
    pub model_type: String,
    /// Rows of the embedding.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Decoder layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key-value heads; each serves `num_attention_heads / num_key_value_heads` query heads.
    pub num_key_value_heads: usize,
    /// Width of a head; even.
    pub head_dim: usize,
    /// Width of the SwiGLU layer.
    pub intermediate_size: usize,
    /// Added to the mean square in every RMSNorm.
    pub rms_norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Whether the output layer is the embedding.
    pub tie_word_embeddings: bool,
    /// Tokens of prompt and answer together, at most.
    pub max_position_embeddings: usize,
    /// The begin token, where the tokenizer has one.
    #[serde(default)]
    pub bos_token_id: Option<u32>,
    /// The token that ends an answer.
    pub eos_token_id: u32,
    /// Always `silu`.
    #[serde(default = "silu")]
    pub hidden_act: String,
    /// Always false: this learner has no biases.
    #[serde(default)]
    pub attention_bias: bool,
    /// Always 0: this learner has no dropout.
    #[serde(default)]
    pub attention_dropout: f64,
    /// Standard deviation of the initial matrices.
    #[serde(default = "initializer_range")]
    pub initializer_range: f64,
    /// Must be absent or null: no rope scaling.
    #[serde(default)]
    pub rope_scaling: Option<serde_json::Value>,
    /// Must be absent or false: no sliding window.
    #[serde(default)]
    pub use_sliding_window: bool,
    /// Type of the stored weights; newer files call it `dtype`. Computation and saved files are always float32.
    #[serde(default = "float32", alias = "dtype")]
    pub torch_dtype: String,
}

fn architectures() -> Vec<String> {
    vec!["Qwen3ForCausalLM".to_owned()]
}

fn silu() -> String {
    "silu".to_owned()
}

const fn initializer_range() -> f64 {
    0.02
}

fn float32() -> String {
    "float32".to_owned()
}

impl Default for ModelConfig {
    /// The tiny shape: about one million parameters at a vocabulary of 192.
    fn default() -> Self {
        Self {
            architectures: architectures(),
            model_type: "qwen3".to_owned(),
            vocab_size: 192,
            hidden_size: 128,
            num_hidden_layers: 5,
            num_attention_heads: 4,
            num_key_value_heads: 2,
            head_dim: 32,
            intermediate_size: 384,
            rms_norm_eps: 1e-6,
            rope_theta: 10_000.0,
            tie_word_embeddings: true,
            max_position_embeddings: 512,
            bos_token_id: None,
            eos_token_id: 0,
            hidden_act: silu(),
            attention_bias: false,
            attention_dropout: 0.0,
            initializer_range: initializer_range(),
            rope_scaling: None,
            use_sliding_window: false,
            torch_dtype: float32(),
        }
    }
}

/// Largest value any size in a config may have: keeps products of two sizes far from overflow.
const MAX_SIZE: usize = 1 << 24;
/// Largest context: bounds the rotary tables.
const MAX_CONTEXT: usize = 1 << 18;

impl ModelConfig {
    /// Reads and validates the text of a `config.json`.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        let value: serde_json::Value = serde_json::from_str(json).map_err(|e| ConfigError::Parse(e.to_string()))?;
        match value.get("model_type").and_then(serde_json::Value::as_str) {
            Some("qwen3") => {}
            Some(other) => return Err(ConfigError::ModelType(other.to_owned())),
            None => return Err(ConfigError::Parse("missing field `model_type`".to_owned())),
        }
        let config: Self = serde_json::from_value(value).map_err(|e| ConfigError::Parse(e.to_string()))?;
        config.validate()?;
        Ok(config)
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first one that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.model_type != "qwen3" {
            return Err(ConfigError::ModelType(self.model_type.clone()));
        }
        self.validate_sizes()?;
        self.validate_heads()?;
        self.validate_numbers()?;
        self.validate_features()
    }

    fn validate_sizes(&self) -> Result<(), ConfigError> {
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.num_key_value_heads),
            ("head_dim", self.head_dim),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        sizes.iter().try_for_each(|&(key, value)| {
            let most = if key == "max_position_embeddings" { MAX_CONTEXT } else { MAX_SIZE };
            check(key, value, (1..=most).contains(&value), || format!("want 1 to {most}"))
        })
    }

    fn validate_heads(&self) -> Result<(), ConfigError> {
        check("head_dim", self.head_dim, self.head_dim.is_multiple_of(2), || {
            "want an even number (rotary pairs)".to_owned()
        })?;
        let divides = self.num_attention_heads.is_multiple_of(self.num_key_value_heads);
        check("num_key_value_heads", self.num_key_value_heads, divides, || {
            format!("want a divisor of num_attention_heads = {}", self.num_attention_heads)
        })
    }

    fn validate_numbers(&self) -> Result<(), ConfigError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        check("rms_norm_eps", self.rms_norm_eps, positive(self.rms_norm_eps), || "want a positive number".to_owned())?;
        check("rope_theta", self.rope_theta, positive(self.rope_theta), || "want a positive number".to_owned())?;
        let range = self.initializer_range;
        check("initializer_range", range, positive(range), || "want a positive number".to_owned())?;
        let eos = self.eos_token_id;
        check("eos_token_id", eos, (eos as usize) < self.vocab_size, || {
            format!("want less than vocab_size = {}", self.vocab_size)
        })
    }

    fn validate_features(&self) -> Result<(), ConfigError> {
        check("hidden_act", &self.hidden_act, self.hidden_act == "silu", || "only `silu` is supported".to_owned())?;
        check("attention_bias", self.attention_bias, !self.attention_bias, || "biases are not supported".to_owned())?;
        check("attention_dropout", self.attention_dropout, self.attention_dropout == 0.0, || "want 0".to_owned())?;
        check("rope_scaling", "set", self.rope_scaling.is_none(), || {
            "rope scaling is not supported; want null".to_owned()
        })?;
        check("use_sliding_window", true, !self.use_sliding_window, || "sliding windows are not supported".to_owned())?;
        let known = matches!(self.torch_dtype.as_str(), "float32" | "bfloat16" | "float16");
        check("torch_dtype", &self.torch_dtype, known, || "want `float32`, `bfloat16` or `float16`".to_owned())
    }

    /// Width of all query heads together.
    #[must_use]
    pub const fn query_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// Width of all key heads together.
    #[must_use]
    pub const fn key_width(&self) -> usize {
        self.num_key_value_heads * self.head_dim
    }
}

fn check(key: &'static str, value: impl ToString, ok: bool, want: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::Value { key, value: value.to_string(), want: want() }) }
}
