//! The shape of a model, as `config.json` of a Hugging Face checkpoint describes it.
//!
//! Called by checkpoints and by whoever initialises a model. [`ModelConfig`] holds the sizes that the computation needs; `read`
//! makes it from a file of transformers 4 or 5 and rejects options that this learner cannot compute, `write` makes a file that both read. A
//! `ModelConfig` that came out of [`ModelConfig::parse`] or passed [`ModelConfig::validate`] describes a model the kernels can run.

mod read;
mod rope;
mod write;

pub(crate) use read::end_tokens;
pub(crate) use rope::RopeTables;
pub use rope::{LayerKind, Llama3Scaling, LongRope, RopeScaling};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use veriplay_kernels::attention::HeadSizes;

/// A decoder's shape. Field names are those of `config.json`; in serde it has the layout of that file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct ModelConfig {
    /// Which family: decides about biases and about norms of queries and keys.
    pub model_type: Architecture,
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
    /// How the rotary frequencies are stretched, if they are.
    pub rope_scaling: Option<RopeScaling>,
    /// Share of a head's numbers that is rotated, from its first on.
    pub partial_rotary_factor: f64,
    /// Of each layer whether it rotates queries and keys: 1 or 0; empty where all do.
    pub no_rope_layers: Vec<u8>,
    /// Whether the output layer is the embedding.
    pub tie_word_embeddings: bool,
    /// Maximum tokens of prompt and answer together.
    pub max_position_embeddings: usize,
    /// The begin token, where the tokenizer has one.
    pub bos_token_id: Option<u32>,
    /// The tokens that end an answer; `generation_config.json` may name others, and they count. May be empty.
    pub eos_token_id: Vec<u32>,
    /// The token that fills up batches elsewhere; this learner pads nothing and only keeps it.
    pub pad_token_id: Option<u32>,
    /// Standard deviation of the initial matrices.
    pub initializer_range: f64,
}

impl Default for ModelConfig {
    /// The tiny shape: about one million parameters at a vocabulary of 192.
    fn default() -> Self {
        Self {
            model_type: Architecture::Qwen3,
            vocab_size: 192,
            hidden_size: 128,
            num_hidden_layers: 5,
            num_attention_heads: 4,
            num_key_value_heads: 2,
            head_dim: 32,
            intermediate_size: 384,
            rms_norm_eps: 1e-6,
            rope_theta: 10_000.0,
            rope_scaling: None,
            partial_rotary_factor: 1.0,
            no_rope_layers: Vec::new(),
            tie_word_embeddings: true,
            max_position_embeddings: 512,
            bos_token_id: None,
            eos_token_id: vec![0],
            pad_token_id: None,
            initializer_range: 0.02,
        }
    }
}

impl TryFrom<Value> for ModelConfig {
    type Error = ConfigError;

    /// From the contents of a `config.json`; the values are not validated yet.
    fn try_from(value: Value) -> Result<Self, ConfigError> {
        read::read_config(&value)
    }
}

/// Largest value any size in a config may have, and all query heads together: keeps products of two sizes far from overflow.
const MAX_SIZE: usize = 1 << 24;
/// Most layers: bounds the list of tensors, and keeps the sum of their sizes far from overflow.
const MAX_LAYERS: usize = 1 << 10;
/// Largest context: bounds the rotary tables.
pub(crate) const MAX_CONTEXT: usize = 1 << 18;

impl ModelConfig {
    /// Reads and validates the text of a `config.json`, as transformers 4 or 5 writes it.
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        let value: Value = serde_json::from_str(json).map_err(|e| ConfigError::Parse(e.to_string()))?;
        let config = read::read_config(&value)?;
        config.validate()?;
        Ok(config)
    }

    /// Checks every value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_sizes()?;
        self.validate_heads()?;
        self.validate_numbers()?;
        self.validate_tokens()?;
        self.rope_scaling.as_ref().map_or(Ok(()), |scaling| scaling.validate(self.rotary_width() / 2))
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
            let most = match key {
                "max_position_embeddings" => MAX_CONTEXT,
                "num_hidden_layers" => MAX_LAYERS,
                _ => MAX_SIZE,
            };
            check(key, value, (1..=most).contains(&value), || format!("want 1 to {most}"))
        })
    }

    fn validate_heads(&self) -> Result<(), ConfigError> {
        check("head_dim", self.head_dim, self.head_dim.is_multiple_of(2), || {
            "want an even number (rotary pairs)".to_owned()
        })?;
        let (share, width) = (self.partial_rotary_factor, self.rotary_width());
        check("partial_rotary_factor", share, share <= 1.0 && width >= 2 && width.is_multiple_of(2), || {
            format!("want at most 1, and an even part of head_dim = {}", self.head_dim)
        })?;
        check("head_dim", self.head_dim, self.query_width() <= MAX_SIZE, || {
            format!("want at most {MAX_SIZE} for all {} query heads together", self.num_attention_heads)
        })?;
        let divides = self.num_attention_heads.is_multiple_of(self.num_key_value_heads);
        check("num_key_value_heads", self.num_key_value_heads, divides, || {
            format!("want a divisor of num_attention_heads = {}", self.num_attention_heads)
        })?;
        let listed = self.no_rope_layers.len();
        check("num_hidden_layers", self.num_hidden_layers, listed == 0 || listed == self.num_hidden_layers, || {
            format!("want {listed}, as many as `no_rope_layers` has")
        })
    }

    fn validate_numbers(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("rms_norm_eps", self.rms_norm_eps),
            ("rope_theta", self.rope_theta),
            ("initializer_range", self.initializer_range),
        ];
        numbers.iter().try_for_each(|&(key, value)| {
            check(key, value, value.is_finite() && value > 0.0, || "want a positive number".to_owned())
        })
    }

    fn validate_tokens(&self) -> Result<(), ConfigError> {
        let inside = |key: &str, id: u32| {
            check(key, id, (id as usize) < self.vocab_size, || {
                format!("want less than vocab_size = {}", self.vocab_size)
            })
        };
        self.eos_token_id.iter().try_for_each(|&id| inside("eos_token_id", id))?;
        self.bos_token_id.map_or(Ok(()), |id| inside("bos_token_id", id))
    }

    /// Width of all query heads together.
    pub const fn query_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// Width of all key heads together.
    pub const fn key_width(&self) -> usize {
        self.num_key_value_heads * self.head_dim
    }

    /// The kind of one layer.
    pub fn layer_kind(&self, layer: usize) -> LayerKind {
        if self.no_rope_layers.get(layer) == Some(&0) { LayerKind::Unrotated } else { LayerKind::Rotated }
    }

    /// Sizes of every layer's attention, as the kernels want them.
    pub(crate) const fn head_sizes(&self) -> HeadSizes {
        HeadSizes {
            heads: self.num_attention_heads,
            kv_heads: self.num_key_value_heads,
            dim: self.head_dim,
            eps: self.rms_norm_eps as f32,
        }
    }

    /// Numbers of a head that are rotated, in pairs.
    fn rotary_width(&self) -> usize {
        (self.head_dim as f64 * self.partial_rotary_factor) as usize
    }

    /// Tokens of the longest sequence.
    pub fn context(&self) -> usize {
        let of_scaling = self.rope_scaling.as_ref().and_then(RopeScaling::context);
        of_scaling.map_or(self.max_position_embeddings, |most| most.min(self.max_position_embeddings))
    }

    /// The angles a head's pairs turn by from one position to the next: θ^(−2i / width) (Su et al. 2021, §3.2) where `width` numbers of a
    /// head are rotated, stretched where the config says so. In f64; transformers computes them in f32, 6e-8 away.
    pub fn rope_frequencies(&self) -> Vec<f64> {
        let width = self.rotary_width();
        let plain = |i: usize| self.rope_theta.powf(-2.0 * i as f64 / width as f64);
        let scaled = |i: usize, f: f64| self.rope_scaling.as_ref().map_or(f, |scaling| scaling.frequency(i, f));
        (0..width / 2).map(|i| scaled(i, plain(i))).collect()
    }
}

/// A family of decoders. All are pre-norm residual stacks of causal grouped-query attention with rotary positions and a SwiGLU
/// layer; the methods return their differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Qwen2 and Qwen2.5: biases on queries, keys and values.
    Qwen2,
    /// Qwen3: RMSNorm of every query and key head.
    Qwen3,
    /// Llama 2 and 3.x: neither.
    Llama,
    /// Mistral: the same, by another name.
    Mistral,
    /// SmolLM3: as Llama, and some layers rotate nothing.
    SmolLm3,
    /// Phi-3 and Phi-4: as Llama, with joined projections, and some that rotate a part of each head.
    Phi3,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Qwen2, Self::Qwen3, Self::Llama, Self::Mistral, Self::SmolLm3, Self::Phi3];
    /// Those that GGUF files name: a Mistral is a `llama` there.
    pub const GGUF: [Self; 3] = [Self::Qwen2, Self::Qwen3, Self::Llama];

    /// `model_type` of a `config.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Llama => "llama",
            Self::Mistral => "mistral",
            Self::SmolLm3 => "smollm3",
            Self::Phi3 => "phi3",
        }
    }

    /// Its class in transformers.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Qwen2 => "Qwen2ForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
            Self::Llama => "LlamaForCausalLM",
            Self::Mistral => "MistralForCausalLM",
            Self::SmolLm3 => "SmolLM3ForCausalLM",
            Self::Phi3 => "Phi3ForCausalLM",
        }
    }

    /// Whether the projections to queries, keys and values have a bias.
    pub const fn qkv_bias(self) -> bool {
        matches!(self, Self::Qwen2)
    }

    /// The matrices of the projections to queries, keys and values, in this order: a module each, or one for all.
    pub(crate) const fn qkv_modules(self) -> &'static [&'static str] {
        if matches!(self, Self::Phi3) {
            &["self_attn.qkv_proj"]
        } else {
            &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]
        }
    }

    /// Those of the gate and of what it lets through.
    pub(crate) const fn gate_up_modules(self) -> &'static [&'static str] {
        if matches!(self, Self::Phi3) { &["mlp.gate_up_proj"] } else { &["mlp.gate_proj", "mlp.up_proj"] }
    }

    /// Whether queries and keys are normalised, head by head.
    pub const fn qk_norm(self) -> bool {
        matches!(self, Self::Qwen3)
    }
}

/// An error in a `config.json`, or in the options of a learner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not a JSON object.
    #[error("config.json cannot be read: {0}; hint: it may be cut short, fetch it again")]
    Parse(String),
    /// A model this learner does not have.
    #[error("model_type `{0}` is not supported: {hint}", hint = read::supported_models(.0))]
    ModelType(String),
    /// A key that must be there.
    #[error("config.json lacks `{0}`: add it, or fetch the file again")]
    Missing(String),
    /// A value that is of another type, that this learner cannot compute, or that contradicts another.
    #[error("config.json: `{key}` is `{value}`: {want}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// The values allowed.
        want: String,
    },
    /// An option of the learner that is out of its range.
    #[error("configuration key `learn.{key}` is `{value}`: it must be {want}")]
    Option {
        /// The key, below the table `[learn]`.
        key: String,
        /// Its value.
        value: String,
        /// The values allowed.
        want: String,
    },
    /// A device that cannot be had.
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
}

/// Fails with [`ConfigError::Value`] unless `ok`.
pub(crate) fn check(
    key: &str,
    value: impl ToString,
    ok: bool,
    want: impl FnOnce() -> String,
) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::Value { key: key.to_owned(), value: value.to_string(), want: want() }) }
}

/// The embedding, and the head too where they are tied.
pub(crate) const EMBEDDING: &str = "model.embed_tokens.weight";
/// The head, where it is a tensor of its own.
pub(crate) const HEAD: &str = "lm_head.weight";

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
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it is a matrix between hidden layers, which Muon optimizes.
    pub fn is_hidden_matrix(&self) -> bool {
        self.shape.len() == 2 && self.name.contains(".layers.")
    }
}

/// Every tensor of a checkpoint of this shape, in the order of the layers.
pub fn tensor_specs(config: &ModelConfig) -> Vec<TensorSpec> {
    let hidden = config.hidden_size;
    let mut specs = vec![TensorSpec::new(EMBEDDING.to_owned(), &[config.vocab_size, hidden])];
    for layer in 0..config.num_hidden_layers {
        specs.extend(layer_specs(config, layer));
    }
    specs.push(TensorSpec::new("model.norm.weight".to_owned(), &[hidden]));
    if !config.tie_word_embeddings {
        specs.push(TensorSpec::new(HEAD.to_owned(), &[config.vocab_size, hidden]));
    }
    specs
}

fn layer_specs(config: &ModelConfig, layer: usize) -> Vec<TensorSpec> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let (query, key) = (config.query_width(), config.key_width());
    let spec = |part: &str, shape: &[usize]| TensorSpec::new(format!("model.layers.{layer}.{part}"), shape);
    let mut specs = vec![spec("input_layernorm.weight", &[hidden])];
    specs.extend(input_specs(layer, config.model_type.qkv_modules(), &[query, key, key], hidden));
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
    ]);
    specs.extend(input_specs(layer, config.model_type.gate_up_modules(), &[inner, inner], hidden));
    specs.push(spec("mlp.down_proj.weight", &[hidden, inner]));
    specs
}

/// Matrices of one layer that read the same input, with so many outputs each: one for each module, or one alone that joins them.
fn input_specs(layer: usize, modules: &[&str], outputs: &[usize], inputs: usize) -> Vec<TensorSpec> {
    let all = [outputs.iter().sum::<usize>()];
    let outputs = if modules.len() == 1 { &all[..] } else { outputs };
    let names = modules.iter().map(|module| format!("model.layers.{layer}.{module}.weight"));
    names.zip(outputs).map(|(name, &outputs)| TensorSpec::new(name, &[outputs, inputs])).collect()
}
